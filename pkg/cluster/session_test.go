package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/cluster/members"
	"github.com/weft-run/weft/pkg/metrics"
)

func TestASecondLiveNodeOfOneIDIsRefusedAndNamed(t *testing.T) {
	w := newWorld(t)
	first := w.run("a", func(c *Config) { c.Address = "first:1" })
	c := w.config("a")
	c.Address = "second:1"
	_, err := Open(w.ctx(), c)
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("error %v", err)
	}
	if conflict.Other.Address != "first:1" || !strings.Contains(err.Error(), "another live node") || !strings.Contains(err.Error(), `"a" at first:1`) {
		t.Errorf("it does not name the other: %v", err)
	}
	if err := first.Ready(); err != nil {
		t.Errorf("the first node suffered: %v", err)
	}
}

func TestADeadNodesIDIsFreeAfterItsTTL(t *testing.T) {
	w := newWorld(t)
	w.open("a", ttl(2*time.Second)) // never renewed
	start, late := time.Now(), lateness(t)
	s := w.open("a")
	if d := time.Since(start); d < time.Second || d > 6*time.Second+late() {
		t.Errorf("waited %v for a dead process with TTL 2 s", d)
	}
	if s.Members()[0].LeaseID != leaseHex(s.Epoch().Lease) {
		t.Error("the record is not ours")
	}
}

func TestALocalNodeIsAlone(t *testing.T) {
	w := newWorld(t)
	local := func(c *Config) { c.Mode = ModeLocal }
	check := func(c Config, other string) {
		t.Helper()
		_, err := Open(w.ctx(), c)
		var conflict *ConflictError
		if !errors.As(err, &conflict) || conflict.Other.ID != other {
			t.Errorf("error %v, want a conflict with %s", err, other)
		}
	}
	dist := w.open("d")
	c := w.config("l")
	local(&c)
	check(c, "d")
	if err := dist.Close(w.ctx()); err != nil {
		t.Fatal(err)
	}
	w.open("l", local)
	check(w.config("d2"), "l")
	c = w.config("l2")
	local(&c)
	check(c, "l")
}

