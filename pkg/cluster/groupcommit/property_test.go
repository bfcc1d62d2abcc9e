package groupcommit_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/cluster/groupcommit"
)

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }

// recorder notes the proposals that reach etcd, and lets them wait.
type recorder struct {
	clientv3.KV
	gate chan struct{} // closed: proposals pass

	blocked atomic.Int32 // proposals that reached the gate

	mu        sync.Mutex
	proposals []proposal // guarded by mu
}

type proposal struct {
	ops      []clientv3.Op
	revision int64
	shared   bool
}

func (r *recorder) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	r.blocked.Add(1)
	<-r.gate
	resp, err := r.KV.Do(ctx, op)
	if err == nil {
		r.note(proposal{ops: []clientv3.Op{op}, revision: revisionOf(resp)})
	}
	return resp, err
}

func (r *recorder) Txn(ctx context.Context) clientv3.Txn { return &recorded{r: r, ctx: ctx} }

// recorded is how groupcommit sends what it folded.
type recorded struct {
	clientv3.Txn
	r   *recorder
	ctx context.Context
	ops []clientv3.Op
}

func (t *recorded) Then(ops ...clientv3.Op) clientv3.Txn { t.ops = ops; return t }

func (t *recorded) Commit() (*clientv3.TxnResponse, error) {
	t.r.blocked.Add(1)
	<-t.r.gate
	resp, err := t.r.KV.Txn(t.ctx).Then(t.ops...).Commit()
	if err == nil {
		t.r.note(proposal{ops: t.ops, revision: resp.Header.Revision, shared: true})
	}
	return resp, err
}

func (r *recorder) note(p proposal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proposals = append(r.proposals, p)
}

func revisionOf(r clientv3.OpResponse) int64 {
	switch {
	case r.Txn() != nil:
		return r.Txn().Header.Revision
	case r.Get() != nil:
		return r.Get().Header.Revision
	case r.Del() != nil:
		return r.Del().Header.Revision
	}
	return r.Put().Header.Revision
}

// sort puts the proposals into the order in which etcd executed them. Those of
// one revision are what made it and, after that, what changed nothing; reads have
// proposals of their own, and may have been noted early.
func (r *recorder) sort() {
	slices.SortStableFunc(r.proposals, func(a, b proposal) int {
		return cmp.Or(cmp.Compare(a.revision, b.revision), cmp.Compare(a.rank(), b.rank()))
	})
}

func (p proposal) rank() int {
	if slices.ContainsFunc(p.ops, groupcommit.Writes) {
		return 0
	}
	return 1
}

// generator makes requests over few keys, so that they meet.
type generator struct {
	t    *rapid.T
	root string
	n    int
}

func (g *generator) key() string {
	return g.root + rapid.SampledFrom([]string{"a", "a/1", "a/2", "b", "b/1", "c"}).Draw(g.t, "key")
}

// end is the end of a range, mostly none.
func (g *generator) opts() []clientv3.OpOption {
	if rapid.IntRange(0, 3).Draw(g.t, "range") == 0 {
		return []clientv3.OpOption{clientv3.WithPrefix()}
	}
	return nil
}

func (g *generator) get() clientv3.Op {
	return clientv3.OpGet(g.key(), append(g.opts(), clientv3.WithLimit(100))...)
}

func (g *generator) compare() clientv3.Cmp {
	key := g.key()
	var c clientv3.Cmp
	result := rapid.SampledFrom([]string{"=", "!=", "<", ">"}).Draw(g.t, "result")
	switch rapid.IntRange(0, 3).Draw(g.t, "target") {
	case 0:
		c = clientv3.Compare(clientv3.CreateRevision(key), result, 0)
	case 1:
		c = clientv3.Compare(clientv3.ModRevision(key), result, 0)
	case 2:
		c = clientv3.Compare(clientv3.Version(key), result, rapid.IntRange(0, 2).Draw(g.t, "version"))
	default:
		c = clientv3.Compare(clientv3.Value(key), result, rapid.SampledFrom([]string{"v0", "v1"}).Draw(g.t, "value"))
	}
	if len(g.opts()) > 0 {
		c = c.WithPrefix()
	}
	return c
}

// branch makes operations of which no two write one key, which etcd refuses.
func (g *generator) branch(deep int) []clientv3.Op {
	ops := []clientv3.Op{g.get()}
	switch rapid.IntRange(0, 4).Draw(g.t, "write") {
	case 0:
	case 1:
		ops = append(ops, clientv3.OpDelete(g.key(), g.opts()...))
	case 2:
		if deep > 0 {
			ops = append(ops, g.txn(deep-1))
		}
	default:
		ops = append(ops, clientv3.OpPut(g.key(), rapid.SampledFrom([]string{"v0", "v1"}).Draw(g.t, "value")))
	}
	return ops
}

