package upkeep_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// The sweep looks at all that is queued by its keys. What nobody waits for is not
// read, however large it is; what somebody waits for is sent on.
func TestTheSweepOfTheQueueReadsKeys(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	const n, size = 60, 100 << 10
	at := time.Now().UTC().Add(-time.Hour)
	put := func(id, event string, bytes int) {
		t.Helper()
		raw := make([]byte, bytes/2) // does not get smaller when it is compressed
		_, _ = rand.Read(raw)
		st := workflow.EventStimulus(event, hex.EncodeToString(raw))
		hash, err := workflow.Hash(st.ActivityType, st.Payload)
		if err != nil {
			t.Fatal(err)
		}
		look, err := m.Store.Stimuli.Match(t.Context(), st, hash, "")
		if err != nil {
			t.Fatal(err)
		}
		ok, err := m.Store.Stimuli.Enqueue(t.Context(), store.QueueItem{ID: id, Stimulus: st, Hash: hash, CreatedAt: at}, look)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		at = at.Add(time.Second)
	}
	put("oldest", "small", 10)
	for i := range n {
		put(fmt.Sprint("large-", i), fmt.Sprint("nobody-", i%3), size)
	}
	least := int64(math.MaxInt64) // the node's own passes read at the same time: the least is what one reads
	for range 5 {
		before := m.Faults.Values()
		depth, oldest, err := upkeep.PassQueue(t.Context(), m.Upkeep)
		if err != nil || depth != n+1 || oldest < time.Hour || oldest > time.Hour+time.Minute {
			t.Errorf("depth %d, oldest %v, %v", depth, oldest, err)
		}
		least = min(least, m.Faults.Values()-before)
	}
	// One item of each shard that has some tells how long it waits.
	if least > 5*size {
		t.Errorf("it read %d bytes of values", least)
	}
	m.Publish("id: nobody\nroot:\n  - event: nobody-1\n    trigger: true\n")
	eventually(t, "what is awaited is sent on", func() bool {
		page, err := m.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "nobody"}, runtime.Paging{})
		return err == nil && len(page.Items) == n/3
	})
}

// What only another program can read is in nobody's way: neither in the queue, where a
// sweep goes on behind it, nor among the send records.
func TestWhatAnotherProgramWroteHoldsUpNoQueuedEvent(t *testing.T) {
	t.Parallel()
	var log failures
	m := newCluster(t, 1, func(c *membertest.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })[0]
	// Two hashes of one shard; at the first waits what a newer program wrote.
	first, second := "", ""
	byShard := map[byte]string{}
	for i := 0; second == ""; i++ {
		event := fmt.Sprint("e", i)
		shard := hashOfEvent(t, event)[0]
		if other := byShard[shard]; other != "" {
			first, second = other, event
			if hashOfEvent(t, first) > hashOfEvent(t, second) {
				first, second = second, first
			}
		}
		byShard[shard] = event
	}
	for _, event := range []string{first, second} {
		if res := m.Event(event, "", nil); res.Queued == "" {
			t.Fatalf("%s: %+v", event, res)
		}
	}
	key := fmt.Sprintf("%sbookmark/%s/-/newer/b", m.Root, hashOfEvent(t, first))
	if _, err := clustertest.Shared(t).Client(t).Put(t.Context(), key, `{"instance":"newer","rank":1}`); err != nil {
		t.Fatal(err)
	}
	m.Publish("id: second\nroot:\n  - event: "+second+"\n    trigger: true\n  - publishEvent: "+first+"\n  - publishEvent: third\n", "id: third\nroot:\n  - event: third\n    trigger: true\n")
	for _, def := range []string{"second", "third"} {
		eventually(t, def+" is started", func() bool { return len(m.InstancesOf(def)) == 1 })
	}
	depth, _, err := upkeep.PassQueue(t.Context(), m.Upkeep)
	if err != nil || depth != 1 {
		t.Errorf("%d in the queue, %v", depth, err)
	}
	if n := log.steps.Load(); n > 0 {
		t.Errorf("%d steps of workers failed", n)
	}
}

// failures counts what a log says of workers that have to try again.
type failures struct{ steps atomic.Int32 }

func (f *failures) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("worker step failed")) {
		f.steps.Add(1)
	}
	return len(line), nil
}

func hashOfEvent(t *testing.T, name string) string {
	t.Helper()
	st := workflow.EventStimulus(name, nil)
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}
