package chaos

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// nodeFaults loses one node after the other, each in one of many ways, until ctx
// ends. The next is lost when the work of the one before is on its way again, so
// that it can be said how long each takeover took.
func (w *town) nodeFaults(ctx context.Context) {
	var background sync.WaitGroup
	defer background.Wait()
	back := &again{w: w, wg: &background}
	bag := deal(w.seed, w.nodeBag())
	if options.rounds == 1 {
		bag = append(w.firstFaults(), bag...)
	}
	pause := time.NewTimer(w.between(0, time.Second))
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		if w.spare() {
			next := bag[0]
			bag = bag[1:]
			if next(context.WithoutCancel(ctx), back) {
				bag = append(bag, next) // after all others
			} else {
				bag = slices.Insert(bag, 2, next) // soon
			}
		}
		pause.Reset(w.between(0, 500*time.Millisecond))
	}
}

// nodeFault loses a node in one way; false if it could not.
type nodeFault func(context.Context, *again) bool

// deal gives the order in which faults come: always the same round, entered at a
// place that depends on the seed. Places of seeds that follow each other lie as far from
// one another as they can (steps of the golden section), so that enoughRounds of them
// have all faults although each gets through a few only on a busy machine.
func deal[T any](seed uint64, bag []T) []T {
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
	_, part := math.Modf(float64(seed%1e6) * (math.Phi - 1))
	from := int(part * float64(len(bag)))
	return append(bag[from:len(bag):len(bag)], bag[:from]...)
}

// enoughRounds is from how many rounds on a run has to have had every fault.
const enoughRounds = 8

// TestEightSeedsHaveEveryFault: if each gets through six of them.
func TestEightSeedsHaveEveryFault(t *testing.T) {
	t.Parallel()
	for size := 9; size <= 30; size++ {
		for _, first := range []uint64{1, 7, 1601, 1701, 999_998} {
			bag := make([]int, size)
			for i := range bag {
				bag[i] = i
			}
			seen := map[int]bool{}
			for i := range uint64(enoughRounds) {
				for _, fault := range deal(first+i, slices.Clone(bag))[:6] {
					seen[fault] = true
				}
			}
			if len(seen) != size {
				t.Errorf("from seed %d on: %d of %d faults", first, len(seen), size)
			}
		}
	}
}

// firstFaults come first in a short run, so that it has one of each sort.
func (w *town) firstFaults() []nodeFault {
	return []nodeFault{w.killAny, func(ctx context.Context, a *again) bool { return w.cutOff(ctx, a, bothWays) }, w.stopAny}
}

// again brings back what was lost, in the background.
type again struct {
	w  *town
	wg *sync.WaitGroup
}

func (a *again) start(ctx context.Context, s *slot, fresh bool) {
	a.wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
		defer cancel()
		if err := s.launch(ctx, fresh); err != nil {
			a.w.record.violate("restart", "%v", err)
			return
		}
		a.w.count("nodes restarted")
	})
}

func (a *again) after(d time.Duration, do func()) {
	a.wg.Go(func() {
		<-time.After(d)
		do()
	})
}

// whole are the slots with a node that can be asked and reaches etcd.
func (w *town) whole() []*slot {
	return slices.DeleteFunc(slices.Clone(w.slots), func(s *slot) bool { return s.node() == nil || s.isolated.Load() })
}

// spare: one may be lost when two others are there.
func (w *town) spare() bool { return len(w.whole()) >= 3 }

// victim is one of the whole slots.
func (w *town) victim() *slot {
	whole := w.whole()
	return whole[w.draw(len(whole))]
}

// nodeBag is one of each.
func (w *town) nodeBag() []nodeFault {
	bag := []nodeFault{
		w.killAny,
		w.killAny,
		w.stopAny,
		w.stopAny,
		w.stopShort,
		w.drain,
		func(ctx context.Context, a *again) bool { return w.cutOff(ctx, a, bothWays) },
		func(ctx context.Context, a *again) bool { return w.cutOff(ctx, a, upOnly) },
		func(ctx context.Context, a *again) bool { return w.cutOff(ctx, a, downOnly) },
	}
	for _, end := range []ending{w.kill, w.stopPast} {
		bag = append(bag, func(ctx context.Context, a *again) bool { return w.afterEffect(ctx, a, end) })
		for _, p := range points {
			bag = append(bag, func(ctx context.Context, a *again) bool { return w.atPoint(ctx, a, p, end) })
		}
	}
	if w.noSpace == nil {
		for _, chains := range [][]string{{"INPUT", "OUTPUT"}, {"OUTPUT"}, {"INPUT"}} {
			bag = append(bag, func(ctx context.Context, a *again) bool { return w.cutSpace(ctx, a, chains) })
		}
	}
	return bag
}

// ending loses a node; gone is called when it can do nothing any more, and may
// be nil.
type ending func(ctx context.Context, a *again, s *slot, point string, gone func())

func (w *town) killAny(ctx context.Context, a *again) bool {
	s := w.victim()
	w.employ(ctx, a, s)
	w.kill(ctx, a, s, "at random", nil)
	return true
}

func (w *town) stopAny(ctx context.Context, a *again) bool {
	s := w.victim()
	w.employ(ctx, a, s)
	w.stopPast(ctx, a, s, "at random", nil)
	return true
}

func (w *town) stopShort(ctx context.Context, a *again) bool {
	w.stopFor(ctx, a, w.victim(), "at random", w.between(ttl/2, ttl), nil)
	return true
}

