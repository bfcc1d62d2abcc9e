package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// More mail than a burst takes waits behind a start that rests. Whoever looks lets the
// instance go, also when mail comes while it looks.
func TestMuchMailBehindWhatRestsKeepsNobodyBusy(t *testing.T) {
	t.Parallel()
	w := deathsWorld(t)
	m := w.member("m", cluster.ModeDistributed, func(c *client.Config) { c.Rest = time.Hour })
	cmd := startOf("runs", "s")
	cmd.Attempts = 2
	n := &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, cmd.CreatedAt), Command: cmd}
	if out, err := m.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
		t.Fatal(out, err)
	}
	mail := func(id string) {
		st := workflow.EventStimulus("go", "x")
		st.InstanceID = "i"
		m.put(t, "i", workflow.Command{ID: id, Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Stimulus: &st})
	}
	for i := range 60 {
		mail(fmt.Sprint("c", i))
	}
	lock := cluster.Root(w.name) + "lock/"
	held := m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Second, Times: 1, Match: func(c clustertest.Call) bool { return c.DeletesUnder(lock) }})
	done := make(chan error, 1)
	go func() { done <- m.open("i").Work(t.Context(), true, nil) }()
	eventually(t, "it lets go", func() bool { return held.Fired() > 0 })
	mail("late")
	before := m.faults.Calls("txn")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("it asked etcd %d times in 30 s, and has the lock still", m.faults.Calls("txn")-before)
	}
}
