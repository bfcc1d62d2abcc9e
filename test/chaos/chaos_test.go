package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestChaos(t *testing.T) {
	sum := &report{Seed: options.seed, Counters: map[string]int64{}, wanted: slices.Concat(wanted, wantedOfResumes(), wantedOfManyResumes())}
	for i := range options.rounds {
		seed := options.seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := round(t, seed, options.duration, nil)
			sum.add(r)
			sum.wanted = append(sum.wanted, traitsOf(seed).wanted()...)
			for _, v := range r.Violations {
				t.Error(v)
			}
		})
	}
	if options.rounds > 1 {
		sum.wanted = append(sum.wanted, wantedOfLongChaos...)
	}
	sum.finish(t)
}

// round is one run with one seed: load under faults, healing, checks.
func round(t *testing.T, seed uint64, duration time.Duration, weaken func(*clientv3Client)) *result {
	t.Helper()
	t.Logf("seed %d, %v of load: go test ./test/chaos -run TestChaos -chaos.seed %d -chaos.duration %v -chaos.resume-locking %s", seed, duration, seed, duration, options.resumeLocking)
	began := time.Now()
	w := newWorld(t, seed, weaken)
	t.Log(w.traits)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { w.history.follow(ctx, w.direct) })
	longest := &atomic.Int64{}
	background.Go(func() { pulse(ctx, longest) })
	w.start(ctx)
	w.listeners(ctx, w.caller(100))

	load, end := context.WithTimeout(ctx, duration)
	defer end()
	var running sync.WaitGroup
	for i := range options.workers {
		c := w.caller(i)
		running.Go(func() { c.run(load) })
	}
	running.Go(func() { w.torment(load, rand.New(rand.NewPCG(seed, 1<<32))) })
	running.Go(func() { w.fsckNow(load) })
	running.Go(func() { w.operate(load, rand.New(rand.NewPCG(seed, 1<<34)), w.caller(102), func(bool) {}) })
	running.Go(func() { w.upgrade(load, w.caller(105)) })
	for i := range 3 {
		running.Go(func() { w.caller(106 + i).claims(load) })
	}
	if w.traits.wide {
		running.Go(func() { w.interrupt(load, rand.New(rand.NewPCG(seed, 1<<36)), w.loseHolder) })
	}
	if w.traits.long {
		running.Go(func() { w.hunt(load, rand.New(rand.NewPCG(seed, 1<<35)), w.caller(103), w.loseHolder) })
	}
	if w.traits.crowded {
		w.publishCrowd(load, w.caller(104))
		for i := range crowdCallers {
			running.Go(func() { w.caller(200 + i).jostle(load) })
		}
	}
	running.Wait()

	healed := time.Now()
	w.heal()
	quiet := w.settle(ctx, w.caller(101), w.limit(), w.deliver)
	took := time.Since(healed)
	if err := w.history.catchUp(ctx, w.direct, "end"); err != nil {
		w.record.violate("harness", "%v", err)
	}
	w.stop()
	if err := w.history.catchUp(ctx, w.direct, "stopped"); err != nil {
		w.record.violate("harness", "%v", err)
	}
	res, err := w.residues(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.checkKeys(ctx, quiet); err != nil {
		t.Fatal(err)
	}
	cancel()
	background.Wait()
	w.check(res)
	r := w.result(seed, res, time.Since(began), took, time.Duration(longest.Load()), w.counters())
	t.Logf("%s", r)
	return r
}

// limit is less where stuck instances are what is to be seen.
func (w *world) limit() time.Duration {
	if w.weaken != nil {
		return 5 * time.Second
	}
	return settleLimit
}
