package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestProcesses loses real processes: nodes, members of etcd, and what lies
// between them.
func TestProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc to know when a process stands still")
	}
	sum := &report{Seed: options.seed, Counters: map[string]int64{}, wanted: slices.Concat(wantedOfProcesses, wantedOfResumes(), wantedOfManyResumes())}
	program := buildNode(t)
	for i := range options.rounds {
		seed := options.seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := processRound(t, seed, program, options.duration)
			sum.add(r)
			sum.wanted = append(sum.wanted, traitsOf(seed).wantedOfProcesses()...)
			for _, v := range r.Violations {
				t.Error(v)
			}
		})
	}
	if options.rounds >= enoughRounds {
		sum.wanted = append(sum.wanted, wantedOfLongRuns...)
	}
	t.Run("namespaces", func(t *testing.T) {
		_, err := newNamespace(t)
		switch {
		case err == nil:
			if options.rounds >= enoughRounds {
				sum.wanted = append(sum.wanted, wantedOfNamespaces...)
			}
		case os.Getenv("WEFT_REQUIRE_TOOLS") == "1":
			t.Fatalf("no network namespaces (apt-get install iproute2 iptables; root): %v", err)
		default:
			t.Skipf("no node had a network of its own: %v", err)
		}
	})
	sum.finish(t)
}

// wantedOfProcesses must move in every run; the others if it is a long one.
var (
	wantedOfProcesses = []string{"partitions", "nodes restarted", "commits", "takeovers", "epochs lost", "nodes killed or stopped past the TTL", "etcd faults",
		"numbers seen in instance", "numbers seen in mailbox", "numbers seen in queue", "numbers seen in answers",
		"requests for endpoints", "tasks done", "claimed tasks done", "workers that died", "links followed", "stimuli", "definitions for the newer program", "nodes with the older program"}
	wantedOfLongRuns = []string{
		"nodes killed", "nodes stopped past the TTL", "nodes stopped for less than the TTL", "nodes drained",
		"killed after the lock", "killed before the commit", "killed after an effect, before the commit", "killed after the commit, before the answer",
		"killed between two slices of a send", "killed in mid-publish",
		"stopped after the lock", "stopped before the commit", "stopped after an effect, before the commit", "stopped after the commit, before the answer",
		"stopped between two slices of a send", "stopped in mid-publish",
		"cut off both ways", "cut off upstream", "cut off downstream", "connections delayed", "connections reset",
		"leaders moved", "etcd leaders killed", "etcd followers killed", "etcd leaders paused", "etcd followers paused",
		"compactions", "quota reached", "quota recovered", "changes of leader seen",
		"commits fenced or abandoned", "commits resolved", "late durability", "calls outside repeated", "commits that came late", "numbers seen in send",
		"tasks failed", "instances retried", "instances imported", "lists read", "singletons started by published events", "pauses", "refreshes", "singletons published for queued events",
	}
	wantedOfNamespaces = []string{"namespace cut both ways", "namespace cut INPUT", "namespace cut OUTPUT"}
)

// processRound is one run with one seed.
func processRound(t *testing.T, seed uint64, program string, duration time.Duration) *result {
	t.Helper()
	t.Logf("seed %d, %v of load: go test ./test/chaos -run TestProcesses -chaos.seed %d -chaos.duration %v -chaos.group-commit %s -chaos.resume-locking %s", seed, duration, seed, duration, options.groupCommit, options.resumeLocking)
	began := time.Now()
	w := newTown(t, seed, program)
	t.Log(w.traits)
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	background.Go(func() { w.history.follow(ctx, w.direct) })
	background.Go(func() { w.witness.run(ctx) })
	longest := &atomic.Int64{}
	background.Go(func() { pulse(ctx, longest) })
	w.start(ctx)
	w.listeners(ctx, w.caller(100))
	t.Logf("%d nodes are ready after %v; group commit %s; namespaces: %v", len(w.slots), time.Since(began).Round(time.Millisecond), options.groupCommit, w.noSpace == nil)

	load, end := context.WithTimeout(ctx, duration)
	defer end()
	var running sync.WaitGroup
	for i := range options.workers {
		running.Go(func() { w.caller(i).run(load) })
	}
	running.Go(func() { w.nodeFaults(load) })
	running.Go(func() { w.etcdFaults(load) })
	running.Go(func() { w.networkFaults(load) })
	running.Go(func() { w.fsckNow(load) })
	running.Go(func() { w.operate(load, rand.New(rand.NewPCG(seed, 1<<34)), w.caller(102), w.witness.pause) })
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
	w.heal(ctx)
	for _, s := range w.slots {
		s.scrape()
	}
	quiet := w.settle(ctx, w.caller(101), settleLimit, func() int { return 0 })
	took := time.Since(healed)
	w.catchUpBy(ctx, "end")
	w.stop()
	w.catchUpBy(ctx, "stopped")
	res, err := w.residues(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.checkKeys(ctx, quiet); err != nil {
		t.Fatal(err)
	}
	if quiet {
		w.fsck(ctx)
	}
	w.countN("calls outside repeated", w.outside.check(&w.evidence))
	changes, _, _ := w.witness.between(began, time.Now())
	w.countN("changes of leader seen", int64(changes))
	cancel()
	background.Wait()
	w.check(res)
	r := w.result(seed, res, time.Since(began), took, time.Duration(longest.Load()), w.counters())
	w.deaths.mu.Lock()
	defer w.deaths.mu.Unlock()
	r.Takeovers = w.deaths.all
	r.Counters["deaths of nodes without work"] = int64(w.deaths.empty)
	r.Counters["deaths while etcd did not answer"] = int64(w.deaths.blind)
	t.Logf("%s", r)
	return r
}

func (w *town) catchUpBy(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := w.history.catchUp(ctx, w.direct, name); err != nil {
		w.record.violate("harness", "%v", err)
	}
}

// counters gives all of them by name.
func (w *town) counters() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]int64{}
	for name, n := range w.counts {
		out[name] = n
	}
	for _, values := range w.scraped {
		for metric, value := range values {
			name, labels, _ := strings.Cut(metric, "{")
			for _, label := range strings.Split(strings.TrimSuffix(labels, "}"), ",") {
				if of, v, found := strings.Cut(label, "="); found && of != "cluster" { // which all have
					name += "/" + strings.Trim(v, `"`)
				}
			}
			if name, is := measured[name]; is {
				out[name] += int64(value)
			}
		}
	}
	out["nodes killed or stopped past the TTL"] = out["nodes killed"] + out["nodes stopped past the TTL"]
	out["commits fenced or abandoned"] = out["commits fenced"] + out["commits abandoned"]
	for _, name := range []string{"leaders moved", "etcd leaders killed", "etcd followers killed", "etcd leaders paused", "etcd followers paused", "compactions", "quota reached"} {
		out["etcd faults"] += out[name]
	}
	return out
}
