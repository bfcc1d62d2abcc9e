package etcdstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// walked counts over how many keys etcd's index goes for the ranges of what is asked, if it is
// never compacted: all that were ever put in them.
type walked struct {
	clientv3.KV
	mu   sync.Mutex
	ever []string // sorted; guarded by mu
	keys map[string]int
}

// walk begins to count.
func (w *world) walk() *walked {
	c := &walked{KV: w.Client.KV, keys: map[string]int{}}
	w.Client.KV = c
	return c
}

func (c *walked) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	c.see(nil, []clientv3.Op{clientv3.OpGet(key, opts...)})
	return c.KV.Get(ctx, key, opts...)
}

func (c *walked) Txn(ctx context.Context) clientv3.Txn { return &walkedTxn{Txn: c.KV.Txn(ctx), c: c} }

type walkedTxn struct {
	clientv3.Txn
	c    *walked
	cmps []clientv3.Cmp
	ops  []clientv3.Op
}

func (t *walkedTxn) If(cmps ...clientv3.Cmp) clientv3.Txn {
	t.cmps, t.Txn = cmps, t.Txn.If(cmps...)
	return t
}

func (t *walkedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.ops, t.Txn = append(t.ops, ops...), t.Txn.Then(ops...)
	return t
}

func (t *walkedTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.ops, t.Txn = append(t.ops, ops...), t.Txn.Else(ops...)
	return t
}

func (t *walkedTxn) Commit() (*clientv3.TxnResponse, error) {
	t.c.see(t.cmps, t.ops)
	return t.Txn.Commit()
}

func (c *walked) see(cmps []clientv3.Cmp, ops []clientv3.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range cmps {
		if m := cmps[i].GetCompare(); len(m.RangeEnd) > 0 {
			c.goOver(m.Key, m.RangeEnd)
		}
	}
	for _, op := range ops {
		switch {
		case op.IsTxn():
			cmps, then, otherwise := op.Txn()
			c.mu.Unlock()
			c.see(cmps, slices.Concat(then, otherwise))
			c.mu.Lock()
		case op.IsPut():
			c.put(string(op.KeyBytes()))
		case op.IsGet() && len(op.RangeBytes()) > 0:
			c.goOver(op.KeyBytes(), op.RangeBytes())
		}
	}
}

func (c *walked) put(key string) {
	if i, found := slices.BinarySearch(c.ever, key); !found {
		c.ever = slices.Insert(c.ever, i, key)
	}
}

func (c *walked) goOver(from, to []byte) {
	kind := strings.SplitN(string(from), "/", 6)[3]
	c.keys[kind] += sort.SearchStrings(c.ever, string(to)) - sort.SearchStrings(c.ever, string(from))
}

// since gives what was gone over of a kind of key since the last call.
func (c *walked) since(kind string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.keys[kind]
	c.keys[kind] = 0
	return n
}

// patient has looks wait for what is followed, however slow the machine is.
func (w *world) patient() {
	for _, f := range []*lookup.Follower{w.Waiting, w.Queue, w.Sending, w.Boxes} {
		f.Patience = time.Minute
	}
}

// follow follows what is looked at often, as a node's upkeep does, until the test ends or stop.
func (w *world) follow() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Follow(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.tb.Error(err)
		}
	})
	w.tb.Cleanup(stop)
	return stop
}

// followed looks until a range is followed. In small runs most of the looks that it takes were counted before.
func (w *world) followed(f *lookup.Follower, prefix string, look func()) {
	w.tb.Helper()
	looks := testsize.Of(lookup.FollowAfter, 5)
	for range lookup.FollowAfter - looks {
		f.Looked(prefix, 0)
	}
	polltest.Eventually(w.tb, prefix+" is followed", func() bool {
		for range looks {
			look()
		}
		return f.Has(prefix)
	})
}