// A local and a distributed node that start together must not both pass.
func TestNodesThatStartTogetherSeeEachOther(t *testing.T) {
	w := newWorld(t)
	for round := range 5 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var sessions []*Session
		modes := map[string]int{}
		for i := range 6 {
			c := w.config(fmt.Sprintf("n%d-%d", round, i))
			if i%2 == 0 {
				c.Mode = ModeLocal
			}
			wg.Go(func() {
				s, err := Open(w.ctx(), c)
				var conflict *ConflictError
				if err != nil && !errors.As(err, &conflict) {
					t.Error(err)
				}
				if s != nil {
					mu.Lock()
					sessions = append(sessions, s)
					modes[s.cfg.Mode]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if modes[ModeLocal] > 1 || modes[ModeLocal] == 1 && modes[ModeDistributed] > 0 || len(sessions) == 0 {
			t.Errorf("joined: %v", modes)
		}
		for _, s := range sessions {
			if err := s.Close(w.ctx()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestManyNodesJoinAtOnce(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for i := range 8 {
		c := w.config(fmt.Sprint("n", i))
		wg.Go(func() {
			s, err := Open(w.ctx(), c)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
		})
	}
	wg.Wait()
	if n := len(w.open("last").Members()); n != 9 {
		t.Errorf("%d members, want 9", n)
	}
}

func TestCloseIsIdempotentAndFreesEverything(t *testing.T) {
	w := newWorld(t)
	a, b := w.run("a"), w.open("b")
	l := w.lock(a, someLock)
	e := a.Epoch()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := a.Close(w.ctx()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := a.Close(w.ctx()); err != nil {
		t.Error(err)
	}
	if !errors.Is(context.Cause(e.Context()), ErrClosed) || l.Context().Err() == nil {
		t.Errorf("cause %v", context.Cause(e.Context()))
	}
	if a.Epoch() != nil || !errors.Is(a.Ready(), ErrClosed) {
		t.Errorf("epoch %v, ready %v", a.Epoch(), a.Ready())
	}
	if _, err := a.Locks().TryAcquire(w.ctx(), someLock); !errors.Is(err, ErrClosed) {
		t.Errorf("acquire after close: %v", err)
	}
	if err := a.Run(w.ctx()); !errors.Is(err, ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
	w.release(w.lock(b, someLock))
	if err := l.Release(w.ctx()); err != nil {
		t.Error(err)
	}
}

func TestCloseDoesNotHangOnADeadNetwork(t *testing.T) {
	w := newWorld(t)
	proxy := w.etcd.Proxy(t)
	s := w.run("a", func(c *Config) { c.Client, c.LeaseClient = proxy.Client(t), nil })
	l := w.lock(s, someLock)
	proxy.BlackHole()
	if err := l.Release(w.ctx()); err == nil {
		t.Error("released without an answer")
	}
	start, late := time.Now(), lateness(t)
	if err := s.Close(w.ctx()); err == nil {
		t.Error("closed without an answer, and no error")
	}
	if d := time.Since(start); d > 4*time.Second+late() {
		t.Errorf("took %v", d)
	}
}

func TestRunEndsWithItsContextAndEndsTheEpoch(t *testing.T) {
	w := newWorld(t)
	s := w.open("a")
	e := s.Epoch()
	l := w.lock(s, someLock)
	w.start(s)()
	if !errors.Is(context.Cause(e.Context()), ErrClosed) {
		t.Errorf("cause %v", context.Cause(e.Context()))
	}
	// The lease is left to Close: locks can still be given back properly.
	w.release(l)
	if w.keys(someLock) != 0 {
		t.Error("not given back")
	}
}

func TestUpdateNodeIsSeenByOthersAndSurvivesEpochs(t *testing.T) {
	w := newWorld(t)
	a, b := w.run("a"), w.run("b")
	changed, cancel := b.MembersChanged()
	defer cancel()
	polltest.Eventually(t, "b sees a", func() bool { return len(b.Members()) == 2 })
	update := func(n *Node) {
		n.Draining, n.CatalogRevision = true, 7
		n.ID, n.LeaseID, n.Mode = "x", "y", "z" // not his to change
	}
	if err := a.UpdateNode(w.ctx(), update); err != nil {
		t.Fatal(err)
	}
	seen := func() bool {
		m := b.Members()
		return len(m) == 2 && m[0].ID == "a" && m[0].Mode == ModeDistributed && m[0].Draining && m[0].CatalogRevision == 7
	}
	for !seen() {
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatal("b does not learn it")
		}
	}
	if got := b.PreferredNode("whatever"); got != "b" {
		t.Errorf("a draining node is preferred: %s", got)
	}
	w.revoke(a.Epoch().Lease)
	polltest.Eventually(t, "the second epoch says so too", func() bool { return seen() && b.Members()[0].Epoch == 2 })
}

func TestARecordOfADeadEpochIsNeverWrittenAgain(t *testing.T) {
	w := newWorld(t)
	s := w.open("a")
	w.revoke(s.Epoch().Lease)
	if err := s.UpdateNode(w.ctx(), func(n *Node) { n.Paused = true }); !errors.Is(err, ErrSessionLost) {
		t.Errorf("error %v", err)
	}
	if n := w.get(s.nodeKey()).Count; n != 0 {
		t.Error("the record is back")
	}
	// Nor is that of another session overwritten.
	other := w.open("a")
	e := s.epoch
	s.recordRev = w.get(s.nodeKey()).Kvs[0].ModRevision + 1
	if err := s.publish(w.ctx(), e); err == nil {
		t.Error("published over another session's record")
	}
	if n := members.Decode(w.get(s.nodeKey()).Kvs[0]); n.LeaseID != leaseHex(other.Epoch().Lease) {
		t.Error("the other session's record was overwritten")
	}
}

func TestTheHeartbeatRepairsARemovedRecord(t *testing.T) {
	w := newWorld(t)
	s := w.run("a")
	e := s.Epoch()
	if _, err := w.raw.Delete(w.ctx(), s.nodeKey()); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "the record is back", func() bool { return w.get(s.nodeKey()).Count == 1 })
	if s.Epoch() != e {
		t.Error("a live session was given up")
	}
}

func TestUpdateNodeWithALostAnswer(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	s := w.open("a", func(c *Config) { faults.Wrap(c.Client) })
	lost := faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1})
	if err := s.UpdateNode(w.ctx(), func(n *Node) { n.Paused = true }); err == nil || lost.Fired() != 1 {
		t.Fatalf("error %v, fired %d", err, lost.Fired())
	}
	if err := s.UpdateNode(w.ctx(), func(n *Node) { n.Draining = true }); err != nil {
		t.Fatal(err)
	}
	if n := members.Decode(w.get(s.nodeKey()).Kvs[0]); !n.Paused || !n.Draining {
		t.Errorf("record %+v", n)
	}
}

type deafLease struct{ clientv3.Lease }

func (deafLease) Revoke(context.Context, clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return nil, errors.New("no answer")
}

// The record of our own former epoch is in the way as long as its lease lives.
func TestARebuildTakesOverItsOwnRecord(t *testing.T) {
	w := newWorld(t)
	s := w.open("a", func(c *Config) { c.Client.Lease = deafLease{c.Client.Lease} })
	old := s.Epoch()
	start, late := time.Now(), lateness(t)
	e, ok := s.rebuild(w.ctx(), old)
	if took := time.Since(start); !ok || took > 3*time.Second+late() {
		t.Fatalf("rebuilt: %v, after %v", ok, took)
	}
	w.revoke(old.Lease) // must not take the record with it
	kv := w.get(s.nodeKey()).Kvs
	if len(kv) != 1 || clientv3.LeaseID(kv[0].Lease) != e.Lease || members.Decode(kv[0]).Epoch != 2 {
		t.Errorf("record %v", kv)
	}
}

// A copy of an older write that arrives late must not undo a newer one.
func TestALateWriteDoesNotUndoANewerOne(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	s := w.open("a", func(c *Config) { faults.Wrap(c.Client) })
	faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1})
	if err := s.UpdateNode(w.ctx(), func(n *Node) { n.Paused = true }); err == nil {
		t.Fatal("no fault")
	}
	if err := s.UpdateNode(w.ctx(), func(n *Node) { n.Paused = false }); err != nil {
		t.Fatal(err)
	}
	if faults.Deliver() != 1 {
		t.Fatal("nothing was delivered late")
	}
	if members.Decode(w.get(s.nodeKey()).Kvs[0]).Paused {
		t.Error("paused again")
	}
}

func TestIsTransient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&HeldError{Name: someLock}, false},
		{&ConflictError{}, false},
		{sessionLost("x"), false},
		{ErrLockLost, false},
		{ErrClosed, false},
		{context.Canceled, false},
		{context.DeadlineExceeded, true},
		{call.ErrNoAnswer, true},
		{rpctypes.ErrLeaderChanged, true},
		{rpctypes.ErrNoLeader, true},
		{rpctypes.ErrTimeout, true},
		{rpctypes.ErrTooManyRequests, true},
		{rpctypes.ErrCompacted, true},
		{rpctypes.ErrNoSpace, true},
		{rpctypes.ErrTooManyOps, false},
		{rpctypes.ErrDuplicateKey, false},
		{rpctypes.ErrEmptyKey, false},
		{rpctypes.ErrRequestTooLarge, false},
		{rpctypes.ErrPermissionDenied, false},
		{rpctypes.ErrLeaseNotFound, false},
		{status.Error(codes.Unavailable, "x"), true},
		{status.Error(codes.Canceled, "x"), true},
		{status.Error(codes.Internal, "x"), true},
		{errors.New("broken pipe"), true},
	} {
		if got := IsTransient(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
		if c.err != nil && IsTransient(fmt.Errorf("wrapped: %w", c.err)) != c.want {
			t.Errorf("%v: other when wrapped", c.err)
		}
	}
}

func TestRetryReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want metrics.RetryReason
	}{
		{context.DeadlineExceeded, metrics.RetryTimeout},
		{call.ErrNoAnswer, metrics.RetryTimeout},
		{status.Error(codes.DeadlineExceeded, "x"), metrics.RetryTimeout},
		{rpctypes.ErrTimeout, metrics.RetryTimeout},
		{rpctypes.ErrTimeoutDueToLeaderFail, metrics.RetryTimeout},
		{rpctypes.ErrTimeoutDueToConnectionLost, metrics.RetryTimeout},
		{rpctypes.ErrTimeoutWaitAppliedIndex, metrics.RetryTimeout},
		{rpctypes.ErrNoLeader, metrics.RetryUnavailable},
		{rpctypes.ErrLeaderChanged, metrics.RetryUnavailable},
		{status.Error(codes.Unavailable, "x"), metrics.RetryUnavailable},
		{rpctypes.ErrTooManyRequests, metrics.RetryOther},
		{rpctypes.ErrCompacted, metrics.RetryOther},
		{status.Error(codes.Internal, "x"), metrics.RetryOther},
		{errors.New("broken pipe"), metrics.RetryOther},
	} {
		if !IsTransient(c.err) {
			t.Errorf("%v is not transient", c.err)
		}
		if got := RetryReason(c.err); got != c.want {
			t.Errorf("%v: %s", c.err, got)
		}
		if got := RetryReason(fmt.Errorf("wrapped: %w", c.err)); got != c.want {
			t.Errorf("%v: %s when wrapped", c.err, got)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), Config{Cluster: "a/b", Mode: "both"})
	for _, want := range []string{"client", "cluster name", "node id", "mode", "TTL"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: nothing about the %s", err, want)
		}
	}
}
