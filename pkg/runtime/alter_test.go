package runtime_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const steps = `
id: steps
root:
  - writeLine: first
    id: first
  - event: go
    id: go
`

// The same request by many callers, on both nodes and at the same time, is one effect;
// requests with keys of their own are made one after the other, busy or not.
func TestAlterationsAreMadeOnceByKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(steps)
	c[0].Start("steps", "s1", "")
	alter := func() *workflow.Alter {
		return &workflow.Alter{By: "key:ops", Alterations: []workflow.Alteration{{Type: workflow.AlterRetry, Activity: "first"}}}
	}
	var calls sync.WaitGroup
	for i := range 12 {
		calls.Go(func() {
			key := &runtime.Key{Scope: "alter s1", Value: fmt.Sprint("k", i%3), BodyHash: "b"}
			if _, err := c[i%2].Commands.Alter(t.Context(), "s1", alter(), key); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		})
		calls.Go(func() {
			_, err := c[i%2].Commands.Alter(t.Context(), "s1", &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterSkip, Activity: "first"}}}, nil)
			var e *workflow.Error
			if accepted := err == nil; !accepted && (!errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Place.Pointer != "/alterations/0/activity") {
				t.Errorf("what does not fit: %v", err)
			}
		})
	}
	calls.Wait()
	eventually(t, "all that was accepted is made", func() bool {
		lines := c[1].Lines("s1")
		return len(lines) >= 4
	})
	c[0].Event("go", "", nil)
	c[0].Finished("s1")
	if lines := c[1].Lines("s1"); !slices.Equal(lines, []string{"first", "first", "first", "first"}) {
		t.Errorf("three keys and one start: %v", lines)
	}
	if _, err := c[0].Commands.Alter(t.Context(), "s1", alter(), &runtime.Key{Scope: "alter s1", Value: "k0", BodyHash: "b"}); err != nil {
		t.Errorf("a repeat after the end: %v", err)
	}
	if _, err := c[0].Commands.Alter(t.Context(), "s1", alter(), nil); workflow.CodeOf(err) != workflow.CodeInstanceFinished {
		t.Errorf("after the end: %v", err)
	}
	c[0].Sound()
}
