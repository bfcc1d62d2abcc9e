package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestChaos(t *testing.T) {
	sum := &report{Seed: options.seed, Counters: map[string]int64{}}
	for i := range options.rounds {
		seed := options.seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := round(t, seed, options.duration, nil)
			sum.add(r)
			for _, v := range r.Violations {
				t.Error(v)
			}
		})
	}
	sum.finish(t)
}

// round is one run with one seed: load under faults, healing, checks.
func round(t *testing.T, seed uint64, duration time.Duration, weaken func(*clientv3Client)) *result {
	t.Helper()
	t.Logf("seed %d, %v of load: go test ./test/chaos -run TestChaos -chaos.seed %d -chaos.duration %v", seed, duration, seed, duration)
	began := time.Now()
	w := newWorld(t, seed, weaken)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { w.history.follow(ctx, w.direct) })
	longest := &atomic.Int64{}
	background.Go(func() { pulse(ctx, longest) })
	w.start(ctx)
	w.listeners(ctx)

	load, end := context.WithTimeout(ctx, duration)
	defer end()
	var running sync.WaitGroup
	for i := range options.workers {
		c := &caller{w: w, id: i, r: rand.New(rand.NewPCG(seed, uint64(i)))}
		running.Go(func() { c.run(load) })
	}
	running.Go(func() { w.torment(load, rand.New(rand.NewPCG(seed, 1<<32))) })
	running.Go(func() { w.fsckNow(load) })
	running.Wait()

	healed := time.Now()
	w.heal()
	quiet := w.settle(ctx)
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
	for _, p := range w.history.problems {
		rule, detail, _ := strings.Cut(p, " at ")
		w.record.violate(rule, "at %s", detail)
	}
	w.checkEvents(res)
	w.checkInstances(res)
	w.checkReads()
	r := w.result(res, time.Since(began), took, time.Duration(longest.Load()))
	t.Logf("%s", r)
	return r
}

// listeners start what takes the events for several.
func (w *world) listeners(ctx context.Context) {
	w.tb.Helper()
	c := &caller{w: w, id: 100, r: rand.New(rand.NewPCG(w.seed, 100))}
	for i := range 8 + 34 {
		event := "all"
		if i >= 8 {
			event = "crowd"
		}
		for c.start(ctx, "listen", fmt.Sprintf("listen-%d", i), "", "", fmt.Sprintf("start-listen-%d", i), map[string]any{"event": event}) != ok {
		}
	}
}

// fsckNow checks the keys again and again while everything goes wrong.
func (w *world) fsckNow(ctx context.Context) {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := w.checkKeys(ctx, false); err != nil {
				w.log.WarnContext(ctx, "keys not checked this time", "error", err)
			}
		}
	}
}

// settleLimit is how long acknowledged work may take after the faults ended:
// takeovers one after the other, on a slow machine.
const settleLimit = 60 * time.Second

// limit is less where stuck instances are what is to be seen.
func (w *world) limit() time.Duration {
	if w.weaken != nil {
		return 5 * time.Second
	}
	return settleLimit
}

// settle waits until nothing is left to do, gives the collectors that lost an
// event another, and then lets the last late copies arrive.
func (w *world) settle(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*w.limit())
	defer cancel()
	if err := w.any(0).catalog.Retract(ctx, "beat"); err != nil {
		w.record.violate("harness", "%v", err)
	}
	if !w.idle(ctx) {
		return false
	}
	c := &caller{w: w, id: 101, r: rand.New(rand.NewPCG(w.seed, 101))}
	for cursor := ""; ; {
		running, next, err := w.store.Instances(ctx, etcdstore.InstanceFilter{Status: workflow.StatusRunning, DefinitionID: "collect"}, cursor, 200)
		if err != nil {
			w.record.violate("harness", "%v", err)
			return false
		}
		for _, in := range running {
			for i := range 5 {
				c.send(ctx, "poke", in.CorrelationID, fmt.Sprintf("%s.more%d", in.ID, i), "")
				if rec, err := w.store.Instance(ctx, in.ID); err != nil || rec == nil || rec.Header.Status == workflow.StatusFinished {
					break
				}
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	if !w.idle(ctx) {
		return false
	}
	w.deliver()
	return w.idle(ctx)
}

// idle waits until mailboxes, send records and locks are gone and nothing that
// ends by itself runs.
func (w *world) idle(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, w.limit())
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for calm := 0; calm < 3; {
		busy, err := w.busy(ctx)
		switch {
		case err == nil && busy == "":
			calm++
		default:
			calm = 0
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.record.violate("never-idle", "%s: %v", busy, err)
			return false
		}
	}
	return true
}

// busy tells what there is still to do.
func (w *world) busy(ctx context.Context) (string, error) {
	for _, prefix := range []string{"mailbox/", "send/", "lock/instance/", "cancel/", "timer/"} {
		opts := prefixOnly
		resp, err := w.direct.Get(ctx, w.history.root+prefix, opts...)
		if err != nil {
			return "", err
		}
		for _, kv := range resp.Kvs {
			if prefix != "timer/" || strings.Contains(string(kv.Key), "/b/") {
				return string(kv.Key), nil
			}
		}
	}
	return "", nil
}
