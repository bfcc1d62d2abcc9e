package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
)

func TestReadsRideInTheTransactionThatTakesTheLock(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1) // for its counters
	a := w.open("a", func(c *Config) { faults.Wrap(c.Client) })
	key := Root(w.name) + "instance/i-1"
	modified := w.put(key, "state")
	gets, txns := faults.Calls("get"), faults.Calls("txn")
	l, err := a.Locks().TryAcquire(w.ctx(), someLock, clientv3.OpGet(key), clientv3.OpGet(Root(w.name)+"mailbox/", clientv3.WithPrefix()))
	if err != nil {
		t.Fatal(err)
	}
	if g, x := faults.Calls("get")-gets, faults.Calls("txn")-txns; g != 0 || x != 1 {
		t.Errorf("%d gets and %d transactions, want one transaction", g, x)
	}
	resp, ok := l.Reads()
	if !ok || len(resp.Responses) != 2 || resp.Header.Revision != l.Fence().Revision {
		t.Fatalf("reads %v, %v; fence %+v", resp, ok, l.Fence())
	}
	kv := resp.Responses[0].GetResponseRange().Kvs[0]
	if string(kv.Value) != "state" || kv.ModRevision != modified {
		t.Errorf("read %v", kv)
	}
	w.release(l)
}

// A leftover key of our own lease is taken over, with its revision as the fence.
func TestALeftoverKeyOfOurOwnIsAdopted(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	key := w.prefix(someLock) + leaseHex(a.Epoch().Lease)
	rev := w.put(key, "", clientv3.WithLease(a.Epoch().Lease))
	state := Root(w.name) + "instance/i-1"
	w.put(state, "x")
	l, err := a.Locks().TryAcquire(w.ctx(), someLock, clientv3.OpGet(state))
	if err != nil {
		t.Fatal(err)
	}
	// The reads do not ride along in this case: the taker loads by himself.
	if resp, ok := l.Reads(); l.Fence().Revision != rev || ok || !w.commit(l.Fence()) {
		t.Errorf("fence %+v, reads %v, %v", l.Fence(), resp, ok)
	}
	w.release(l)
}

// A leftover key behind another holder is a waiter: the try is refused and the
// key does not stay.
func TestALeftoverWaiterIsRemovedByTheNextTry(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	l := w.lock(b, someLock)
	w.waiter(a, someLock)
	if held := w.refused(a, someLock); held.Holder.NodeID != "b" {
		t.Errorf("refused by %+v", held)
	}
	w.waitKeys(someLock, 1)
	w.release(l)
}

func TestADefiniteRefusalFreesTheLocalLockAtOnce(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	var reads []clientv3.Op
	for i := range 200 {
		reads = append(reads, clientv3.OpGet(fmt.Sprint("k", i)))
	}
	_, err := a.Locks().TryAcquire(w.ctx(), someLock, reads...)
	if !errors.Is(err, rpctypes.ErrTooManyOps) || IsTransient(err) {
		t.Errorf("error %v", err)
	}
	if n := a.Epoch().local.Len(); n != 0 {
		t.Errorf("%d local locks left", n)
	}
}

// The caller's context is for taking the lock, not for holding it.
func TestALockOutlivesTheContextItWasTakenWith(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	ctx, cancel := context.WithCancel(t.Context())
	l, err := a.Locks().TryAcquire(ctx, someLock)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if l.Context().Err() != nil || !w.commit(l.Fence()) {
		t.Error("the lock ended with the request")
	}
	if err := l.Release(ctx); err != nil {
		t.Errorf("release with an ended context: %v", err)
	}
	if !errors.Is(context.Cause(l.Context()), ErrLockReleased) || w.keys(someLock) != 0 {
		t.Errorf("cause %v, %d keys", context.Cause(l.Context()), w.keys(someLock))
	}
}

