package upkeep_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
)

// The node whose commit frees the gate dies before it has looked behind it.
func TestAGateThatADeadNodeFreedIsFound(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	a, b := c[0], c[1]
	b.Publish(membertest.Single, "id: caller\nroot:\n  - publishEvent: begin\n")
	b.Event("begin", "", nil)
	holder := b.Running("single")
	b.Start("caller", "c", "")
	b.GatedBy(1)
	eventually(t, "the nodes know each other", func() bool { return len(b.Session.Members()) == 2 })
	gates := func(call clustertest.Call) bool {
		return call.Op != "delete" && call.Touches(a.Root+"queue/~gated/single/")
	}
	died := a.die(gates)
	a.EndOf(holder)
	<-died
	b.expire("a")
	next := b.Running("single")
	if next == holder {
		t.Errorf("it is still %s", next)
	}
}

func TestAScheduleBehindAGateSaysSo(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: often\noptions:\n  activation: Singleton\nroot:\n  - cron: \"* * * * * *\"\n    trigger: true\n  - event: end\n")
	m.Running("often")
	eventually(t, "the list of what is to come says what the gate kept out", func() bool {
		page, err := m.Inspector.Timers(t.Context(), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(page.Items, func(i runtime.TimerItem) bool {
			return i.DefinitionID == "often" && i.Gated > 1 && time.Since(i.GatedAt) < time.Minute
		})
	})
	if got := m.InstancesOf("often"); len(got) != 1 {
		t.Errorf("%d instances", len(got))
	}
}