// What comes and goes all the time costs as much as in the beginning, however much was there: each look
// meets what waits, and nothing else.
func TestALookCostsByWhatWaitsAndNotByWhatDid(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	rounds := testsize.Of(lookup.FollowAfter, 40)
	for name, way := range map[string]struct {
		correlation func(i int) string
		st          func(i int) workflow.Stimulus
		slice       func(w *world) string
	}{
		"one correlation, by it": {func(int) string { return "hot" }, func(int) workflow.Stimulus { return correlated("paid", "hot") },
			func(w *world) string { return w.Keys.BookmarkSlice(hashOf("paid"), "hot") }},
		"none, without one": {func(int) string { return "" }, func(int) workflow.Stimulus { return event("paid") },
			func(w *world) string { return w.Keys.Bookmarks(hashOf("paid")) }},
		"many correlations, without one": {func(i int) string { return fmt.Sprint("c", i) }, func(int) workflow.Stimulus { return event("paid") },
			func(w *world) string { return w.Keys.Bookmarks(hashOf("paid")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			count := w.walk()
			w.patient()
			w.follow()
			w.followed(w.Conn.Waiting, way.slice(w), func() { w.look(way.st(0)) })
			count.since("bookmark")
			for i := range rounds {
				id := fmt.Sprint("i", i)
				w.instanceIn(id, way.correlation(i), "paid")
				if met := w.look(way.st(i)); len(met.Bookmarks) != 1 || met.Bookmarks[0].InstanceID != id {
					t.Fatalf("round %d met %+v", i, met.Bookmarks)
				}
				w.burn(id)
				if met := w.look(way.st(i)); len(met.Bookmarks) != 0 {
					t.Fatalf("round %d met %+v, which is gone", i, met.Bookmarks)
				}
			}
			if n := count.since("bookmark"); n > rounds {
				t.Errorf("%d looks went over %d keys of bookmarks", 2*rounds, n)
			}
		})
	}
}

func TestAnEndpointIsFoundByWhatWaitsAndNotByWhatDid(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	count := w.walk()
	w.patient()
	w.follow()
	at := func() *stimuli.Endpoint {
		found, err := w.FindEndpoint(w.ctx(), []stimuli.Endpoint{{Method: "POST", Pattern: "a", Hash: hashOf("none")}, {Method: "POST", Pattern: "b", Hash: hashOf("paid")}})
		w.ok(err)
		return found
	}
	w.followed(w.Conn.Waiting, w.Keys.Bookmarks(hashOf("paid")), func() { at() })
	count.since("bookmark")
	rounds := testsize.Of(lookup.FollowAfter, 40)
	for i := range rounds {
		id := fmt.Sprint("i", i)
		w.instance(id, "paid")
		if e := at(); e == nil || e.Waiting != id {
			t.Fatalf("round %d found %+v", i, e)
		}
		w.burn(id)
		if e := at(); e != nil {
			t.Fatalf("round %d found %+v, which is gone", i, e)
		}
	}
	if n := count.since("bookmark"); n > rounds {
		t.Errorf("%d looks went over %d keys of bookmarks", 2*rounds, n)
	}
}

// queues puts a stimulus into the queue.
func (w *world) queues(id string, st workflow.Stimulus) {
	w.tb.Helper()
	if ok, err := w.Enqueue(w.ctx(), w.item(id, st), w.look(st)); err != nil || !ok {
		w.tb.Fatalf("stimulus %s was not queued: %v", id, err)
	}
}

// The queue too: neither who sends nor who comes to wait goes over what was taken.
func TestTheQueueCostsByWhatLiesInItAndNotByWhatDid(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	count := w.walk()
	w.patient()
	w.follow()
	slice := w.Keys.QueueSlice(hashOf("paid"), record.NoCorrelation)
	taken := 0
	round := func() {
		id, item := fmt.Sprint("i", taken), fmt.Sprint("e", taken)
		taken++
		w.queues(item, event("paid"))
		c := w.first(id, w.lock(id, "me"), w.bookmark(id, "b0", "paid"))
		c.Release = true
		kept := w.commit(c).Kept
		if kept == nil {
			t.Fatalf("%s released its lock", id)
		}
		items := kept.Queue
		if kept.Unread {
			var err error
			items, err = w.LookQueue(w.ctx(), &c.After.Header, c.Created)
			w.ok(err)
		}
		if len(items) != 1 || items[0].ID != item || items[0].Alone == 0 {
			t.Fatalf("%s meets %+v", id, items)
		}
		w.claimed(&items[0], id)
		w.del(w.Keys.Bookmark(hashOf("paid"), "", workflow.BookmarkID(id, "b0")))
	}
	w.followed(w.Conn.Waiting, w.Keys.Bookmarks(hashOf("paid")), round)
	w.followed(w.Conn.Queue, slice, round)
	count.since("bookmark")
	count.since("queue")
	rounds := testsize.Of(100, 30)
	for range rounds {
		round()
	}
	if n := count.since("bookmark") + count.since("queue"); n > rounds {
		t.Errorf("%d rounds went over %d keys", rounds, n)
	}
	w.want("queue/", 0)
	w.want("queue-mark/", 0)
}

// What is put into the queue without a compare of what waits is sent on if something came to wait since the look.
func TestAnItemThatMissedItsBookmarkIsSentOn(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		correlation string
		st          workflow.Stimulus
		comes       string // the correlation of who comes to wait
		sent        bool
	}{
		"its correlation":            {"c", correlated("paid", "c"), "c", true},
		"no correlation, some waits": {"", event("paid"), "c", true},
		"no correlation, none waits": {"", event("paid"), "", true},
		"another correlation":        {"c", correlated("paid", "c"), "other", false},
		"nobody":                     {"c", correlated("paid", "c"), "-", false},
	} {
		for _, from := range []string{"a call", "a send record"} {
			t.Run(name+", from "+from, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.follow()
				prefix := w.Keys.Bookmarks(hashOf("paid"))
				if way.correlation != "" {
					prefix = w.Keys.BookmarkSlice(hashOf("paid"), way.correlation)
				}
				w.followed(w.Conn.Waiting, prefix, func() { w.look(way.st) })
				met := w.look(way.st)
				if from != "a call" {
					send := store.Send{ID: "e", Stimulus: way.st, CreatedAt: w.now}
					w.ok(w.PutSend(w.ctx(), send, nil))
					sends, _, err := w.Sends(w.ctx(), "", 10)
					w.ok(err)
					met, err = w.MatchAgain(w.ctx(), &sends[0], hashOf("paid"))
					w.ok(err)
				}
				if !met.Followed {
					t.Fatal("the look read the range")
				}
				if way.comes != "-" {
					w.instanceIn("i", way.comes, "paid")
				}
				ok, err := w.Enqueue(w.ctx(), w.item("e", way.st), met)
				if w.ok(err); !ok || met.SentOn != way.sent {
					t.Errorf("queued %t, sent on %t", ok, met.SentOn)
				}
				queue, sends := 1, 0
				if way.sent {
					queue, sends = 0, 1
				}
				w.want("queue/", queue)
				w.want("send/", sends)
			})
		}
	}
}

