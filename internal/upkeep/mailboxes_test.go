package upkeep

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// Work whose preferred node is there and does not do it is taken by another one
// in time, with sessions of any length: sighted after a rest, and then outliving
// strangerAge sweeps, each late by the whole jitter.
func TestWorkThatItsPreferredNodeLeavesIsTakenInTime(t *testing.T) {
	t.Parallel()
	longest := func(every time.Duration) (most time.Duration) {
		for range 10_000 {
			most = max(most, pace.Jitter(every))
		}
		return most
	}
	for _, ttl := range []time.Duration{cluster.MinTTL, 3 * time.Second, 10 * time.Second, time.Minute, time.Hour} {
		took, promised := longest(restOf(ttl, sweepEvery, defaultRest))+strangerAge*longest(sweepEvery), ttl+2*time.Second
		if took >= promised {
			t.Errorf("TTL %v: a stranger takes it after up to %v, the promise is %v", ttl, took, promised)
		}
	}
}

// done is an instance with nothing to do.
type done struct{ client.Client }

func (done) Work(context.Context, bool, func()) error { return nil }

// What waited for its turn when the cluster was paused, or the node is to end,
// stays in its mailbox.
func TestAPausedNodeTakesUpNothing(t *testing.T) {
	t.Parallel()
	for _, paused := range []bool{true, false} {
		worked := 0
		in := new(intake.Intake)
		in.SetPaused(paused)
		if !paused {
			in.Drain()
		}
		m := &mailboxes{worker: worker{cfg: &Config{Wakeups: NewWakeups(), Client: func(string) client.Client { worked++; return done{} }}, intake: in}}
		m.cfg.Wakeups.Hint([]string{"one"}, false)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.workMailboxes(ctx) }()
		polltest.Eventually(t, "the hint is taken", func() bool { return !m.cfg.Wakeups.has("one") })
		stop()
		if err := <-ended; err != nil || worked > 0 {
			t.Errorf("paused %t: worked %d, %v", paused, worked, err)
		}
	}
}

// What a sweep asks of a member that hangs is given up in time for another one.
func TestASweepDoesNotWaitForAMemberThatHangs(t *testing.T) {
	t.Parallel()
	faults := clustertest.NewFaults(1)
	s, err := etcdstore.New(etcdstore.Config{Client: faults.Wrap(clustertest.Shared(t).Client(t)), Root: cluster.Root(clustertest.Namespace(t)), Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Hour, Match: func(c clustertest.Call) bool { return c.Op == "get" }})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m := &mailboxes{worker: worker{cfg: &Config{Store: s.Upkeep, Log: slog.New(slog.DiscardHandler)}, intake: new(intake.Intake)}}
	if _, err := m.sweep(ctx, nil, 10*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("it waited until the end of the test: %v", err)
	}
}
