package upkeep_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// A publication that keeps a due occurrence, between the look at what is due and the look at
// the head, makes what was read outdated, and not what stands there now: it fires.
func TestADueOccurrenceBesideAPublicationFires(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[time.Time]
	set := func(at time.Time) { now.Store(&at) }
	set(time.Now().Add(-2 * time.Hour))
	m := newCluster(t, 1, func(cfg *membertest.Config) { cfg.Now = func() time.Time { return *now.Load() } })[0]
	m.Publish("id: hourly\nroot:\n  - timer: 1h\n    trigger: true\n  - writeLine: tick\n")
	beside, err := etcdstore.New(etcdstore.Config{Client: clustertest.Shared(t).Client(t), Root: m.Root})
	if err != nil {
		t.Fatal(err)
	}
	st, err := beside.Definitions.ReadDefinition(t.Context(), "hourly", "")
	if err != nil || len(st.Crons) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	v, err := beside.Definitions.Version(t.Context(), "hourly", 1)
	if err != nil {
		t.Fatal(err)
	}
	st.Seen = 1
	due, generation := st.Crons[0].Due, st.Head.Generation
	var met atomic.Bool
	m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		if c.Op == "get" && len(c.Keys) == 1 && c.Keys[0] == m.Root+"definition/hourly/head" && !now.Load().Before(due) && met.CompareAndSwap(false, true) {
			later := st.Crons[0]
			later.Due = due.Add(time.Hour)
			if _, err := beside.Definitions.PublishVersion(t.Context(), st, v, etcdstore.Published{Index: store.DefinitionIndex{Schedules: []store.CronEntry{later}}}, due); err != nil {
				t.Error(err)
			}
		}
		return false
	}})
	set(due.Add(time.Millisecond))
	eventually(t, "it starts", func() bool { return len(m.InstancesOf("hourly")) == 1 })
	if !met.Load() {
		t.Error("nothing was published in between")
	}
	if st, err = beside.Definitions.ReadDefinition(t.Context(), "hourly", ""); err != nil || len(st.Crons) != 1 || st.Head.Generation != generation+1 || !st.Head.Fires(&st.Crons[0]) {
		t.Errorf("the schedule does not go on: %+v, %v", st, err)
	}
}
