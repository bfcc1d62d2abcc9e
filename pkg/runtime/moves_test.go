package runtime_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// A bookmark that was elsewhere for a moment, as when its instance's correlation
// changes, is resumed by the look that finds it again: that the look before was refused
// for good does not bind this one.
func TestABookmarkThatMovedIsResumedByTheNextLook(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish("id: waits\nroot:\n  - event: go\n")
	in := c[0].Start("waits", "i", "")
	lock, err := c[1].Session.Locks().TryAcquire(t.Context(), cluster.InstanceLock("i"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release(t.Context()) }()
	puts := c[0].Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Second, Times: 2, Match: func(call clustertest.Call) bool { return call.PutsUnder(c[0].Root + "mailbox/") }})
	type answer struct {
		res runtime.SendResult
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := c[0].Bookmarks.ResumeBookmark(t.Context(), in.Bookmarks[0].ID, nil, nil)
		done <- answer{res, err}
	}()
	etcd := clustertest.Shared(t).Client(t)
	eventually(t, "a first try", func() bool { return puts.Fired() > 0 })
	was, err := etcd.Get(t.Context(), c[0].Root+"bookmark/", clientv3.WithPrefix())
	if err != nil || len(was.Kvs) != 1 {
		t.Fatalf("%d bookmarks, %v", len(was.Kvs), err)
	}
	if _, err := etcd.Delete(t.Context(), string(was.Kvs[0].Key)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a second try", func() bool { return puts.Fired() > 1 })
	if _, err := etcd.Put(t.Context(), string(was.Kvs[0].Key), string(was.Kvs[0].Value)); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.err != nil || len(a.res.Outcomes) != 1 || a.res.Outcomes[0].Outcome != workflow.OutcomeAccepted {
		t.Errorf("%+v, %v", a.res, a.err)
	}
}

// All nodes work send records at once; the one that buries a stimulus counts it.
func TestADeadLetterIsCountedOnce(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	met, err := metrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, 3, func(cfg *membertest.Config) { cfg.Metrics = met })
	var buries []*clustertest.Armed
	for _, m := range c {
		buries = append(buries, m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 3 * time.Second, Match: func(call clustertest.Call) bool { return call.PutsUnder(m.Root + "dead/") }}))
	}
	st := workflow.EventStimulus("go", "")
	st.InstanceID = "nobody"
	if err := c[0].Store.Stimuli.PutSend(t.Context(), store.Send{ID: "s", Stimulus: st, CreatedAt: time.Now().UTC()}, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range c { // else each finds it by its own sweep, and the first of them may be long done
		m.Wakeups.Hint(nil, true)
	}
	eventually(t, "all try to bury it", func() bool { return buries[0].Fired() > 0 && buries[1].Fired() > 0 && buries[2].Fired() > 0 })
	eventually(t, "the record is gone, and nobody is at it", func() bool {
		sends, _, err := c[0].Store.Upkeep.Sends(t.Context(), "", 10)
		return err == nil && len(sends) == 0
	})
	for _, m := range c {
		m.Leave()
	}
	fams, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, f := range fams {
		if f.GetName() == "weft_dead_letters_total" {
			for _, s := range f.GetMetric() {
				n += s.GetCounter().GetValue()
			}
		}
	}
	if n != 1 {
		t.Errorf("counted %v times", n)
	}
}
