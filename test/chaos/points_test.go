package chaos

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// point is a place inside of what a node does that is a transaction.
type point struct {
	name    string
	match   func(*pb.TxnRequest) bool
	after   bool
	late    bool
	provoke func(w *town, ctx context.Context, s *slot)
}

var points = []point{
	{"after the lock", func(r *pb.TxnRequest) bool { return puts(r, "/lock/instance/") }, true, false, (*town).startOne},
	{"before the commit", func(r *pb.TxnRequest) bool { return puts(r, "/journal/") }, false, false, (*town).startOne},
	{"with a commit under way", func(r *pb.TxnRequest) bool { return puts(r, "/journal/") }, false, true, (*town).startOne},
	{"after the commit, before the answer", func(r *pb.TxnRequest) bool { return puts(r, "/journal/") }, true, false, (*town).startOne},
	{"between two slices of a send", func(r *pb.TxnRequest) bool { return puts(r, "/send/") && puts(r, "/mailbox/") }, true, false, (*town).sendCrowd},
	{"in mid-publish", func(r *pb.TxnRequest) bool { return puts(r, "/definition/triggered/head") }, false, false, (*town).publishVersion},
	{"after the publication, before the answer", func(r *pb.TxnRequest) bool { return puts(r, "/definition/triggered/head") }, true, false, (*town).publishVersion},
}

// pinned is a caller that asks this slot's node only.
func (w *town) pinned(s *slot) *caller {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callers++
	return &caller{e: &w.evidence, traits: w.traits, sizes: sizing{large: w.traits.large}, id: 1000 + w.callers, r: rand.New(rand.NewPCG(w.seed, uint64(1000+w.callers))), pick: func(int) target {
		if r := s.node(); r != nil {
			return r
		}
		return w.nobody()
	}}
}

func (w *town) startOne(ctx context.Context, s *slot) { w.pinned(s).sleeper(ctx) }

func (w *town) sendCrowd(ctx context.Context, s *slot) { w.pinned(s).crowd(ctx) }

func (w *town) publishVersion(ctx context.Context, s *slot) { w.pinned(s).republish(ctx) }

// atPoint loses the first node when one of its transactions is at a point.
func (w *town) atPoint(ctx context.Context, a *again, p point, end ending) bool {
	s := w.slots[0]
	if !slices.Contains(w.whole(), s) {
		return false
	}
	s.scrape()
	t := newTrap(p.match, p.after, p.late)
	s.interposer.armed.Store(t)
	a.wg.Go(func() { p.provoke(w, ctx, s) })
	late := time.NewTimer(4 * time.Second)
	defer late.Stop()
	select {
	case <-t.hit:
	case <-late.C:
		if s.interposer.armed.CompareAndSwap(t, nil) {
			close(t.open)
			w.count("not reached: " + p.name)
			return false
		}
		<-t.hit
	}
	end(ctx, a, s, p.name, func() {
		if p.after { // the answer reaches a process that does not read it, or nobody
			close(t.open)
		}
	})
	if !p.after { // the request goes on now, when another node has the work
		close(t.open)
		if p.late {
			w.count("commits that came late")
		}
	}
	return true
}

// afterEffect loses the node that an activity of which has called outside, before
// it gets the answer.
func (w *town) afterEffect(ctx context.Context, a *again, end ending) bool {
	s := w.victim()
	c := w.pinned(s)
	id := c.name("slow")
	came, release := w.outside.hold(id)
	defer release()
	a.wg.Go(func() {
		c.startAs(ctx, w.draw(2) == 0, "slow", id, "", "", "", map[string]any{"url": w.outside.url(id, 0)})
	})
	late := time.NewTimer(4 * time.Second)
	defer late.Stop()
	select {
	case <-came:
	case <-late.C:
		w.count("not reached: an effect")
		return false
	}
	if w.draw(2) == 0 { // until the start is durable, if it was not from the beginning
		<-time.After(1300 * time.Millisecond)
	}
	now, err := w.witness.look(ctx)
	if err != nil {
		return false
	}
	for _, holder := range w.slots {
		if now.nodes[now.holders[id]] == holder.nodeID() && holder.node() != nil {
			end(ctx, a, holder, "after an effect, before the commit", release)
			return true
		}
	}
	w.count("not reached: the holder at an effect")
	return false
}
