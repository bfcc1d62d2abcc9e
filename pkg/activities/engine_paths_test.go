package activities_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// tally runs its children at once and writes a line for each that completes; it
// fails as long as broken is set.
type tally struct{ broken *bool }

func (tally) Execute(_ context.Context, x *engine.Execution) error {
	for i, n := range x.Node().List() {
		x.Schedule(n, engine.Child{Tag: fmt.Sprint("tag", i)})
	}
	return nil
}

func (a tally) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	if *a.broken {
		return errors.New("cannot count")
	}
	x.WriteLine(done.Tag)
	return nil
}

func TestChildrenOfAFaultedParentAreToldAfterTheRetry(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"", "ContinueWithIncidents"} {
		broken := true
		def := root(seq(&workflow.Activity{Type: "acme.Tally", Activities: []*workflow.Activity{line("a"), wait("ev"), line("b"), wait("ev2")}}, line("end")))
		def.Options.IncidentStrategy = strategy
		b := start(t, def, func(_ *bench, o *engine.Options, _ *workflow.Start) {
			if err := o.Registry.Register(workflow.Descriptor{Type: "acme.Tally", List: "activities"}, tally{&broken}); err != nil {
				t.Fatal(err)
			}
		})
		if strategy == "" {
			b.wantStatus(workflow.Faulted).wantLines("a")
		} else { // the others go on, and the one that waits is resumed
			b.wantStatus(workflow.Suspended).wantLines("a", "b")
			b.resume("ev", nil)
		}
		broken = false
		b.command(workflow.CommandRetry)
		b.untilEnd()
		b.wantStatus(workflow.Finished)
		got := strings.Join(b.lines, " ")
		for _, want := range []string{"tag0", "tag1", "tag2", "tag3", "end"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%q: lines %s", strategy, got)
			}
		}
	}
}

func TestAFailingOutputIsRetriedAlone(t *testing.T) {
	t.Parallel()
	for _, last := range []*workflow.Activity{line("b"), act("Finish", nil), act("Complete", nil)} {
		broken := true
		def := root(seq(line("a"), last))
		def.Outputs = []workflow.Output{{Name: "o", Value: ptr(expr(func(engine.Scope) (any, error) {
			if broken {
				panic("not yet")
			}
			return 5, nil
		}))}}
		b := start(t, def).wantStatus(workflow.Faulted)
		broken = false
		b.command(workflow.CommandRetry)
		b.wantStatus(workflow.Finished)
		if b.header.Output["o"] != int64(5) || b.lines[0] != "a" || len(b.lines) > 2 {
			t.Errorf("output %v, lines %v", b.header.Output, b.lines)
		}
	}
}

func TestWhatExpressionsSee(t *testing.T) {
	t.Parallel()
	var got string
	look := expr(func(s engine.Scope) (any, error) {
		s.SetCorrelationID("new")
		s.SetInstanceName("name")
		s.SetOutput("o", 1)
		if err := s.SetVariable("made", "here"); err != nil {
			return nil, err
		}
		id := s.NewID()
		got = fmt.Sprint(s.InstanceID(), " ", s.DefinitionID(), " ", s.DefinitionVersion(), " ", s.CorrelationID(), " ", s.InstanceName(), " ",
			s.Variables(), " ", s.Limits().Activities, " ", s.Now().Equal(t0), " ", s.LastResult(), " ", id != s.NewID())
		_, ok := s.Secret("none")
		return ok, nil
	})
	inner := seq(lineOf(look), wait("ev"), lineOf(varExpr("made")))
	inner.Variables = []workflow.Variable{{Name: "v", Value: "inner"}}
	def := root(inner)
	def.Version = 4
	def.Variables = []workflow.Variable{{Name: "v", Value: "outer"}, {Name: "w", Value: 2}}
	b := start(t, def).wantLines("false")
	if want := "i1 def 4 new name map[made:here v:inner w:2] 10000 true <nil> true"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if b.header.CorrelationID != "new" || b.header.Name != "name" || b.header.Output["o"] != int64(1) {
		t.Errorf("header %+v", b.header)
	}
	b.resume("ev", nil)
	b.wantLines("false", "here")
	// A correlation id that is too long is an incident, not a broken node.
	start(t, root(lineOf(expr(func(s engine.Scope) (any, error) { s.SetCorrelationID(strings.Repeat("x", 300)); return nil, nil })))).wantStatus(workflow.Faulted)
}

