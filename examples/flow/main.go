// Command flow is an order process written in Go: typed inputs and outputs, an activity, a
// wait with a timeout. A name that does not exist, or a text where a number belongs, does
// not compile. The node runs it as if it were written in YAML.
//
//	go run ./examples/flow
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/flow"
)

type order struct {
	ID     flow.Value[string] `required:"true" doc:"The order's number."`
	Amount flow.Value[float64]
}

type approval struct{ By flow.Value[string] }

type parcel struct{ Order flow.Value[string] }

type shipped struct{ Tracking, ApprovedBy flow.Value[string] }

var ship = flow.NewActivity("acme.Ship", func(ctx context.Context, x *engine.Execution, in parcel) (shipped, error) {
	x.Log().InfoContext(ctx, "shipped", "key", x.IdempotencyKey()) // the same if it runs again
	return shipped{Tracking: flow.Of("T-" + in.Order.Get())}, nil
})

var orders = flow.New("order", func(s *flow.Steps, in order) shipped {
	by := flow.Var(s, "by", flow.Of("nobody"))
	s.Correlate(in.ID)
	s.If(flow.More(in.Amount, flow.Of(1000.0)), func(s *flow.Steps) {
		answer := flow.Wait[approval](s, "approved", flow.Timeout(48*time.Hour, func(s *flow.Steps) {
			s.Fault(flow.Text("order {} was not approved in time", in.ID))
		}))
		by.Set(s, answer.By)
	})
	sent := ship.Do(s, parcel{Order: in.ID}, flow.Retry(3, time.Second))
	s.WriteLine(flow.Text("Order {} goes as {}", in.ID, sent.Tracking))
	return shipped{Tracking: sent.Tracking, ApprovedBy: by.Value}
})

func main() {
	if err := run(context.Background(), "weft-data"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) (err error) {
	n, err := full.New(ctx, node.Config{
		HTTPAddr: "127.0.0.1:0", DataDir: dir, Lines: os.Stdout,
		Activities: ship.Register, Workflows: []*workflow.Definition{orders.Definition()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop(ctx)) }()
	if err := n.Start(ctx); err != nil {
		return err
	}
	in, err := n.Execute(ctx, orders.Start(order{ID: flow.Of("o-1"), Amount: flow.Of(20.0)}), time.Minute)
	if err != nil {
		return err
	}
	out, err := orders.Result(in)
	fmt.Println(in.SubStatus, out.Tracking.Get(), out.ApprovedBy.Get())
	return err
}
