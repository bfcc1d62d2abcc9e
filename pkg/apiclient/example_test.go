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
