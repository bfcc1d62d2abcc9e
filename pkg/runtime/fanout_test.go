package runtime_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

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
		"published again": func(m *member) { m.Publish(other, later) },
		"retracted": func(m *member) {
			for _, id := range []string{"first", "gated"} {
				if err := m.Catalog.Retract(m.T.Context(), id); err != nil {
					m.T.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1)[0]
			m.Publish(membertest.Waits, first, gated)
			m.Start("waits", "w", "1")
			st := workflow.EventStimulus("go", nil)
			look := m.LookFor(st)
			if len(look.Bookmarks) != 1 || len(look.Triggers) != 2 {
				t.Fatalf("it meets %+v", look)
			}
			change(m)
			m.AcceptList("s", st, look)
			m.Finished("w")
			for _, def := range []string{"first", "gated"} {
				var got []workflow.Instance
				eventually(t, "an instance of "+def+" finishes", func() bool {
					page, err := m.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: def, Status: workflow.StatusFinished}, runtime.Paging{})
					got = page.Items
					return err == nil && len(got) > 0
				})
				if len(got) != 1 || got[0].Version != 1 || !slices.Equal(m.Lines(got[0].ID), []string{"old"}) {
					t.Errorf("%s: %+v wrote %q, want one of version 1", def, got, m.Lines(got[0].ID))
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
	m.Publish(membertest.Waits)
	m.Start("waits", "w", "1")
	st := workflow.EventStimulus("go", nil)
	look := m.LookFor(st)
	m.Start("waits", "other", "2")
	lock, err := m.Session.Locks().TryAcquire(t.Context(), cluster.InstanceLock("w"))
	if err != nil {
		t.Fatal(err)
	}
	for n, id := range []string{"s1", "s2"} {
		m.AcceptList(id, st, look)
		eventually(t, "the command waits for w", func() bool {
			l, err := m.Store.Instances.Load(t.Context(), "w", "", "")
			return err == nil && len(l.Mail) == n+1
		})
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.Finished("w")
	eventually(t, "the second is a dead letter", func() bool {
		page, err := m.Inspector.DeadLetters(t.Context(), runtime.DeadLetterFilter{}, "", 10)
		return err == nil && len(page.Items) == 1 && page.Items[0].InstanceID == "w" && page.Items[0].Reason == "instance-finished"
	})
	if in, _ := m.Inspector.Instance(t.Context(), "other"); in.SubStatus != workflow.Suspended {
		t.Errorf("it went to %+v", in)
	}
}

// What does not fit into one transaction is delivered in slices as large as fit.
func TestALargeStimulusReachesAll(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	for _, c := range []struct{ n, size int }{{4, 300 << 10}, {33, 40 << 10}} {
		n, size := c.n, c.size
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for i := range n {
				m.Start("waits", fmt.Sprint("w", n, "-", i), fmt.Sprint(i))
			}
			noise := make([]byte, size) // does not compress
			_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
			st := workflow.EventStimulus("go", base64.StdEncoding.EncodeToString(noise))
			res, err := m.Events.Send(t.Context(), st, nil)
			if err != nil || len(res.Outcomes) != n {
				t.Fatalf("%d outcomes, %v", len(res.Outcomes), err)
			}
			for i := range n {
				m.Finished(fmt.Sprint("w", n, "-", i))
			}
		})
	}
}

// Who waits for the outcomes of many asks for all of them at once.
func TestTheOutcomesOfManyAreAskedForTogether(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) { c.ReplyWait = 20 * time.Second })[0]
	m.Publish(membertest.Waits)
	const n = 30
	for i := range n {
		m.Start("waits", fmt.Sprint("w", i), fmt.Sprint(i))
	}
	single := m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool {
		return c.Op == "get" && c.Touches(m.Root+"idem/c/")
	}})
	res := m.Event("go", "", nil)
	for _, o := range res.Outcomes {
		if o.Outcome != workflow.OutcomeResumed {
			t.Errorf("%+v", o)
		}
	}
	if len(res.Outcomes) != n || single.Fired() > 0 {
		t.Errorf("%d outcomes, %d requests for one of them", len(res.Outcomes), single.Fired())
	}
}
