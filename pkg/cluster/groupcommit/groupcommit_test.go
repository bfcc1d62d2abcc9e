package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/metadata"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/cluster/groupcommit"
)

// rig is a group with one permit whose first request is held back, so that what
// follows gathers.
type rig struct {
	*groupcommit.KV
	t      *testing.T
	etcd   *clientv3.Client
	faults *clustertest.Faults
	rec    *recorder
	root   string
	wg     sync.WaitGroup
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, etcd: clustertest.Shared(t).Client(t), faults: clustertest.NewFaults(1), root: "/" + clustertest.Namespace(t) + "/"}
	spoiled := r.faults.Wrap(clustertest.Shared(t).Client(t))
	r.rec = &recorder{KV: spoiled.KV, gate: make(chan struct{})}
	r.KV = groupcommit.New(groupcommit.Config{KV: r.rec, InFlight: 1})
	groupcommit.Patience(r.KV, time.Hour)
	t.Cleanup(r.Close)
	r.wg.Go(func() { _, _ = r.Put(context.Background(), r.root+"plug", "") })
	polltest.Eventually(r.t, "the plug is under way", func() bool { return r.rec.blocked.Load() == 1 })
	return r
}

// gather sends a request that is to gather.
func (r *rig) gather(ctx context.Context, op clientv3.Op) func() (clientv3.OpResponse, error) {
	r.t.Helper()
	n := r.Waiting()
	var resp clientv3.OpResponse
	var err error
	done := make(chan struct{})
	r.wg.Go(func() {
		defer close(done)
		resp, err = r.Do(ctx, op)
	})
	polltest.Eventually(r.t, "it gathers", func() bool { return r.Waiting() == n+1 })
	return func() (clientv3.OpResponse, error) { <-done; return resp, err }
}

func (r *rig) open() {
	close(r.rec.gate)
}

// sizes are how many requests shared each proposal that was answered.
func (r *rig) sizes() (n []int) {
	r.wg.Wait()
	for _, p := range r.rec.proposals {
		n = append(n, len(p.ops))
	}
	return n
}

func (r *rig) has(key string) bool {
	r.t.Helper()
	resp, err := r.etcd.Get(context.Background(), r.root+key)
	if err != nil {
		r.t.Fatal(err)
	}
	return len(resp.Kvs) == 1
}

func (r *rig) put(key string) clientv3.Op { return clientv3.OpPut(r.root+key, "x") }

func TestOneThatIsRefusedDoesNotFailTheOthers(t *testing.T) {
	for name, bad := range map[string]struct {
		op   func(*rig) clientv3.Op
		want error
	}{
		"expired lease": {func(r *rig) clientv3.Op { return clientv3.OpPut(r.root+"bad", "", clientv3.WithLease(4711)) }, rpctypes.ErrLeaseNotFound},
		"one key twice": {func(r *rig) clientv3.Op { return clientv3.OpTxn(nil, []clientv3.Op{r.put("bad"), r.put("bad")}, nil) }, rpctypes.ErrDuplicateKey},
		"too large":     {func(r *rig) clientv3.Op { return clientv3.OpPut(r.root+"bad", strings.Repeat("x", 1600<<10)) }, rpctypes.ErrRequestTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			first, spoiler, last := r.gather(t.Context(), r.put("first")), r.gather(t.Context(), bad.op(r)), r.gather(t.Context(), r.put("last"))
			r.open()
			if _, err := spoiler(); !errors.Is(err, bad.want) {
				t.Errorf("it got %v, want %v", err, bad.want)
			}
			for _, wait := range []func() (clientv3.OpResponse, error){first, last} {
				if resp, err := wait(); err != nil || resp.Put() == nil {
					t.Errorf("a bystander got %v, %v", resp, err)
				}
			}
			if !r.has("first") || !r.has("last") || r.has("bad") {
				t.Error("what is there is not what was told")
			}
		})
	}
}

