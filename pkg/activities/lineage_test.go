package activities_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// follow starts what the instance has started last, and so on, and gives how many there were and the last one.
func follow(t *testing.T, b *bench, def *workflow.Definition, next func(*bench) (option, bool)) (int, *bench) {
	t.Helper()
	for n := 1; ; n++ {
		opt, ok := next(b)
		if !ok {
			return n, b
		}
		if n > 3*engine.MaxInstanceDepth {
			t.Fatal("it has no end")
		}
		b = start(t, def, opt)
	}
}

func asStarted(st workflow.Start) option {
	return func(_ *bench, _ *engine.Options, s *workflow.Start) { *s = st }
}

// A definition that starts itself, or publishes the event that starts it, comes to an incident at the stated depth.
func TestInstancesThatStartEachOtherAreCounted(t *testing.T) {
	t.Parallel()
	itself := inputs{"workflowDefinitionId": lit("def")}
	child := func(b *bench) (option, bool) {
		if len(b.children) == 0 {
			return nil, false
		}
		return asStarted(b.children[len(b.children)-1].Start), true
	}
	event := named("ev", wait("again"))
	event.CanStart = true
	published := func(b *bench) (option, bool) {
		if len(b.events) == 0 {
			return nil, false
		}
		return withTrigger("ev", b.events[0].Stimulus.Input), true
	}
	for name, c := range map[string]struct {
		root *workflow.Activity
		next func(*bench) (option, bool)
		most int // instances, with the one that has the incident
	}{
		"executeWorkflow":  {act("ExecuteWorkflow", itself), child, engine.MaxInstanceDepth + 1},
		"dispatchWorkflow": {act("DispatchWorkflow", itself), child, engine.MaxInstanceDepth + 1},
		"bulkDispatch":     {act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("def"), "items": lit([]any{1, 2})}), child, engine.MaxInstanceDepth + 1},
		"an event":         {seq(event, act("PublishEvent", inputs{"eventName": lit("again")})), published, engine.MaxInstanceDepth + 2},
		"after a wait":     {seq(wait("go"), act("ExecuteWorkflow", itself)), child, engine.MaxInstanceDepth + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := root(c.root)
			opts := []option{}
			if name == "an event" {
				opts = append(opts, withTrigger("ev", map[string]any{"payload": nil}))
			}
			next := func(b *bench) (option, bool) {
				if name == "after a wait" && len(b.header.Bookmarks) > 0 {
					b.resume("go", map[string]any{workflow.DepthProperty: int64(0)}) // what resumes it says nothing of its depth
				}
				return c.next(b)
			}
			n, last := follow(t, start(t, def, opts...), def, next)
			if n != c.most {
				t.Errorf("%d instances, want %d", n, c.most)
			}
			last.wantStatus(workflow.Faulted)
			if m := last.header.Incidents[0].Message; !strings.Contains(m, "100 instances that started each other") {
				t.Errorf("incident %q", m)
			}
			// Neither a retry nor an import of an earlier state begins another line.
			last.command(workflow.CommandRetry)
			last.wantStatus(workflow.Faulted)
			if _, more := c.next(last); more {
				t.Error("it starts another one after a retry")
			}
		})
	}
}

// An import does not make an instance less deep than it was.
func TestAnImportKeepsTheDepth(t *testing.T) {
	t.Parallel()
	def := root(seq(wait("go"), act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("def")})))
	shallow, deep := start(t, def), start(t, def, withProperty(workflow.DepthProperty, int64(engine.MaxInstanceDepth)))
	b, err := engine.Import(deep.prog, shallow.header, shallow.state, deep.env, deep.load())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context(), workflow.Command{ID: "r", Kind: workflow.CommandResume, Bookmark: shallow.header.Bookmarks[0].ID}); err != nil {
		t.Fatal(err)
	}
	if res, err := b.Result(); err != nil || res.Instance.SubStatus != workflow.Faulted || len(res.Children) > 0 {
		t.Errorf("it is %s with %d children, %v", res.Instance.SubStatus, len(res.Children), err)
	}
}
