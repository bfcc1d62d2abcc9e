package runtime_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// buried makes a dead letter.
func (m *member) buried() (id string) {
	m.T.Helper()
	st := workflow.EventStimulus("go", nil)
	st.InstanceID = "nobody"
	if err := m.Store.Stimuli.PutSend(m.T.Context(), store.Send{ID: "s", Stimulus: st, CreatedAt: time.Now().UTC()}, nil); err != nil {
		m.T.Fatal(err)
	}
	m.Wakeups.Hint(nil, true)
	eventually(m.T, "it is a dead letter", func() bool {
		for _, d := range m.Dead() {
			id = d.ID
		}
		return id != ""
	})
	return id
}

// Who deletes what has met something in the meantime is told so: it was not deleted.
func TestADeleteThatComesTooLate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	a, b := c[0], c[1]
	a.Publish(membertest.Waits)
	late := func(prefix string, meanwhile func()) {
		var once atomic.Bool
		rule := a.Faults.Add(clustertest.Rule{Match: func(call clustertest.Call) bool {
			if call.DeletesUnder(a.Root+prefix) && once.CompareAndSwap(false, true) {
				meanwhile()
			}
			return false
		}})
		t.Cleanup(rule.Disarm)
	}
	queued := a.Event("go", "q", nil).Queued
	if queued == "" {
		t.Fatal("it was not queued")
	}
	late("queue/", func() {
		item, err := b.Store.Stimuli.FindQueueItem(t.Context(), queued)
		if err != nil || item == nil {
			t.Error(item, err)
			return
		}
		if ok, err := b.Store.Upkeep.Requeue(t.Context(), item); err != nil || !ok {
			t.Error(ok, err)
		}
	})
	if err := a.Letters.DeleteQueueItem(t.Context(), queued); workflow.CodeOf(err) != workflow.CodeQueueItemNotFound {
		t.Errorf("a queue item that was taken: %v", err)
	}

	letter := a.buried()
	late("dead/", func() {
		if err := b.Letters.DeleteDeadLetter(t.Context(), letter); err != nil {
			t.Error(err)
		}
	})
	if err := a.Letters.DeleteDeadLetter(t.Context(), letter); workflow.CodeOf(err) != workflow.CodeDeadLetterNotFound {
		t.Errorf("a dead letter that was taken: %v", err)
	}
}

// Whose answer was lost has deleted all the same.
func TestADeleteWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	queued := m.Event("go", "q", nil).Queued
	letter := m.buried()
	for prefix, del := range map[string]func() error{
		"queue/": func() error { return m.Letters.DeleteQueueItem(t.Context(), queued) },
		"dead/":  func() error { return m.Letters.DeleteDeadLetter(t.Context(), letter) },
	} {
		rule := m.Faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: func(call clustertest.Call) bool { return call.DeletesUnder(m.Root + prefix) }})
		if err := del(); err != nil || rule.Fired() != 1 {
			t.Errorf("%s: %v, %d answers were lost", prefix, err, rule.Fired())
		}
	}
	if len(m.Queued()) > 0 || len(m.Dead()) > 0 {
		t.Error("something is left")
	}
}