// An unknown release keeps the local lock until the key is gone.
func TestAnUnknownReleaseIsCleanedUp(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a, b := w.open("a", func(c *Config) { faults.Wrap(c.Client) }), w.open("b")
	l := w.lock(a, someLock)
	fail := faults.Add(clustertest.Rule{Fault: clustertest.FailBefore,
		Match: func(c clustertest.Call) bool { return c.DeletesUnder(w.prefix(someLock)) }})
	if err := l.Release(w.ctx()); err == nil {
		t.Error("no error")
	}
	if held := w.refused(a, someLock); held.Confirmed || fail.Fired() == 0 {
		t.Errorf("refused by %+v, want not confirmed; %d deletes failed", held, fail.Fired())
	}
	fail.Disarm()
	w.release(w.lock(b, someLock))
}

func TestLookAsksThisNodeFirst(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a, b := w.open("a", func(c *Config) { faults.Wrap(c.Client) }), w.open("b")
	if _, held, err := a.Locks().Inspect(w.ctx(), someLock); held || err != nil {
		t.Errorf("free lock: %v, %v", held, err)
	}
	l := w.lock(a, someLock)
	gets := faults.Calls("get")
	h, held, err := a.Locks().Inspect(w.ctx(), someLock)
	if err != nil || !held || h.NodeID != "a" || h.Fence != l.Fence() || faults.Calls("get") != gets {
		t.Errorf("own lock: %+v, %v, %v, %d gets", h, held, err, faults.Calls("get")-gets)
	}
	h, held, err = b.Locks().Inspect(w.ctx(), someLock)
	if err != nil || !held || h.NodeID != "a" || h.Fence != l.Fence() || h.Lease != a.Epoch().Lease || time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("another's lock: %+v, %v, %v", h, held, err)
	}
}