func (g *generator) txn(deep int) clientv3.Op {
	var cmps []clientv3.Cmp
	for range rapid.IntRange(0, 2).Draw(g.t, "compares") {
		cmps = append(cmps, g.compare())
	}
	return clientv3.OpTxn(cmps, g.branch(deep), g.branch(deep))
}

// request is one request, wrapped so that it can be told from its like.
func (g *generator) request() (clientv3.Op, string) {
	g.n++
	mark := fmt.Sprintf("%smark/%d", g.root, g.n)
	does := []clientv3.Op{clientv3.OpGet(mark)}
	if rapid.IntRange(0, 2).Draw(g.t, "only reads") == 0 {
		for range rapid.IntRange(0, 2).Draw(g.t, "reads") {
			does = append(does, g.get())
		}
	} else {
		does = append(does, g.txn(2))
	}
	return clientv3.OpTxn(nil, does, nil), mark
}

func markOf(op clientv3.Op) string {
	_, then, _ := op.Txn()
	return string(then[0].KeyBytes())
}

// requests are those of a proposal, in which reads stand beside each other.
func (p proposal) requests(root string) (ops []clientv3.Op) {
	var reads []clientv3.Op
	for _, op := range slices.Backward(p.ops) {
		if op.IsTxn() {
			ops = append(ops, op)
			continue
		}
		if reads = append(reads, op); strings.HasPrefix(string(op.KeyBytes()), root+"mark/") {
			slices.Reverse(reads)
			ops, reads = append(ops, clientv3.OpTxn(nil, reads, nil)), nil
		}
	}
	slices.Reverse(ops)
	return ops
}

// history sends requests in waves and compares what they were told, and what is
// there in the end, with etcd executing one after the other.
func history(t *rapid.T, etcd *clientv3.Client, root string) (shared int, wrong error) {
	rec := &recorder{KV: etcd.KV}
	group := groupcommit.New(groupcommit.Config{KV: rec, InFlight: 1})
	defer group.Close()
	groupcommit.Patience(group, time.Hour)
	g := &generator{t: t, root: root}
	told := map[string]clientv3.OpResponse{}
	for range rapid.IntRange(1, 4).Draw(t, "waves") {
		n := rapid.IntRange(1, 8).Draw(t, "requests")
		rec.gate = make(chan struct{})
		rec.blocked.Store(0)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range n {
			op, mark := g.request()
			wg.Go(func() {
				resp, err := group.Do(context.Background(), op)
				mu.Lock()
				defer mu.Unlock()
				told[mark] = resp
				wrong = errors.Join(wrong, err)
			})
			for group.Waiting()+int(rec.blocked.Load()) <= i { // all gather before the first is answered
				goruntime.Gosched()
			}
		}
		close(rec.gate)
		wg.Wait()
	}
	if wrong != nil {
		return 0, wrong
	}
	rec.sort()
	for _, backwards := range []bool{false, true} {
		m := &model{keys: map[string]modelKey{}}
		for _, p := range rec.proposals {
			ops := p.requests(root)
			if backwards {
				slices.Reverse(ops)
			}
			if p.shared {
				shared++
			}
			for _, op := range ops {
				resp := told[markOf(op)]
				if want, got := m.run(op, p.revision), answer(resp); got != want {
					return shared, fmt.Errorf("a request was told %s, and alone %s", got, want)
				}
				if revisionOf(resp) != p.revision {
					return shared, fmt.Errorf("a header says revision %d, the proposal had %d", revisionOf(resp), p.revision)
				}
			}
		}
		if err := m.differs(etcd, root); err != nil {
			return shared, err
		}
	}
	return shared, nil
}

func (m *model) differs(etcd *clientv3.Client, root string) error {
	resp, err := etcd.Get(context.Background(), root, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	got := answer(resp.OpResponse())
	if want := m.run(clientv3.OpGet(root, clientv3.WithPrefix()), 0); got != want {
		return fmt.Errorf("there is %s, and there should be %s (%s)", got, want, strings.Join(slices.Sorted(maps.Keys(m.keys)), " "))
	}
	return nil
}

func TestFoldedRequestsAreAsIfAlone(t *testing.T) {
	etcd := clustertest.Shared(t).Client(t)
	name, n, shared := clustertest.Namespace(t), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s, err := history(t, etcd, fmt.Sprintf("/%s/%d/", name, n))
		if err != nil {
			t.Fatal(err)
		}
		shared += s
	})
	if shared == 0 {
		t.Error("nothing was folded: the test shows nothing")
	}
}
