package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/workflow"
)

// Two programs run beside each other, as in a rolling upgrade: the newer one has an
// activity that definitions use which are published meanwhile.

// fresh is what only the newer program has.
type fresh struct{}

func (fresh) Execute(context.Context, *engine.Execution) error { return nil }

// await waits for a stimulus that is about a number.
type await struct{}

func (await) Execute(_ context.Context, x *engine.Execution) error {
	_, err := x.Wait(engine.Wait{Name: "account", Payload: map[string]any{"account": x.Int("account")}})
	return err
}

func (await) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	return x.TakeOutput("result", r.Input["payload"])
}

// addNewer gives a registry what the newer program has.
func addNewer(r *engine.Registry) error {
	if err := r.Register(workflow.Descriptor{Type: "chaos.Await", Main: "account", Inputs: []workflow.InputDescriptor{{Name: "account", Type: "Int64"}},
		Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "Object"}}}, await{}); err != nil {
		return err
	}
	return r.Register(workflow.Descriptor{Type: "chaos.New"}, fresh{})
}

// novel has a first version that every program can run.
const novel = `
id: novel
root:
  - delay: 300ms
  - writeLine: done
`

// newerDefinitions are published while the load is on. What they do with the new
// activity comes by each sort of command: a timer, a child's end, a start, an
// event, a queued stimulus.
var newerDefinitions = []string{`
id: fresh
root:
  - delay: 100ms
  - chaos.New
`, `
id: novel
root:
  - delay: 300ms
  - chaos.New
  - executeWorkflow: {workflowDefinitionId: fresh, waitForCompletion: true}
  - chaos.New
  - writeLine: done
`, `
id: dawn
variables: {got: object}
root:
  - event: dawn
    trigger: true
    result: got
  - chaos.New
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, `
id: account
inputs: {account: integer}
variables: {got: object}
root:
  - chaos.Await: "${{ inputs.account }}"
    result: got
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`}

// newerOnly are their ids.
var newerOnly = []string{"fresh", "novel", "dawn", "account"}

// upgrade publishes, a while after the load began, what only the newer program can
// run.
func (e *evidence) upgrade(ctx context.Context, c *caller) {
	if !wait(ctx, time.Second) {
		return
	}
	for _, source := range newerDefinitions {
		for ctx.Err() == nil {
			bound, cancel := context.WithTimeout(ctx, patience)
			err := c.node().Publish(bound, source) // until it is a newer node
			cancel()
			if err == nil {
				e.count("definitions for the newer program")
				break
			}
			wait(ctx, 20*time.Millisecond)
		}
	}
}

// novelty starts what only some of the nodes can run.
func (c *caller) novelty(ctx context.Context) {
	switch c.draw(3) {
	case 0:
		id := c.name("novel")
		c.start(ctx, "novel", id, "", "", "start-"+id, nil)
	case 1:
		token := c.name("dawn")
		c.send(ctx, "dawn", "", token, "key-"+token)
	default:
		c.account(ctx)
	}
}

// account sends a stimulus that is about a number beyond 2^53, before and after
// its instance waits for it.
func (c *caller) account(ctx context.Context) {
	id := c.name("account")
	token := id + ".0"
	input := map[string]any{"account": numberOf(id)}
	body := map[string]any{"activityType": "chaos.Await", "stimulus": input, "correlationId": id,
		"input": map[string]any{workflow.EventInput: payloadOf(token, c.sizes)}}
	send := func() { c.door(ctx, id, token, "POST", "/stimuli", body) }
	if c.draw(2) == 0 {
		send()
		c.start(ctx, "account", id, id, "", "start-"+id, input)
		return
	}
	if c.start(ctx, "account", id, id, "", "start-"+id, input) == ok {
		send()
	}
}

// nodeEnv makes this test binary a node of its own; see beNode.
const nodeEnv = "WEFT_CHAOS_NODE"

// ownNode is how a node of the test's own program runs: with what the newer
// program has, or not, and with a clock that is off.
type ownNode struct {
	Cluster, NodeID, HTTPAddr, GroupCommit, ResumeLocking string
	EtcdEndpoints                                         []string
	TTL, QueueTTL, Off                                    time.Duration
	Insecure, Newer                                       bool
	FinishedCount, DeadLettersCount                       int64
}

// beNode runs a node as weft does, until a signal.
func beNode(config string) error {
	var c ownNode
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	keep := node.DefaultRetention()
	if c.FinishedCount > 0 {
		keep.FinishedCount, keep.DeadLettersCount = c.FinishedCount, c.DeadLettersCount
	}
	cfg := node.Config{Cluster: c.Cluster, NodeID: c.NodeID, HTTPAddr: c.HTTPAddr, GroupCommit: c.GroupCommit, ResumeLocking: c.ResumeLocking, EtcdEndpoints: c.EtcdEndpoints, SessionTTL: c.TTL,
		QueueTTL: c.QueueTTL, Insecure: c.Insecure, Retention: &keep, DrainTimeout: 10 * time.Second, AllowPrivateAddresses: true, Version: "newer",
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		Now:    func() time.Time { return time.Now().Add(c.Off) },
	}
	if c.Newer {
		cfg.Activities = addNewer
	}
	n, err := full.New(ctx, cfg)
	if err != nil {
		return fmt.Errorf("node %s: %w", c.NodeID, err)
	}
	return n.Run(ctx, nil)
}
