package yaml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

func TestConnectionsInEveryForm(t *testing.T) {
	t.Parallel()
	def := read(t, `id: x
root:
  flowchart:
    mode: token
    activities:
      a: {start: }
      a.b: {flowDecision: true}
      c: {end: }
    connections:
      - a -> a.b -> c
      - a.b.True -> c
      - a.Done → c.In
      - {from: a.b, port: "False", to: c}
      - {from: a.b.Other, to: c}
      - {source: a, sourcePort: Done, target: c, targetPort: In}
`)
	want := []workflow.Connection{{Source: "a", Target: "a.b"}, {Source: "a.b", Target: "c"}, {Source: "a.b", SourcePort: "True", Target: "c"}, {Source: "a", Target: "c"},
		{Source: "a.b", SourcePort: "False", Target: "c"}, {Source: "a.b", SourcePort: "Other", Target: "c"}, {Source: "a", Target: "c"}}
	if d := cmp.Diff(want, def.Root.Connections, same); d != "" {
		t.Error(d)
	}
	if def.Root.CustomProperties["Flowchart:ExecutionMode"] != "TokenBased" {
		t.Error(def.Root.CustomProperties)
	}
}

func TestTheFileNamesADefinitionWithoutID(t *testing.T) {
	t.Parallel()
	def, problems := yaml.Read([]byte("root: []"), "some/dir/order-7.yaml", testTypes(t))
	if len(problems) > 0 || def.ID != "order-7" {
		t.Error(def, problems)
	}
}

func TestOneMoreLineChangesNoOtherIDs(t *testing.T) {
	t.Parallel()
	ids := func(src string) map[string]bool {
		m := map[string]bool{}
		workflow.Walk(read(t, src).Root, func(a, _ *workflow.Activity, _ int) bool { m[a.ID] = true; return true })
		return m
	}
	before := ids(orderApproval)
	after := ids(strings.Replace(orderApproval, "  - if:", "  - setName: Order\n  - if:", 1))
	for id := range before {
		if !after[id] {
			t.Errorf("%s is gone", id)
		}
	}
}