func TestCompleteTakesManyForms(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{"A": "A", "A B": []any{"A", "B"}, "B A": `["B","A"]`, "5": 5, "Done": nil} {
		c := named("c", port(act("Composite", nil), "root", act("Complete", inputs{"outcomes": expr(func(engine.Scope) (any, error) { return v, nil })})))
		if got := strings.Join(start(t, root(c)).outcomes("c"), " "); got != want {
			t.Errorf("%v: outcomes %q, want %q", v, got, want)
		}
	}
}

func TestWhatGoCodeMayUse(t *testing.T) {
	t.Parallel()
	a := activities.Inline(func(ctx context.Context, x *engine.Execution) error {
		if x.Node().ID() != "in" || x.Node().LocalID() != "in" || x.Node().Name() != "Name" || x.Parent() == nil || x.Tag() != "" || x.ID() == "" || x.IdempotencyKey() != x.ID() {
			return fmt.Errorf("wrong about itself: %s", x.Node().ID())
		}
		if _, ok := x.Definition("missing"); ok {
			return errors.New("found what is missing")
		}
		if x.Parent().Node().Child("in") != x.Node() || len(x.Parent().Children()) != 1 || x.Faulted() {
			return errors.New("wrong about its parent")
		}
		x.Log().InfoContext(ctx, "hello")
		due := x.Now().Add(time.Hour)
		for _, name := range []string{"keep", "go"} {
			if _, err := x.Wait(engine.Wait{Name: name, Payload: map[string]any{"n": name}, Type: "acme.Thing", Keep: name == "keep", DueAt: &due, Callback: "cb"}); err != nil {
				return err
			}
		}
		if len(x.Waiting()) != 2 {
			return errors.New("waiting")
		}
		_, err := x.Wait(engine.Wait{Payload: func() {}})
		if err == nil {
			return errors.New("a payload without JSON was taken")
		}
		return x.SetVariable("late", true)
	})
	a.ID, a.Name = "in", "Name"
	b := start(t, root(seq(a))).wantStatus(workflow.Suspended)
	want, _ := workflow.Hash("acme.Thing", map[string]any{"n": "keep"})
	if bm := b.header.Bookmarks[0]; bm.Hash != want || bm.ActivityType != "acme.Thing" || bm.Callback != "cb" {
		t.Errorf("bookmark %+v", bm)
	}
	b.resume("keep", nil) // a kept bookmark stays
	if len(b.header.Bookmarks) != 2 {
		t.Errorf("bookmarks %v", b.bookmarks())
	}
	b.resume("go", nil)
	if got := b.bookmarks(); len(got) != 1 || got[0] != "keep" {
		t.Errorf("bookmarks %v", got)
	}
}

func TestVariableInputsInElsasForm(t *testing.T) {
	t.Parallel()
	for _, v := range []any{map[string]any{"id": "v-1", "name": "other"}, map[string]any{"id": "gone", "name": "x"}, "x", "v-1"} {
		def := root(seq(act("SetVariable", inputs{"variable": {Kind: workflow.Literal, Value: v}, "value": {Kind: workflow.Literal, Value: "5", Type: "Int32"}}), lineOf(varExpr("x"))))
		def.Variables = []workflow.Variable{{ID: "v-1", Name: "x"}}
		start(t, def).wantLines("5").wantStatus(workflow.Finished)
	}
}