// Also where the answer was lost with which it was put.
func TestAnItemWhoseAnswerWasLostIsSentOnToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.follow()
	w.followed(w.Conn.Waiting, w.Keys.Bookmarks(hashOf("paid")), func() { w.look(event("paid")) })
	met := w.look(event("paid"))
	w.instance("i", "paid")
	item := w.item("e", event("paid"))
	raw, err := db.Encode(item)
	w.ok(err)
	rec := w.Keys.CommandRecord("~queue", "e")
	_, err = w.raw.Txn(w.ctx()).Then(db.Put(w.QueueKey(&item), raw), db.Put(rec, []byte("{}"))).Commit()
	w.ok(err)
	if ok, err := w.Enqueue(w.ctx(), item, met); err != nil || !ok || !met.SentOn {
		t.Errorf("queued %t, sent on %t, %v", ok, met.SentOn, err)
	}
	w.want("queue/", 0)
	w.want("send/", 1)
}

// A look meets all that waited when it began, and nothing that had gone, beside others who come and go.
func TestARangeThatIsFollowedIsAsExactAsARead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.follow()
	prefix := w.Keys.Bookmarks(hashOf("paid"))
	w.followed(w.Conn.Waiting, prefix, func() { w.look(event("paid")) })
	const keys, comers, lookers = 40, 4, 4
	var steps [comers][keys]atomic.Int64 // 0: it is not there, 1: it is put, 2: it is there, 3: it is deleted, 4: it is not there …
	key := func(c, k int) string { return fmt.Sprintf("%sc%d/i%d/b", prefix, c, k) }
	ctx, stop := context.WithCancel(w.ctx())
	defer stop()
	var all sync.WaitGroup
	for c := range comers {
		all.Go(func() {
			for r := rand.New(rand.NewPCG(1, uint64(c))); ctx.Err() == nil; {
				k := r.IntN(keys)
				op := db.Put(key(c, k), nil)
				if steps[c][k].Add(1)%4 == 3 {
					op = db.Del(key(c, k))
				}
				if _, err := w.raw.Do(w.ctx(), op); err != nil {
					t.Error(err)
					return
				}
				steps[c][k].Add(1)
			}
		})
	}
	var looks, exact atomic.Int64
	for range lookers {
		all.Go(func() {
			defer stop()
			for looks.Add(1) < 1000 {
				var before [comers][keys]int64
				for c := range comers {
					for k := range keys {
						before[c][k] = steps[c][k].Load()
					}
				}
				now, err := w.Get(w.ctx(), "the revision of now", w.Keys.Pause(), clientv3.WithCountOnly())
				if err != nil {
					t.Error(err)
					return
				}
				kvs, _, _, ok := w.Conn.Waiting.At(w.ctx(), prefix, now.Header.Revision, lookup.MaxFollowed)
				if !ok {
					continue // it is read
				}
				exact.Add(1)
				for c := range comers {
					for k := range keys {
						_, met := slices.BinarySearchFunc(kvs, key(c, k), func(kv *mvccpb.KeyValue, key string) int { return strings.Compare(string(kv.Key), key) })
						if was := before[c][k]; was%2 == 0 && was == steps[c][k].Load() && met != (was%4 == 2) {
							t.Errorf("%s: met %t after %d steps", key(c, k), met, was)
							return
						}
					}
				}
			}
		})
	}
	all.Wait()
	if exact.Load() == 0 {
		t.Error("no look was answered")
	}
}

