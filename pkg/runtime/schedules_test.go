package runtime_test

import (
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// A schedule that a publication takes away while it is fired starts nothing: the new version
// would begin at its start, as if somebody had executed it. The repeat of a call that started
// something gives its answer all the same.
func TestAScheduleIsFiredOfTheVersionThatHasIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	m, other := c[0], c[1]
	m.Publish("id: yearly\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n  - writeLine: Happy\n")
	key := &runtime.Key{Scope: "fire yearly", Value: "first", BodyHash: "h"}
	first, err := m.Starts.FireSchedule(t.Context(), "yearly", "newyear", key)
	if err != nil {
		t.Fatal(err)
	}
	m.Finished(first)
	met := false
	m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(call clustertest.Call) bool {
		if !met && call.PutsUnder(m.Root+"instance/") {
			met = true
			other.Publish("id: yearly\nroot:\n  - writeLine: other\n")
		}
		return false
	}})
	if id, err := m.Starts.FireSchedule(t.Context(), "yearly", "newyear", nil); !met || workflow.CodeOf(err) != workflow.CodeScheduleNotFound {
		t.Errorf("met %v: %q, %v", met, id, err)
	}
	if n := len(m.InstancesOf("yearly")); n != 1 {
		t.Errorf("%d instances", n)
	}
	if again, err := m.Starts.FireSchedule(t.Context(), "yearly", "newyear", key); err != nil || again != first {
		t.Errorf("the repeat gives %q, %v, want %q", again, err, first)
	}
	if _, err := m.Starts.FireSchedule(t.Context(), "yearly", "newyear", &runtime.Key{Scope: "fire yearly", Value: "first", BodyHash: "other"}); workflow.CodeOf(err) != workflow.CodeKeyReused {
		t.Errorf("the key of another request: %v", err)
	}
	if _, err := catalog.SchedulesOf(m.Catalog).ToCome(t.Context(), "yearly", "newyear"); workflow.CodeOf(err) != workflow.CodeScheduleNotFound {
		t.Errorf("to come: %v", err)
	}
}
