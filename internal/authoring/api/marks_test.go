package api

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/pkg/workflow"
)

// What became of an activity does not depend on the order in which the pages of the
// journal are read.
func TestWhatBecameOfAnActivity(t *testing.T) {
	t.Parallel()
	at := func(n int64) time.Time { return time.Unix(n, 0).UTC() }
	type line struct {
		execution int64
		event     string
		data      any
	}
	running := workflow.Instance{Status: workflow.StatusRunning, SubStatus: workflow.Suspended}
	for _, c := range []struct {
		name  string
		in    workflow.Instance
		lines []line
		want  graph.Mark
	}{
		{"waits", running, []line{{1, "Started", nil}, {1, "Suspended", nil}}, graph.Mark{Status: graph.Waiting, Count: 1, Since: at(2)}},
		{"what is its own is no status", running, []line{{1, "Started", nil}, {1, "WriteLine", nil}}, graph.Mark{Status: graph.Running, Count: 1, Since: at(1)}},
		{"the last run", running, []line{{1, "Started", nil}, {1, "Faulted", nil}, {3, "Started", nil}, {3, "Completed", nil}},
			graph.Mark{Status: graph.Done, Count: 2, Since: at(4), Outcomes: []string{"Done"}}},
		{"one of several that still waits", running, []line{{1, "Started", nil}, {1, "Suspended", nil}, {3, "Started", nil}, {3, "Completed", nil}},
			graph.Mark{Status: graph.Waiting, Count: 2, Since: at(2)}},
		{"its outcomes", running, []line{{1, "Started", nil}, {1, "Completed", map[string]any{"outcomes": []any{"True", "Done"}}}},
			graph.Mark{Status: graph.Done, Count: 1, Since: at(2), Outcomes: []string{"True", "Done"}}},
		{"ended with the instance", workflow.Instance{Status: workflow.StatusFinished, SubStatus: workflow.Cancelled}, []line{{1, "Started", nil}, {1, "Suspended", nil}},
			graph.Mark{Status: graph.Cancelled, Count: 1, Since: at(2)}},
		{"of a faulted instance what waits is left waiting", workflow.Instance{Status: workflow.StatusFinished, SubStatus: workflow.Faulted}, []line{{1, "Started", nil}, {1, "Suspended", nil}},
			graph.Mark{Status: graph.Waiting, Count: 1, Since: at(2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			did := executions{}
			for _, i := range rand.Perm(len(c.lines)) {
				n := int64(i + 1)
				did.add(&workflow.JournalItem{Sequence: n, Time: at(n), Execution: c.lines[i].execution, ActivityID: "a", Event: c.lines[i].event, Data: c.lines[i].data})
			}
			if got := did.marks(&c.in); !reflect.DeepEqual(got, map[string]graph.Mark{"a": c.want}) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