// Where the watch does not tell in time, or has ended, etcd is read.
func TestWhatIsNotToldInTimeIsRead(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *world, stop func()){
		"the watch has ended": func(_ *world, stop func()) { stop() },
		"the watch is behind": func(w *world, stop func()) {
			stop()
			w.Conn.Waiting.Assume(w.Keys.Bookmarks(hashOf("paid")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stop := w.follow()
			w.followed(w.Conn.Waiting, w.Keys.Bookmarks(hashOf("paid")), func() { w.look(event("paid")) })
			w.instance("a", "paid")
			spoil(w, stop)
			for range 3 {
				if met := w.look(event("paid")); len(met.Bookmarks) != 1 || met.Followed {
					t.Errorf("met %+v, followed %t", met.Bookmarks, met.Followed)
				}
			}
			met := w.look(event("other"))
			met.Followed, met.Stimulus, met.Hash = true, event("paid"), hashOf("paid") // as a look that was told
			if ok, err := w.Enqueue(w.ctx(), w.item("e", event("paid")), met); err != nil || !ok || !met.SentOn {
				t.Errorf("queued %t, sent on %t, %v", ok, met.SentOn, err)
			}
		})
	}
}

// What is asked how far it is has a stream of its own: beside a watch that begins later than now the question would be
// lost (etcd note 43), and nothing ever be followed.
func TestARangeIsFollowedBesideAWatchInTheFuture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now, err := w.Client.Get(t.Context(), w.Keys.Root)
	w.ok(err)
	ahead := w.Client.Watch(clientv3.WithRequireLeader(t.Context()), w.Keys.Root, clientv3.WithRev(now.Header.Revision+1_000_000_000), clientv3.WithCreatedNotify())
	if first := <-ahead; !first.Created {
		t.Fatalf("%+v", first)
	}
	w.follow()
	w.followed(w.Conn.Waiting, w.Keys.Bookmarks(hashOf("paid")), func() { w.look(event("paid")) })
	w.instance("a", "paid")
	if met := w.look(event("paid")); len(met.Bookmarks) != 1 || !met.Followed {
		t.Errorf("met %+v, followed %t", met.Bookmarks, met.Followed)
	}
}

