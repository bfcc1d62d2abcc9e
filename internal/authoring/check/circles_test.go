package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// What starts itself, also over others and by events, is told with its place, if no condition stands on the way.
func TestCirclesOfStartsAreFound(t *testing.T) {
	t.Parallel()
	const ends = ": each starts the next, without a condition, until the last of 100 that may start each other has an incident"
	for name, tt := range map[string]struct {
		a, others string // the one that is looked at first; others, behind ---
		want      string // of problems: line:column code detail
	}{
		"itself, told elsewhere": {"- writeLine: x\n  - event: go\n  - dispatchWorkflow: a\n", "", ""},
		"over one":               {"- dispatchWorkflow: b\n", "id: b\nroot:\n  - event: go\n  - dispatchWorkflow: a\n", "3:23 endless-loop dispatchWorkflow dispatchWorkflow1 starts b, which starts a again" + ends},
		"over two, in loops":     {"- forEach: ${{ [1] }}\n    body: {dispatchWorkflow: b}\n", "id: b\nroot:\n  - parallel:\n    - dispatchWorkflow: c\n---\nid: c\nroot:\n  - dispatchWorkflow: b\n  - dispatchWorkflow: a\n", "4:30 endless-loop dispatchWorkflow forEach1.body.dispatchWorkflow1 starts b, which starts c, which starts a again" + ends},
		"by an event":            {"- event: go\n    trigger: true\n  - publishEvent: go\n", "", "5:19 endless-loop publishEvent publishEvent1 publishes event go, which starts a again" + ends},
		"by an event of b":       {"- event: go\n    trigger: true\n  - dispatchWorkflow: b\n", "id: b\nroot:\n  - publishEvent: go\n", "5:23 endless-loop dispatchWorkflow dispatchWorkflow1 starts b, which publishes event go, which starts a again" + ends},
		"by events of both":      {"- event: go\n    trigger: true\n  - publishEvent: on\n", "id: b\nroot:\n  - event: on\n    trigger: true\n  - publishEvent: go\n", "5:19 endless-loop publishEvent publishEvent1 publishes event on, which starts b, which publishes event go, which starts a again" + ends},
		"behind a condition":     {"- if: ${{ inputs.more == true }}\n    then: {dispatchWorkflow: a}\n", "", ""},
		"b has a condition":      {"- dispatchWorkflow: b\n", "id: b\nroot:\n  - switch:\n    - {when: \"${{ inputs.x == 1 }}\", then: {dispatchWorkflow: a}}\n", ""},
		"it may have ended":      {"- if: ${{ inputs.more == true }}\n    then: {finish: }\n  - dispatchWorkflow: a\n", "", ""},
		"an event for itself":    {"- event: go\n    trigger: true\n  - publishEvent: {eventName: go, isLocalEvent: true}\n", "", ""},
		"no trigger":             {"- publishEvent: go\n  - event: go\n", "", ""},
		"a circle of others":     {"- dispatchWorkflow: b\n", "id: b\nroot:\n  - dispatchWorkflow: c\n---\nid: c\nroot:\n  - dispatchWorkflow: b\n", ""},
		"not known":              {"- dispatchWorkflow: z\n  - publishEvent: go\n", "", ""},
		"an expression":          {"- dispatchWorkflow: ${{ inputs.next }}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, defs := activities.Default(), map[string]*workflow.Definition{}
			read := func(src string) *workflow.Definition {
				def, problems := yaml.Read([]byte(src), "x.yaml", registry)
				if len(problems) > 0 {
					t.Fatalf("%v\n%s", problems, src)
				}
				defs[def.ID] = def
				return def
			}
			a := read("id: a\nroot:\n  " + tt.a)
			for src := range strings.SplitSeq(tt.others, "---\n") {
				if src != "" {
					read(src)
				}
			}
			defs["a"] = read("id: a\nroot:\n  - writeLine: what was published before\n") // what is looked at takes its place
			_, found := check.Definition(a, check.Options{Options: engine.Options{Registry: registry, Evaluators: expression.All()},
				Child: func(id string) *workflow.Definition { return defs[id] }, Starts: func(event string) []string { return check.StartedBy(defs, event) }})
			var got []string
			for _, p := range found {
				if p.Code == "endless-loop" {
					if !p.Warning {
						t.Errorf("it is refused: %+v", p)
					}
					got = append(got, fmt.Sprintf("%d:%d %s %s", p.Place.Line, p.Place.Column, p.Code, p.Detail))
				}
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("got  %q\nwant %q (%v)", got, tt.want, found)
			}
		})
	}
}
