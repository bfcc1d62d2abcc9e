package client_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// follow follows what is looked at often, as a node's upkeep does. It gives how often a range was read from its
// beginning whose key has these parts.
func (m *member) follow(t *testing.T, parts ...string) *atomic.Int64 {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.store.Upkeep.Follow(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var reads atomic.Int64
	m.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if slices.ContainsFunc(c.Keys, func(key string) bool {
			return strings.HasPrefix(key, cluster.Root(m.w.name)+parts[0]) && strings.HasSuffix(key, parts[1])
		}) {
			reads.Add(1)
		}
		return false
	}})
	return &reads
}

// until looks until that reads nothing.
func until(t *testing.T, reads *atomic.Int64, look func()) {
	t.Helper()
	eventually(t, "it is followed", func() bool {
		for range 250 {
			look()
		}
		was := reads.Load()
		look()
		return reads.Load() == was
	})
}

// Where the mailbox is followed no commit and no release compares it. What comes on the way of one counts on the owner, who has
// let the lock go by then: it is told to take the instance again.
func TestMailBesideAReleaseOfAFollowedMailboxIsTold(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(m *member, in workflow.Instance) error{
		"a commit": func(m *member, in workflow.Instance) error {
			_, err := m.open("i").Do(m.w.t.Context(), resumeOf("r", in, 0))
			return err
		},
		"a release": func(m *member, _ workflow.Instance) error { return m.open("i").Work(m.w.t.Context(), false, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{seq(waitFor("go"), line("go")), seq(waitFor("other"), line("other")), waitFor("end")}}))
			hinted := make(chan []string, 100)
			m := w.member("a", cluster.ModeDistributed, slow, func(c *client.Config) { c.Wakeups = told{hint: func(ids []string) { hinted <- ids }} })
			other := w.member("b", cluster.ModeDistributed)
			in := must(m.open("i").Begin(t.Context(), startOf("d", "s")))(t).Instance
			reads := m.follow(t, "mailbox/", "/i/")
			m.put(t, "i", resumeOf("old", in, 2))
			until(t, reads, func() { must(m.store.Instances.Load(t.Context(), "i", "", ""))(t) })
			m.worked("i")
			var once sync.Once
			m.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
				if c.DeletesUnder(cluster.Root(w.name) + "lock/") {
					once.Do(func() {
						for len(hinted) > 0 {
							<-hinted
						}
						other.put(t, "i", resumeOf("came", in, 1))
					})
				}
				return false
			}})
			if err := end(m, in); err != nil {
				t.Fatal(err)
			}
			if ids := nextHint(t, hinted); !slices.Equal(ids, []string{"i"}) {
				t.Errorf("hinted %q", ids)
			}
			m.worked("i")
			eventually(t, "what came is done", func() bool { return slices.Contains(m.written(), "other") })
		})
	}
}

// A slice of the queue that is followed is looked at behind the commit that did not read it.
func TestWhatLiesInAFollowedSliceOfTheQueueIsMet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("early"), line("end"))))
	m := w.member("a", cluster.ModeDistributed)
	st := workflow.EventStimulus("early", "x")
	hash := must(workflow.Hash(st.ActivityType, st.Payload))(t)
	reads := m.follow(t, "queue/", "/-/")
	look := must(m.store.Stimuli.Match(t.Context(), st, hash, ""))(t)
	if !must(m.store.Stimuli.Enqueue(t.Context(), store.QueueItem{ID: "q", Stimulus: st, Hash: hash, CreatedAt: time.Now().UTC()}, look))(t) {
		t.Fatal("not queued")
	}
	nobody := workflow.Instance{ID: "nobody"}
	until(t, reads, func() {
		must(m.store.Instances.LookQueue(t.Context(), &nobody, []workflow.Bookmark{{Hash: hash}}))(t)
	})
	must(m.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	eventually(t, "the instance ends", func() bool {
		return must(m.store.Reader.Instance(t.Context(), "i"))(t).Header.SubStatus == workflow.Finished
	})
}