// Without space etcd refuses what puts, with all that shares its proposal. What only
// deletes makes room, and has to come through.
func TestDeletesComeThroughWithoutSpace(t *testing.T) {
	r := newRig(t)
	for _, key := range []string{"one", "two", "three"} {
		if _, err := r.etcd.Put(t.Context(), r.root+key, ""); err != nil {
			t.Fatal(err)
		}
	}
	r.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Err: rpctypes.ErrNoSpace, Match: func(c clustertest.Call) bool { return len(c.Puts) > 0 }})
	here := clientv3.Compare(clientv3.CreateRevision(r.root+"two"), ">", 0)
	nested := clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpTxn([]clientv3.Cmp{here}, []clientv3.Op{clientv3.OpDelete(r.root + "two")}, nil)}, nil)
	void := clientv3.OpTxn([]clientv3.Cmp{here}, []clientv3.Op{clientv3.OpDelete(r.root + "three")}, []clientv3.Op{r.put("void")})
	plain, put := r.gather(t.Context(), clientv3.OpDelete(r.root+"one")), r.gather(t.Context(), r.put("new"))
	purge, mixed := r.gather(t.Context(), nested), r.gather(t.Context(), void)
	r.open()
	for name, wait := range map[string]func() (clientv3.OpResponse, error){"a delete": plain, "a nested delete": purge} {
		if _, err := wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, wait := range map[string]func() (clientv3.OpResponse, error){"a put": put, "a delete that may put": mixed} {
		if _, err := wait(); !errors.Is(err, rpctypes.ErrNoSpace) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.has("one") || r.has("two") || !r.has("three") || r.has("new") {
		t.Error("what is there is not what was told")
	}
}

func TestAnUnknownOutcomeIsUnknownForEach(t *testing.T) {
	for _, c := range []struct {
		fault   clustertest.Fault
		applied bool
	}{{clustertest.FailBefore, false}, {clustertest.LoseAnswer, true}} {
		r := newRig(t)
		armed := r.faults.Add(clustertest.Rule{Fault: c.fault, Match: func(call clustertest.Call) bool { return call.PutsUnder(r.root + "key/") }})
		a, b := r.gather(t.Context(), r.put("key/a")), r.gather(t.Context(), r.put("key/b"))
		r.open()
		for _, wait := range []func() (clientv3.OpResponse, error){a, b} {
			if _, err := wait(); !errors.Is(err, clustertest.ErrInjected) {
				t.Errorf("fault %d: %v", c.fault, err)
			}
		}
		if armed.Fired() != 1 {
			t.Errorf("fault %d: sent %d times", c.fault, armed.Fired())
		}
		if r.has("key/a") != c.applied || r.has("key/b") != c.applied {
			t.Errorf("fault %d: applied is not %v for both", c.fault, c.applied)
		}
	}
}

func TestACallerThatLeavesTakesNobodyAlong(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone, stays := r.gather(ctx, r.put("gone")), r.gather(t.Context(), r.put("stays"))
	cancel()
	if _, err := gone(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := r.Waiting(); n != 1 {
		t.Errorf("%d wait", n)
	}
	r.open()
	if _, err := stays(); err != nil {
		t.Error(err)
	}
	r.wg.Wait()
	if r.has("gone") {
		t.Error("a request was sent after its caller had left")
	}
}

func TestACallerThatLeavesAProposalUnderWayLeavesItToTheOthers(t *testing.T) {
	r := newRig(t)
	late := r.faults.Add(clustertest.Rule{Fault: clustertest.DelayAnswer, Delay: 2 * time.Second,
		Match: func(c clustertest.Call) bool { return c.PutsUnder(r.root + "key/") }})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	gone, stays := r.gather(ctx, r.put("key/gone")), r.gather(t.Context(), r.put("key/stays"))
	r.open()
	polltest.Eventually(t, "the proposal is under way", func() bool { return late.Fired() == 1 })
	leave()
	if _, err := gone(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := stays(); err != nil {
		t.Error(err)
	}
	if !r.has("key/gone") || !r.has("key/stays") {
		t.Error("the proposal was not applied")
	}
}

// All have left: nobody is there to be told, and the permit is needed.
func TestAProposalEndsWhenAllHaveLeft(t *testing.T) {
	r := newRig(t)
	held := r.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Hour,
		Match: func(c clustertest.Call) bool { return c.PutsUnder(r.root + "key/") }})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	a, b := r.gather(ctx, r.put("key/a")), r.gather(ctx, r.put("key/b"))
	r.open()
	polltest.Eventually(t, "the proposal is under way", func() bool { return held.Fired() == 1 })
	leave()
	for _, wait := range []func() (clientv3.OpResponse, error){a, b} {
		if _, err := wait(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if _, err := r.Put(t.Context(), r.root+"after", ""); err != nil {
		t.Error(err)
	}
}

// An etcd member that hangs must not hold up the others.
func TestASlotIsGivenBackAfterAWhile(t *testing.T) {
	r := newRig(t)
	group := groupcommit.New(groupcommit.Config{KV: r.rec, InFlight: 1}) // with the default patience
	t.Cleanup(group.Close)
	for i := range 3 {
		r.wg.Go(func() { _, _ = group.Put(context.Background(), r.root+fmt.Sprint(i), "") })
	}
	polltest.Eventually(r.t, "more than one is under way", func() bool { return r.rec.blocked.Load() >= 3 })
	r.open()
	r.wg.Wait()
}

func TestLimitsAreKept(t *testing.T) {
	r := newRig(t)
	wide := func(i, n int) clientv3.Op {
		var ops []clientv3.Op
		for j := range n {
			ops = append(ops, r.put(fmt.Sprintf("wide/%d/%d", i, j)))
		}
		return clientv3.OpTxn(nil, ops, nil)
	}
	for i := range 80 { // more than one proposal takes, as each has 60 of the 128 operations on its own level
		r.gather(t.Context(), wide(i, 60))
	}
	for i := range 260 { // more than one takes of those that have no level of their own
		r.gather(t.Context(), r.put(fmt.Sprint("small/", i)))
	}
	r.gather(t.Context(), wide(100, 126)) // room for one more beside it
	r.gather(t.Context(), wide(101, 1))
	r.gather(t.Context(), wide(102, 1))
	for i := range 3 { // two of them are too large together
		r.gather(t.Context(), clientv3.OpPut(r.root+fmt.Sprint("large", i), strings.Repeat("x", 800<<10)))
	}
	r.open()
	r.wg.Wait()
	total, most := 0, 0
	for _, n := range r.sizes() {
		total += n
		most = max(most, n)
	}
	if most < 100 {
		t.Errorf("%d requests in one proposal at most", most)
	}
	if total != 1+80+260+3+3 {
		t.Errorf("%d requests were applied: one was refused and sent again, or lost", total)
	}
}

func TestReadsBesideReadsAreFoldedAndWritersOfTheSameAreNot(t *testing.T) {
	r := newRig(t)
	start := func(i int) clientv3.Op { // reads the definition that all read
		return clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(r.root+"head"), "=", 0)}, []clientv3.Op{r.put(fmt.Sprint("i", i))}, nil)
	}
	for i := range 5 {
		r.gather(t.Context(), start(i))
	}
	r.gather(t.Context(), r.put("head")) // publishes: not beside them
	r.gather(t.Context(), r.put("head"))
	r.open()
	if got := fmt.Sprint(r.sizes()); got != "[1 5 1 1]" {
		t.Errorf("proposals of %s requests", got)
	}
}