// Send records and mailboxes are listed by what is there, page by page, and not by what was.
func TestSweepsCostByWhatIsThereAndNotByWhatWas(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	count := w.walk()
	w.patient()
	w.follow()
	n := 0
	round := func() {
		n++
		id := fmt.Sprint("e", n)
		w.ok(w.PutSend(w.ctx(), store.Send{ID: id, Stimulus: event("paid"), CreatedAt: w.now}, nil))
		_, err := w.raw.Put(w.ctx(), w.Keys.Mail("i", id), `{"id":"`+id+`"}`)
		w.ok(err)
		sends, next, err := w.Sends(w.ctx(), "", 10)
		if w.ok(err); len(sends) != 1 || sends[0].ID != id || sends[0].Created == 0 || next != "" {
			t.Fatalf("round %d lists %+v, %q", n, sends, next)
		}
		mail, next, err := w.Sweep(w.ctx(), "", 10)
		if w.ok(err); len(mail) != 1 || mail[0].CommandID != id || next != "" {
			t.Fatalf("round %d sweeps %+v, %q", n, mail, next)
		}
		w.del(w.Keys.Send(id))
		w.del(w.Keys.Mail("i", id))
	}
	w.followed(w.Sending, w.Keys.Sends(), round)
	w.Boxes.Want(w.Keys.Mailboxes(), 0) // as a slow sweep does
	polltest.Eventually(t, "the mailboxes are followed", func() bool { round(); return w.Boxes.Has(w.Keys.Mailboxes()) })
	count.since("send")
	count.since("mailbox")
	rounds := testsize.Of(100, 30)
	for range rounds {
		round()
	}
	if n := count.since("send") + count.since("mailbox"); n > rounds {
		t.Errorf("%d rounds went over %d keys", rounds, n)
	}
	const many = 25
	for i := range many {
		id := fmt.Sprintf("s%02d", i)
		w.ok(w.PutSend(w.ctx(), store.Send{ID: id, Stimulus: event("paid"), CreatedAt: w.now}, nil))
		_, err := w.raw.Put(w.ctx(), w.Keys.Mail(id, "c"), `{}`)
		w.ok(err)
	}
	if got := pages(t, func(c string) ([]store.Send, string, error) { return w.Sends(w.ctx(), c, 2) }, func(s store.Send) string { return s.ID }); len(got) != many {
		t.Errorf("lists %q", got)
	}
	if got := pages(t, func(c string) ([]upkeep.Pending, string, error) { return w.Sweep(w.ctx(), c, 2) }, func(p upkeep.Pending) string { return p.InstanceID }); len(got) != many {
		t.Errorf("sweeps %q", got)
	}
}

// A sweep that is slow is followed from then on.
func TestASlowSweepIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.faults.Add(clustertest.Rule{Fault: clustertest.DelayAnswer, Delay: 2 * lookup.SlowLook, Match: func(c clustertest.Call) bool { return c.Touches(w.Keys.Mailboxes()) }, Times: 1})
	_, _, err := w.Sweep(w.ctx(), "", 10)
	w.ok(err)
	if w.Boxes.Wants() != 1 {
		t.Error("it is not to be followed")
	}
}