func TestListNamesLocksHoldersAndWaiters(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	refresh := RefreshLock([]string{"orders", "billing", "orders"})
	l := w.lock(a, refresh)
	w.lock(b, ReloadLock())
	for i := range 5 {
		w.lock(a, InstanceLock(fmt.Sprint("i-", i)))
	}
	waiter := w.waiter(b, refresh)
	list, err := a.Locks().List(w.ctx(), ScopeRefresh, 10, "")
	if err != nil || list.Next != "" || len(list.Locks) != 1 || list.Revision < waiter.Revision {
		t.Fatalf("%+v, %v", list, err)
	}
	if i := list.Locks[0]; i.Name != "refresh of billing, orders" || i.Scope != ScopeRefresh || i.Holder.NodeID != "a" || i.Holder.Fence != l.Fence() ||
		len(i.Waiters) != 1 || i.Waiters[0].Fence != waiter {
		t.Errorf("%+v", i)
	}
	w.release(l)
	if _, err := w.raw.Delete(w.ctx(), waiter.Key); err != nil {
		t.Fatal(err)
	}

	var names []string
	for cursor, pages := "", 0; ; pages++ {
		list, err := b.Locks().List(w.ctx(), "", 2, cursor)
		if err != nil || len(list.Locks) > 2 || pages > 5 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, i := range list.Locks {
			names = append(names, i.Name+"@"+i.Holder.NodeID)
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "instance i-0@a instance i-1@a instance i-2@a instance i-3@a instance i-4@a reload@b" {
		t.Errorf("listed: %s", got)
	}
	for _, bad := range []string{"!", "Li4vLi4v", "eA"} {
		if _, err := a.Locks().List(w.ctx(), "", 2, bad); !errors.Is(err, ErrBadCursor) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

// The keys of those who want a lock stand in the order of their leases, and are told
// in that of their ages.
func TestWaitersAreListedInTheirOrder(t *testing.T) {
	t.Parallel()
	var i Info
	i.Holder.Fence.Revision = 50
	for _, rev := range []int64{70, 20, 60, 90, 10, 80} {
		i.add(Holder{Fence: Fence{Revision: rev}})
	}
	var got []int64
	for _, h := range append([]Holder{i.Holder}, i.Waiters...) {
		got = append(got, h.Fence.Revision)
	}
	if want := []int64{10, 20, 50, 60, 70, 80, 90}; !slices.Equal(got, want) {
		t.Errorf("the holder and the waiters are %v", got)
	}
}

// Who claims a lock is told in the order in which they get it, and as it was.
func TestClaimsAreInTheirOrder(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	name := InstanceLock("i")
	l := w.lock(a, name)
	waiter := w.waiter(b, name)
	then := waiter.Revision
	claims := func(revision int64) (nodes []string) {
		t.Helper()
		found, err := b.Locks().Claims(w.ctx(), name, revision)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found {
			nodes = append(nodes, h.NodeID)
		}
		return nodes
	}
	if got := claims(0); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("claims of %v", got)
	}
	w.release(l)
	if got := claims(0); !slices.Equal(got, []string{"b"}) {
		t.Errorf("claims of %v, after a has gone", got)
	}
	if got := claims(then); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("claims of %v, before that", got)
	}
}

// What is counted must come back to zero, also on loss.
func TestLocksAreCounted(t *testing.T) {
	w := newWorld(t)
	reg := prometheus.NewRegistry()
	m, err := metrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	a := w.open("a", func(c *Config) { c.Metrics = m })
	w.release(w.lock(a, someLock))
	lost := w.lock(a, someLock)
	if held := w.refused(a, someLock); !held.Confirmed {
		t.Errorf("refused by %+v", held)
	}
	a.lose(w.ctx(), a.Epoch(), "test", nil)
	w.release(lost)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, f := range families {
		if f.GetName() != "weft_locks_held" {
			continue
		}
		seen = true
		for _, s := range f.GetMetric() {
			if s.GetGauge().GetValue() != 0 {
				t.Errorf("locks held: %v", s)
			}
		}
	}
	if !seen {
		t.Error("weft_locks_held is not there: nothing is tested")
	}
}

func TestNamesNeverNest(t *testing.T) {
	t.Parallel()
	id := rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9._:-]{1,16}`), rapid.StringMatching(`[a%/]{0,6}`), rapid.String())
	name := rapid.Custom(func(t *rapid.T) Name {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return RefreshLock(rapid.SliceOfN(id, 0, 4).Draw(t, "ids"))
		case 1:
			return ReloadLock()
		case 2:
			scope := rapid.SampledFrom([]Scope{ScopeQueue, ScopeTimer, ScopeMailbox}).Draw(t, "scope")
			return ShardLock(scope, rapid.IntRange(0, 300).Draw(t, "shard"))
		default:
			return InstanceLock(id.Draw(t, "id"))
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		// An etcd mutex owns every key that begins with its path and a slash.
		if a.path() == b.path() {
			if a.String() != b.String() {
				t.Fatalf("%q and %q are the same lock", a, b)
			}
			return
		}
		if strings.HasPrefix(a.path()+"/", b.path()+"/") || strings.HasPrefix(b.path()+"/", a.path()+"/") {
			t.Fatalf("%q nests with %q", a.path(), b.path())
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	if RefreshLock([]string{"b", "a", "b"}) != RefreshLock([]string{"a", "b"}) {
		t.Error("order or repetition matters")
	}
	if RefreshLock([]string{"ab"}).path() == RefreshLock([]string{"a", "b"}).path() {
		t.Error("sets run together")
	}
	if got := InstanceLock("a.B_c:d-1").path(); got != "lock/instance/a.B_c:d-1" {
		t.Errorf("path %s", got)
	}
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = strings.Repeat("x", 120) + fmt.Sprint(i)
	}
	if n := len(RefreshLock(ids).String()); n > 4096 {
		t.Errorf("a name of %d bytes", n)
	}
	for _, bad := range []func(){
		func() { ShardLock(ScopeInstance, 1) },
		func() { ShardLock(ScopeQueue, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			bad()
		}()
	}
}