// etcd makes a proposal of a transaction that has another one in it, also if all of it
// only reads.
func TestReadsAreFoldedOutsideOfRaft(t *testing.T) {
	r := newRig(t)
	for i := range 3 {
		if _, err := r.etcd.Put(t.Context(), fmt.Sprint(r.root, "key/", i), fmt.Sprint("value ", i)); err != nil {
			t.Fatal(err)
		}
	}
	r.wg.Go(func() { _, _ = r.Get(context.Background(), r.root+"plug") })
	polltest.Eventually(t, "a read is under way", func() bool { return r.rec.blocked.Load() == 2 })
	get := func(i int) clientv3.Op { return clientv3.OpGet(fmt.Sprint(r.root, "key/", i%3)) }
	all := clientv3.OpGet(r.root+"key/", clientv3.WithPrefix(), clientv3.WithLimit(10))
	var waits []func() (clientv3.OpResponse, error)
	for i := range 60 { // of 3 and 1 reads: more than one request takes
		waits = append(waits, r.gather(t.Context(), clientv3.OpTxn(nil, []clientv3.Op{get(i), all, get(i + 1)}, nil)), r.gather(t.Context(), get(i+2)))
	}
	index := func() uint64 {
		st, err := r.etcd.Status(t.Context(), r.etcd.Endpoints()[0])
		if err != nil {
			t.Fatal(err)
		}
		return st.RaftIndex
	}
	before := index()
	r.open()
	for i, wait := range waits {
		resp, err := wait()
		if err != nil {
			t.Fatal(err)
		}
		n := i / 2
		if i%2 == 1 {
			if kvs := resp.Get().Kvs; len(kvs) != 1 || string(kvs[0].Value) != fmt.Sprint("value ", (n+2)%3) || resp.Get().Header.Revision == 0 {
				t.Errorf("read %d was told %v", n, resp.Get())
			}
			continue
		}
		told := resp.Txn()
		if !told.Succeeded || len(told.Responses) != 3 || told.Header.Revision == 0 {
			t.Fatalf("transaction %d was told %v", n, told)
		}
		for j, want := range []string{fmt.Sprint("value ", n%3), "value 0", fmt.Sprint("value ", (n+1)%3)} {
			if kvs := told.Responses[j].GetResponseRange().Kvs; len(kvs) != 1+2*(j%2) || string(kvs[0].Value) != want {
				t.Errorf("transaction %d: read %d was told %v", n, j, kvs)
			}
		}
	}
	sizes := r.sizes()
	if most := slices.Max(sizes); most < 100 || len(sizes) > 5 {
		t.Errorf("requests of %v reads: they were not folded", sizes)
	}
	if n := index() - before; n != 1 {
		t.Errorf("%d proposals, want that of the one put", n)
	}
}