// employ gives a node work that takes a while, mostly, so that its loss matters.
func (w *town) employ(ctx context.Context, a *again, s *slot) {
	if w.draw(4) == 0 {
		return
	}
	var asked sync.WaitGroup
	for range 1 + w.draw(3) {
		c := w.pinned(s)
		id := c.name("slow")
		asked.Add(1)
		a.wg.Go(func() {
			defer asked.Done()
			c.startAs(ctx, true, "slow", id, "", "", "", map[string]any{"url": w.outside.url(id, w.between(300*time.Millisecond, 1600*time.Millisecond))})
		})
	}
	done := make(chan struct{})
	a.wg.Go(func() {
		defer close(done)
		asked.Wait()
	})
	select {
	case <-done:
		<-time.After(w.between(0, 300*time.Millisecond))
	case <-time.After(700 * time.Millisecond): // etcd may be away
	}
}

func (w *town) kill(ctx context.Context, a *again, s *slot, point string, gone func()) {
	s.scrape()
	since := time.Now()
	s.kill()
	w.count("nodes killed")
	w.count("killed " + point)
	if gone != nil {
		gone()
	}
	fresh, wait := w.draw(2) == 0, w.draw(2) == 0
	if !wait {
		a.start(ctx, s, fresh)
	}
	w.lost(ctx, "kill "+point, s, since, 0)
	if wait {
		a.start(ctx, s, fresh)
	}
}

func (w *town) stopPast(ctx context.Context, a *again, s *slot, point string, gone func()) {
	d := w.between(ttl+600*time.Millisecond, 2*ttl)
	if w.draw(4) == 0 {
		d = w.between(2*ttl, 4*ttl)
	}
	w.stopFor(ctx, a, s, point, d, gone)
}

func (w *town) stopFor(ctx context.Context, a *again, s *slot, point string, d time.Duration, gone func()) {
	since, back := time.Now(), s.node()
	p := s.hide()
	if err := p.stop(); err != nil {
		w.record.violate("harness", "stop %s: %v", s.nodeID(), err)
		return
	}
	if gone != nil {
		gone()
	}
	a.after(d, func() {
		p.resume()
		s.show(back)
	})
	if d < ttl+500*time.Millisecond {
		w.count("nodes stopped for less than the TTL")
		return
	}
	w.count("nodes stopped past the TTL")
	w.count("stopped " + point)
	w.lost(ctx, "stop "+point, s, since, 0)
}

// loseHolder takes the lease from whoever holds an instance, or stops it for longer
// than that. It kills nobody: of work over which three processes ended, it is right
// to say that it ends processes.
func (w *town) loseHolder(ctx context.Context, instance string) bool {
	lock := w.holderOf(ctx, instance)
	now, err := w.witness.look(ctx)
	if err != nil || lock == "" || !w.spare() {
		return false
	}
	lease, err := strconv.ParseInt(lock[strings.LastIndex(lock, "/")+1:], 16, 64)
	if err != nil {
		return false
	}
	for _, s := range w.slots {
		if s.nodeID() != now.nodes[clientv3.LeaseID(lease)] || s.node() == nil || s.isolated.Load() {
			continue
		}
		w.deaths.hunt(strings.Split(lock, "/")[len(strings.Split(lock, "/"))-2])
		if w.draw(3) > 0 { // the session only, as in a bad hour of etcd: the process goes on
			_, err := w.direct.Revoke(ctx, clientv3.LeaseID(lease))
			return err == nil
		}
		var back sync.WaitGroup
		w.stopPast(context.WithoutCancel(ctx), &again{w: w, wg: &back}, s, "in long work", nil)
		back.Wait()
		return true
	}
	return false
}

// drain restarts a node as an operator does.
func (w *town) drain(ctx context.Context, a *again) bool {
	s := w.victim()
	if err := s.leave(); err != nil {
		w.record.violate("drain", "%v", err)
	}
	w.count("nodes drained")
	a.start(ctx, s, w.draw(2) == 0)
	return true
}

// cutOff drops what goes between a node and etcd.
func (w *town) cutOff(ctx context.Context, a *again, directions []string) bool {
	s := w.victim()
	w.employ(ctx, a, s)
	since := time.Now()
	undo, err := s.route.spoil("timeout", `{"timeout": 0}`, directions)
	if err != nil {
		w.record.violate("harness", "cut off: %v", err)
	}
	w.isolated(ctx, a, s, map[int]string{1: "cut off " + directions[0], 2: "cut off both ways"}[len(directions)], since, undo, directions[0] == "downstream")
	return true
}

// cutSpace drops all packets of the node with a network of its own: from etcd,
// from the callers, and from what activities call.
func (w *town) cutSpace(ctx context.Context, a *again, chains []string) bool {
	s := w.slots[1]
	if !slices.Contains(w.whole(), s) {
		return false
	}
	w.employ(ctx, a, s)
	since := time.Now()
	undo, err := s.space.cut(chains...)
	if err != nil {
		w.record.violate("harness", "cut: %v", err)
	}
	w.isolated(ctx, a, s, map[int]string{1: "namespace cut " + chains[0], 2: "namespace cut both ways"}[len(chains)], since, undo, chains[0] == "INPUT" && len(chains) == 1)
	return true
}

// isolated waits for the work of a node that lost etcd. deaf: it still reaches
// etcd and keeps its lease until it notices, so that its work is taken over one
// TTL later.
func (w *town) isolated(ctx context.Context, a *again, s *slot, kind string, since time.Time, undo func(), deaf bool) {
	d := w.between(ttl/2, 3*ttl)
	w.count("partitions")
	w.count(kind)
	s.isolated.Store(true)
	a.after(d, func() {
		undo()
		s.isolated.Store(false)
	})
	if d < ttl+500*time.Millisecond {
		return
	}
	extra := time.Duration(0)
	if deaf {
		extra = ttl
	}
	w.lost(ctx, kind, s, since, extra)
}
