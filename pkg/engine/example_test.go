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
