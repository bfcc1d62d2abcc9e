package activities_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func label(name string, value any) *workflow.Activity {
	return act("SetLabel", inputs{"name": lit(name), "value": lit(value)})
}

// A definition gives labels at the start, from what is known then; activities change
// them, also in a later burst.
func TestLabelsOfAnInstance(t *testing.T) {
	t.Parallel()
	def := root(seq(
		label("team", "support"), act("Event", inputs{"eventName": lit("go")}),
		label("empty", ""), label("left", ""), label("more", true)))
	def.Inputs = []workflow.Input{{Name: "nr"}}
	def.Labels = map[string]workflow.Expression{
		"team": lit("sales"), "left": lit("here"), "number": lit(7), "none": lit(nil), "nothing": lit(""),
		"nr":     expr(func(s engine.Scope) (any, error) { v, _ := s.Input("nr"); return v, nil }),
		"absent": expr(func(s engine.Scope) (any, error) { v, _ := s.Input("other"); return v, nil }),
	}
	b := start(t, def, withInput(map[string]any{"nr": 12})).wantStatus(workflow.Suspended)
	first := b.header.Labels
	want := map[string]string{"team": "support", "left": "here", "number": "7", "nr": "12"}
	if !maps.Equal(first, want) {
		t.Errorf("%v, want %v", first, want)
	}
	b.resume("go", nil)
	b.wantStatus(workflow.Finished)
	if !maps.Equal(first, want) {
		t.Error("what was committed changed")
	}
	delete(want, "left")
	if want["more"] = "true"; !maps.Equal(b.header.Labels, want) {
		t.Errorf("%v, want %v", b.header.Labels, want)
	}
}

func TestLabelsThatFault(t *testing.T) {
	t.Parallel()
	is := func(v any) map[string]workflow.Expression {
		return map[string]workflow.Expression{"l": expr(func(engine.Scope) (any, error) { return v, nil })}
	}
	var many []*workflow.Activity
	for i := range workflow.MaxLabels + 1 {
		many = append(many, label(fmt.Sprint("l", i), "x"))
	}
	for name, c := range map[string]struct {
		labels map[string]workflow.Expression
		do     []*workflow.Activity
		want   string
	}{
		"broken":     {map[string]workflow.Expression{"l": expr(func(engine.Scope) (any, error) { return nil, errors.New("broken expression") })}, nil, "broken expression"},
		"long":       {is(strings.Repeat("x", workflow.MaxNameLength+1)), nil, "label l may have up to 256 bytes"},
		"name":       {nil, []*workflow.Activity{label("a/b", "x")}, `has '/' at position 2`},
		"long value": {nil, []*workflow.Activity{label("a", strings.Repeat("x", workflow.MaxNameLength+1))}, "label a may have up to 256 bytes"},
		"too many":   {nil, many, "label l16 would be one too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := root(seq(append(c.do, line("end"))...))
			def.Labels = c.labels
			b := start(t, def).wantStatus(workflow.Faulted).wantLines()
			if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, c.want) {
				t.Errorf("incidents %+v, want %q", b.header.Incidents, c.want)
			}
			if err := workflow.CheckLabels(b.header.Labels); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLabelsOfADefinitionAreChecked(t *testing.T) {
	t.Parallel()
	many := map[string]workflow.Expression{}
	for i := range workflow.MaxLabels + 1 {
		many[fmt.Sprint("l", i)] = lit("x")
	}
	for want, labels := range map[string]map[string]workflow.Expression{
		"bad-label":              {"a/b": lit("x")},
		"bad-label ":             {"l": lit(strings.Repeat("x", workflow.MaxNameLength+1))},
		"too-many-labels":        many,
		"unsupported-expression": {"l": {Kind: workflow.CSharp, Value: "1"}},
	} {
		def := root(line("end"))
		def.ID, def.Labels = "def", labels
		_, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
		if len(problems) != 1 || problems[0].Code != strings.TrimSpace(want) {
			t.Errorf("%s: %v", want, problems)
		}
	}
}

// A child has the labels that its start says; those of its own definition come over them.
func TestLabelsOfAChild(t *testing.T) {
	t.Parallel()
	labels := lit(map[string]any{"customer": "acme", "nr": 7, "none": "", "team": "all"})
	for _, kind := range []string{"ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows"} {
		in := inputs{"workflowDefinitionId": lit("child"), "labels": labels}
		if kind == "BulkDispatchWorkflows" {
			in["items"] = lit([]any{1, 2})
		}
		b := start(t, root(seq(act(kind, in), line("on"))))
		want := map[string]string{"customer": "acme", "nr": "7", "team": "all"}
		for _, c := range b.children {
			if !maps.Equal(c.Start.Labels, want) {
				t.Errorf("%s: %v, want %v", kind, c.Start.Labels, want)
			}
		}
		if len(b.children) == 0 {
			t.Fatalf("%s starts none", kind)
		}
		child := root(line("x"))
		child.Labels = map[string]workflow.Expression{"team": lit("sales")}
		given := b.children[0].Start.Labels
		c := start(t, child, func(_ *bench, _ *engine.Options, s *workflow.Start) { s.Labels = given })
		if want["team"] = "sales"; !maps.Equal(c.header.Labels, want) || given["team"] != "all" {
			t.Errorf("%s: the child has %v, want %v", kind, c.header.Labels, want)
		}
	}
	many := map[string]any{}
	for i := range workflow.MaxLabels + 1 {
		many[fmt.Sprint("l", i)] = "x"
	}
	for want, labels := range map[string]map[string]any{"up to 16 labels": many, "has '/'": {"a/b": "x"}} {
		b := start(t, root(act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("child"), "labels": lit(labels)}))).wantStatus(workflow.Faulted)
		if len(b.children) > 0 || !strings.Contains(b.header.Incidents[0].Message, want) {
			t.Errorf("%d children, %s", len(b.children), b.header.Incidents[0].Message)
		}
	}
}