func TestSomeRequestsGoStraightToEtcd(t *testing.T) {
	r := newRig(t)
	inner := r.rec.blocked.Load()
	tagged := metadata.AppendToOutgoingContext(t.Context(), "trace", "1")
	for _, f := range []func(){
		func() { _, _ = r.Get(t.Context(), r.root) }, // behind it reads gather
		func() { _, _ = r.Get(t.Context(), r.root, clientv3.WithSerializable()) },
		func() { _, _ = r.Get(t.Context(), r.root, clientv3.WithRev(1)) },
		func() { _, _ = r.Get(t.Context(), r.root, clientv3.WithPrefix()) },
		func() { _, _ = r.Put(tagged, r.root, "") },
		func() { // etcd makes a proposal of the second only: beside others both would be one
			_, _ = r.Txn(t.Context()).If(clientv3.Compare(clientv3.Version(r.root), "=", 0)).Then(clientv3.OpGet(r.root)).Commit()
		},
		func() {
			_, _ = r.Txn(t.Context()).Then(clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpGet(r.root)}, nil)).Commit()
		},
		func() { _, _ = r.Txn(t.Context()).Commit() },
	} {
		r.wg.Go(f)
		inner++
		polltest.Eventually(r.t, "it is under way", func() bool { return r.rec.blocked.Load() == inner })
	}
	r.open()
	r.wg.Wait()
}

// Two TryLocks of one name in one proposal would both be told that they own it.
func TestRivalsOfOneLockNeverBothOwnIt(t *testing.T) {
	etcd := clustertest.Shared(t).Client(t)
	group := groupcommit.New(groupcommit.Config{KV: etcd.KV})
	etcd.KV = group
	defer group.Close()
	root := "/" + clustertest.Namespace(t) + "/"
	var sessions []*concurrency.Session
	for range 8 {
		s, err := concurrency.NewSession(etcd, concurrency.WithTTL(10))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sessions = append(sessions, s)
	}
	for round := range 20 {
		var mu sync.Mutex
		owners := map[string]int{}
		var wg sync.WaitGroup
		for _, s := range sessions {
			for name := range 4 {
				wg.Go(func() {
					lock := fmt.Sprintf("%s%d/%d", root, round, name)
					m := concurrency.NewMutex(s, lock)
					if err := m.TryLock(t.Context()); err == nil {
						mu.Lock()
						owners[lock]++
						mu.Unlock()
					} else if !errors.Is(err, concurrency.ErrLocked) {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		for lock, n := range owners {
			if n > 1 {
				t.Fatalf("%s has %d owners", lock, n)
			}
		}
	}
}

func TestAfterCloseNothingIsSent(t *testing.T) {
	r := newRig(t)
	waiting := r.gather(t.Context(), r.put("waiting"))
	r.open()
	r.wg.Wait()
	if _, err := waiting(); err != nil {
		t.Error(err)
	}
	r.Close()
	r.Close()
	if _, err := r.Put(t.Context(), r.root+"late", ""); !errors.Is(err, groupcommit.ErrClosed) {
		t.Error(err)
	}
}
