package runtime_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// fixed accepts an event for what look found, as a call with more targets than
// one transaction takes does, and as late as it may.
func (m *member) fixed(id string, st workflow.Stimulus, look *etcdstore.Match) {
	m.t.Helper()
	send := store.Send{ID: id, Stimulus: st, CreatedAt: time.Now().UTC()}
	for i := range look.Bookmarks {
		send.Targets = append(send.Targets, store.Target{Bookmark: &look.Bookmarks[i]})
	}
	for i := range look.Triggers {
		send.Targets = append(send.Targets, store.Target{Trigger: &look.Triggers[i]})
	}
	if err := m.store.Stimuli.PutSend(m.t.Context(), send, nil); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) look(st workflow.Stimulus) *etcdstore.Match {
	m.t.Helper()
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		m.t.Fatal(err)
	}
	look, err := m.store.Stimuli.Match(m.t.Context(), st, hash, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return look
}

// The stimulus saw the triggers once and was accepted for them; what is published
// or retracted while its list is worked off takes no start away, and mixes none
// in.
func TestAFixedListStartsWhatItSawWhateverIsPublishedMeanwhile(t *testing.T) {
	t.Parallel()
	const first = "id: first\nroot:\n  - event: go\n    trigger: true\n  - writeLine: old\n"
	const other = "id: first\nroot:\n  - writeLine: new\n  - event: go\n    trigger: true\n  - event: go\n    trigger: true\n"
	const gated = "id: gated\noptions:\n  activation: Singleton\nroot:\n  - event: go\n    trigger: true\n  - writeLine: old\n"
	const later = "id: gated\noptions:\n  activation: Singleton\nroot:\n  - event: go\n    trigger: true\n  - writeLine: new\n"
	for name, change := range map[string]func(*member){
		"published again": func(m *member) { m.publish(other, later) },
		"retracted": func(m *member) {
			for _, id := range []string{"first", "gated"} {
				if err := m.catalog.Retract(m.t.Context(), id); err != nil {
					m.t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1)[0]
			m.publish(waits, first, gated)
			m.execute("waits", "w", "1")
			st := workflow.EventStimulus("go", nil)
			look := m.look(st)
			if len(look.Bookmarks) != 1 || len(look.Triggers) != 2 {
				t.Fatalf("it meets %+v", look)
			}
			change(m)
			m.fixed("s", st, look)
			m.finished("w")
			for _, def := range []string{"first", "gated"} {
				var got []workflow.Instance
				eventually(t, "an instance of "+def+" finishes", func() bool {
					page, err := m.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: def, Status: workflow.StatusFinished})
					got = page.Items
					return err == nil && len(got) > 0
				})
				if len(got) != 1 || got[0].Version != 1 || !slices.Equal(m.lines(got[0].ID), []string{"old"}) {
					t.Errorf("%s: %+v wrote %q, want one of version 1", def, got, m.lines(got[0].ID))
				}
			}
		})
	}
}

// A command of a fixed list is one of several also if it is alone in its slice:
// when its instance has ended, nobody else may have it, who may have had one of
// his own.
func TestTheLastOfAFixedListIsForItsInstanceOnly(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish(waits)
	m.execute("waits", "w", "1")
	st := workflow.EventStimulus("go", nil)
	look := m.look(st)
	m.execute("waits", "other", "2")
	lock, err := m.session.Locks().TryAcquire(t.Context(), cluster.InstanceLock("w"))
	if err != nil {
		t.Fatal(err)
	}
	for n, id := range []string{"s1", "s2"} {
		m.fixed(id, st, look)
		eventually(t, "the command waits for w", func() bool {
			l, err := m.store.Instances.Load(t.Context(), "w", "", "")
			return err == nil && len(l.Mail) == n+1
		})
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.finished("w")
	eventually(t, "the second is a dead letter", func() bool {
		page, err := m.DeadLetters(t.Context(), "", 10)
		return err == nil && len(page.Items) == 1 && page.Items[0].InstanceID == "w" && page.Items[0].Reason == "instance-finished"
	})
	if in, _ := m.Instance(t.Context(), "other"); in.SubStatus != workflow.Suspended {
		t.Errorf("it went to %+v", in)
	}
}

// What does not fit into one transaction is delivered in slices as large as fit.
func TestALargeStimulusReachesAll(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish(waits)
	for _, c := range []struct{ n, size int }{{4, 300 << 10}, {33, 40 << 10}} {
		n, size := c.n, c.size
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for i := range n {
				m.execute("waits", fmt.Sprint("w", n, "-", i), fmt.Sprint(i))
			}
			noise := make([]byte, size) // does not compress
			_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
			st := workflow.EventStimulus("go", base64.StdEncoding.EncodeToString(noise))
			res, err := m.Send(t.Context(), st, nil)
			if err != nil || len(res.Outcomes) != n {
				t.Fatalf("%d outcomes, %v", len(res.Outcomes), err)
			}
			for i := range n {
				m.finished(fmt.Sprint("w", n, "-", i))
			}
		})
	}
}

// Who waits for the outcomes of many asks for all of them at once.
func TestTheOutcomesOfManyAreAskedForTogether(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *runtime.Config) { c.ReplyWait = 20 * time.Second })[0]
	m.publish(waits)
	const n = 30
	for i := range n {
		m.execute("waits", fmt.Sprint("w", i), fmt.Sprint(i))
	}
	single := m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool {
		return c.Op == "get" && c.Touches(m.root+"idem/c/")
	}})
	res := m.send("go", "", nil)
	for _, o := range res.Outcomes {
		if o.Outcome != workflow.OutcomeResumed {
			t.Errorf("%+v", o)
		}
	}
	if len(res.Outcomes) != n || single.Fired() > 0 {
		t.Errorf("%d outcomes, %d requests for one of them", len(res.Outcomes), single.Fired())
	}
}
