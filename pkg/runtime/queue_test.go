package runtime_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/store"
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
		look, err := m.store.Look(t.Context(), st, hash, "")
		if err != nil {
			t.Fatal(err)
		}
		ok, err := m.store.Enqueue(t.Context(), store.QueueItem{ID: id, Stimulus: st, Hash: hash, CreatedAt: at, ExpiresAt: at.Add(24 * time.Hour)}, look)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		at = at.Add(time.Second)
	}
	put("oldest", "small", 10)
	for i := range n {
		put(fmt.Sprint("large-", i), fmt.Sprint("nobody-", i%3), size)
	}
	before := m.faults.Values()
	depth, oldest, err := runtime.PassQueue(t.Context(), m.Runtime)
	if err != nil || depth != n+1 || oldest < time.Hour || oldest > time.Hour+time.Minute {
		t.Errorf("depth %d, oldest %v, %v", depth, oldest, err)
	}
	// One item of each shard that has some tells how long it waits.
	if read := m.faults.Values() - before; read > 5*size {
		t.Errorf("it read %d bytes of values", read)
	}
	m.publish("id: nobody\nroot:\n  - event: nobody-1\n    trigger: true\n")
	eventually(t, "what is awaited is sent on", func() bool {
		page, err := m.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "nobody"})
		return err == nil && len(page.Items) == n/3
	})
}
