package engine_test

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A workflow built in Go waits for an event, is put away, and is taken up again
// when the event comes.
func Example() {
	def := &workflow.Definition{
		ID: "greeting",
		Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
			{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit("Who is there?")}},
			{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("answer")}},
			{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit("Come in!")}},
		}},
	}
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default()})
	if problems != nil {
		fmt.Println(problems)
		return
	}
	env := engine.Env{Now: time.Now, Lines: func(text string) { fmt.Println(text) }}

	burst, _ := engine.New(prog, "i1", &workflow.Start{}, time.Now(), env)
	_, _ = burst.Run(context.Background(), workflow.Command{ID: "start", Kind: workflow.CommandStart})
	saved, _ := burst.Result() // what a store would keep
	fmt.Println(saved.Instance.SubStatus, "at", saved.Instance.Bookmarks[0].Name)

	burst, _ = engine.Load(prog, saved.Instance, saved.State, env)
	_, _ = burst.Run(context.Background(), workflow.Command{ID: "event", Kind: workflow.CommandResume, Bookmark: saved.Instance.Bookmarks[0].ID})
	fmt.Println(burst.Header().SubStatus)
	// Output:
	// Who is there?
	// Suspended at answer
	// Come in!
	// Finished
}

// An activity of a program's own is a Go function with typed inputs and outputs. Its
// idempotency key is the same when a burst is repeated: a service outside recognises the
// second call by it.
func ExampleRegisterFunc() {
	type parcel struct {
		Order string `json:"order" required:"true"`
	}
	type label struct {
		Tracking string `json:"tracking"`
	}
	registry := activities.Default()
	err := engine.RegisterFunc(registry, workflow.Descriptor{Type: "acme.Ship", Main: "order"},
		func(_ context.Context, x *engine.Execution, in parcel) (label, error) {
			fmt.Println("ship", in.Order, x.IdempotencyKey() != "")
			return label{"T-" + in.Order}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	prog, problems := engine.Compile(&workflow.Definition{
		ID: "order", Variables: []workflow.Variable{{Name: "tracking", Type: "String"}},
		Root: &workflow.Activity{Type: "acme.Ship", Inputs: map[string]workflow.Expression{"order": workflow.Lit("o-1")}, Outputs: map[string]string{"tracking": "tracking"}},
	}, engine.Options{Registry: registry})
	if problems != nil {
		fmt.Println(problems)
		return
	}
	burst, _ := engine.New(prog, "i1", &workflow.Start{}, time.Now(), engine.Env{Now: time.Now})
	_, _ = burst.Run(context.Background(), workflow.Command{ID: "start", Kind: workflow.CommandStart})
	fmt.Println(burst.Header().SubStatus)
	// Output:
	// ship o-1 true
	// Finished
}
