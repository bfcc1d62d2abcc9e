package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/pkg/apiclient"
)

// connect gives a client of a node that runs in this process. Programs have the address of
// a cluster, and a token.
func connect() *apiclient.Client {
	n, err := shared.Start()
	if err != nil {
		panic(err)
	}
	c, err := apiclient.New(apiclient.Config{Server: nodetest.Address(n), UserAgent: "example"})
	if err != nil {
		panic(err)
	}
	return c
}

// A definition is published, started, resumed by an event and waited for.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connect()
	const order = `id: example-order
variables: {paid: {type: object}}
outputs: {by: "${{ variables.paid.by }}"}
root:
  - event: example-paid
    result: paid
`
	if _, err := c.PublishDefinition(ctx, []byte(order), apiclient.PublishDefinitionQuery{}); err != nil {
		fmt.Println(err)
		return
	}
	started, err := c.ExecuteDefinition(ctx, "example-order", apiclient.StartRequest{CorrelationID: "o-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(started.Body.SubStatus)
	event := apiclient.EventRequest{CorrelationID: "o-1", Payload: map[string]any{"by": "Ada"}}
	if _, err := c.SendEvent(ctx, "example-paid", event, apiclient.SendEventQuery{}); err != nil {
		fmt.Println(err)
		return
	}
	done, err := c.GetInstance(ctx, started.Body.InstanceID, apiclient.WaitUpTo(30*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Body.SubStatus, done.Body.Output["by"])
	// Output:
	// Suspended
	// Finished Ada
}

// A node that refuses says which thing is wrong, and where.
func ExampleProblemError() {
	c := connect()
	_, err := c.PublishDefinition(context.Background(), []byte("id: wrong\nroot:\n  - writeLin: Hi\n"), apiclient.PublishDefinitionQuery{})
	var p *apiclient.ProblemError
	if errors.As(err, &p) {
		fmt.Println(p.Code)
		for _, e := range p.Errors {
			fmt.Printf("%d:%d %s\n", e.Line, e.Column, e.Code)
		}
	}
	// Output:
	// definition-invalid
	// 3:5 unknown-activity-type
}

// A change that got no answer is asked for again with its key: it has one effect, however often it is asked for.
func ExampleNoAnswerError() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connect()
	if _, err := c.PublishDefinition(ctx, []byte("id: example-once\nroot: []\n"), apiclient.PublishDefinitionQuery{}); err != nil {
		fmt.Println(err)
		return
	}
	key := apiclient.NewKey() // kept with the order, so that it outlives this program
	var ids []string
	for range 2 { // as if the first answer were lost
		started, err := c.ExecuteDefinition(ctx, "example-once", apiclient.StartRequest{}, apiclient.Key(key))
		var lost *apiclient.NoAnswerError
		if errors.As(err, &lost) {
			continue // nobody knows; lost.Key is the key
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		ids = append(ids, started.Body.InstanceID)
	}
	fmt.Println(len(ids), ids[0] == ids[1])
	// Output:
	// 2 true
}

// All instances that a line selects, page by page.
func ExampleClient_AllSummaries() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connect()
	if _, err := c.PublishDefinition(ctx, []byte("id: example-many\nroot:\n  - fault: on purpose\n"), apiclient.PublishDefinitionQuery{}); err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if _, err := c.ExecuteDefinition(ctx, "example-many", apiclient.StartRequest{}, apiclient.WaitUpTo(30*time.Second)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for in, err := range c.AllSummaries(ctx, apiclient.ListInstancesQuery{Q: "def:example-many status:faulted", Limit: 2}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(in.DefinitionID, in.SubStatus)
	}
	// Output:
	// example-many Faulted
	// example-many Faulted
	// example-many Faulted
}

// What an instance does, as it does it. The stream comes back by itself to any node, and misses nothing.
func ExampleClient_Stream() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connect()
	if _, err := c.PublishDefinition(ctx, []byte("id: example-live\nroot:\n  - event: example-live-go\n"), apiclient.PublishDefinitionQuery{}); err != nil {
		fmt.Println(err)
		return
	}
	started, err := c.ExecuteDefinition(ctx, "example-live", apiclient.StartRequest{InstanceID: "example-live-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	last := ""
	for event, err := range c.Stream(ctx, []string{"instance:" + started.Body.InstanceID}, "") {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Name != "instance" {
			continue
		}
		var told struct {
			Instance struct{ SubStatus string }
		}
		if err := event.Decode(&told); err != nil {
			fmt.Println(err)
			return
		}
		now := told.Instance.SubStatus
		if now == last || now == "Executing" {
			continue
		}
		fmt.Println(now)
		if last = now; now == "Finished" {
			return
		}
		if _, err := c.SendEvent(ctx, "example-live-go", apiclient.EventRequest{InstanceID: started.Body.InstanceID}, apiclient.SendEventQuery{}); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// Suspended
	// Finished
}
