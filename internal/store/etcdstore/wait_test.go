package etcdstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// meetings are stimuli and instances' correlations, and whether one is for the
// other.
var meetings = []struct {
	name        string
	st          workflow.Stimulus
	correlation string
	meet        bool
}{
	{"neither has a correlation", event("paid"), "", true},
	{"a stimulus without is for every instance", event("paid"), "k", true},
	{"the same correlation", correlated("paid", "k"), "k", true},
	{"other correlations", correlated("paid", "other"), "k", false},
	{"a stimulus with one is for no instance without", correlated("paid", "k"), "", false},
	{"addressed", addressedTo("paid", "a"), "k", true},
	{"addressed to another", addressedTo("paid", "other"), "k", false},
}

// TestSendAgainstWait is the write skew between a stimulus that finds no bookmark
// and a bookmark that finds no stimulus: in either order one sees the other.
func TestSendAgainstWait(t *testing.T) {
	t.Parallel()
	for _, m := range meetings {
		for _, way := range []string{"created", "moved by a correlation"} {
			t.Run(m.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				t.Run("the bookmark comes first", func(t *testing.T) {
					w := newWorld(t)
					c := w.waits(m.correlation, way, true)
					l := w.look(m.st)
					w.commit(c)
					ok, err := w.Enqueue(w.ctx(), w.item("i", m.st), l)
					if err != nil || ok == m.meet {
						t.Errorf("queued %t, %v", ok, err)
					}
					if n := len(w.look(m.st).Bookmarks); (n == 1) != m.meet {
						t.Errorf("the next look meets %d bookmarks", n)
					}
				})
				t.Run("the stimulus comes first", func(t *testing.T) {
					w := newWorld(t)
					c := w.waits(m.correlation, way, true)
					w.queued("i", m.st)
					done := w.commit(c)
					if done.Released == m.meet {
						t.Errorf("released %t", done.Released)
					}
					items, err := w.LookQueue(w.ctx(), &c.After.Header, c.After.Header.Bookmarks)
					if err != nil || (len(items) == 1) != m.meet {
						t.Errorf("the next look meets %d items, %v", len(items), err)
					}
					if m.meet && (done.Kept == nil || len(done.Kept.Queue) != 1 || done.Kept.Queue[0].ID != "i") {
						t.Errorf("kept for %+v", done.Kept)
					}
				})
			})
		}
	}
}

// waits is the commit by which instance a comes to wait for "paid" under a
// correlation: as it creates the bookmark, or as it changes its correlation.
func (w *world) waits(correlation, way string, release bool) *store.Commit {
	w.tb.Helper()
	w.instance("other")
	if way == "created" {
		w.instanceIn("a", correlation)
		c := w.next("a", w.lock("a", "me"))
		b := w.bookmark("a", "b", "paid")
		c.Created, c.After.Header.Bookmarks, c.Release = []workflow.Bookmark{b}, []workflow.Bookmark{b}, release
		return c
	}
	w.instanceIn("a", "before", "paid")
	c := w.next("a", w.lock("a", "me"))
	c.After.Header.CorrelationID, c.Release = correlation, release
	return c
}

func TestATriggerThatAppearsStopsTheQueueing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.look(event("paid"))
	_, err := w.raw.Put(w.ctx(), w.Keys.Trigger(hashOf("paid"), "order", "e"), `{"definitionId":"order"}`)
	w.ok(err)
	if ok, err := w.Enqueue(w.ctx(), w.item("i", event("paid")), l); err != nil || ok {
		t.Errorf("queued %t, %v", ok, err)
	}
}

// A burst that goes on (~continue) does not ask for the release, so it did not
// look for what was queued before its bookmarks; the commit that ends it does.
func TestTheReleaseLooksForOlderBookmarksToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.queued("i", event("paid"))
	f := w.lock("a", "me")
	w.commit(w.first("a", f, w.bookmark("a", "b", "paid")))
	c := w.next("a", f)
	c.Release = true
	if done := w.commit(c); done.Released || done.Kept == nil || len(done.Kept.Queue) != 1 {
		t.Errorf("%+v", done)
	}
}

func TestMoreBookmarksThanAReleaseComparesAreLeftToTheCommitter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var bs []workflow.Bookmark
	for i := range record.MaxSlices {
		bs = append(bs, w.bookmark("a", fmt.Sprint("b", i), fmt.Sprint("e", i)))
	}
	item := w.queued("i", event("e7"))
	c := w.first("a", w.lock("a", "me"), bs...)
	c.Release = true
	if done := w.commit(c); done.Released || done.Kept != nil {
		t.Errorf("%+v", done)
	}
	items, err := w.LookQueue(w.ctx(), &c.After.Header, bs)
	if err != nil || len(items) != 1 || items[0].At != item.At {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestMailThatCameKeepsTheLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid", "paid")
	f := w.lock("a", "me")
	seen := w.revision()
	for i, b := range w.look(event("paid")).Bookmarks {
		_, _, err := w.PutMail(w.ctx(), "a", w.resume(fmt.Sprint("c", i), &b, nil), &b)
		w.ok(err)
	}
	c := w.next("a", f)
	c.Release, c.SeenMail = true, seen
	done := w.commit(c)
	if done.Kept == nil || len(done.Kept.Mail) != 2 || done.Kept.Mail[0].Command.ID != "c0" {
		t.Fatalf("%+v", done)
	}
	c = w.next("a", f)
	c.Release, c.SeenMail = true, done.Kept.Revision
	if done := w.commit(c); !done.Released {
		t.Errorf("what was seen keeps the lock: %+v", done)
	}
	w.want("lock/", 0)
}

// The mailbox holds more than one burst takes: a release must not leave the rest
// behind as if it were known.
func TestTheRestOfALargeMailboxIsNotSeen(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"commit", "release"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instance("a", "paid")
			f := w.lock("a", "me")
			seen := w.revision()
			b := w.look(event("paid")).Bookmarks[0]
			const all = record.MailBatch + 3
			for i := range all {
				_, _, err := w.PutMail(w.ctx(), "a", w.resume(fmt.Sprintf("c%03d", i), &b, nil), &b)
				w.ok(err)
			}
			release := func(consume []store.Mail) *store.Kept {
				c := w.next("a", f)
				c.Release, c.SeenMail = how == "commit", seen
				for _, m := range consume {
					c.Consumed = append(c.Consumed, store.Consumed{Command: m.Command, Created: m.Created})
				}
				done := w.commit(c)
				if how == "commit" {
					return done.Kept
				}
				kept, _, err := w.Release(w.ctx(), *f, "a", seen)
				w.ok(err)
				return kept
			}
			kept := release(nil)
			if kept == nil || len(kept.Mail) != record.MailBatch || kept.Mail[0].Command.ID != "c000" {
				t.Fatalf("%+v", kept)
			}
			seen = kept.Revision
			kept = release(kept.Mail)
			if kept == nil || len(kept.Mail) == 0 || kept.Mail[len(kept.Mail)-1].Command.ID != fmt.Sprintf("c%03d", all-1) {
				t.Fatalf("the rest is left behind: %+v", kept)
			}
			seen = kept.Revision
			if kept = release(kept.Mail); kept != nil {
				t.Errorf("nothing is left, and the lock is kept for %+v", kept)
			}
		})
	}
	w := newWorld(t)
	w.instance("a", "paid")
	b := w.look(event("paid")).Bookmarks[0]
	for i := range record.MailBatch + 1 {
		_, _, err := w.PutMail(w.ctx(), "a", w.resume(fmt.Sprint("c", i), &b, nil), &b)
		w.ok(err)
	}
	l, err := w.Load(w.ctx(), "a", "", "")
	if err != nil || len(l.Mail) != record.MailBatch || !l.More {
		t.Errorf("loaded %d, more %t, %v", len(l.Mail), l.More, err)
	}
}

// Whoever waits for the answer to a key is told that it was written, and of no other.
func TestTheWatchOfAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(w.ctx(), 30*time.Second)
	defer cancel()
	watched, stop := context.WithCancel(ctx)
	hint, other := w.WatchAnswer(watched, "k"), w.WatchAnswer(watched, "kk")
	for told := false; !told; { // a watch begins some time after it was asked for
		_, err := w.raw.Put(ctx, w.Keys.KeyRecord("k"), "{}")
		w.ok(err)
		select {
		case _, told = <-hint:
		case <-time.After(10 * time.Millisecond):
		}
	}
	stop()
	if _, ok := <-other; ok {
		t.Error("told of another key")
	}
}

// hangs is a member of etcd that lets no watch begin until it goes on.
type hangs struct {
	clientv3.Watcher
	goesOn chan struct{}
}

func (h *hangs) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	select {
	case <-h.goesOn:
	case <-ctx.Done():
	}
	return h.Watcher.Watch(ctx, key, opts...)
}

// A watch that does not begin keeps nobody from looking. When it begins, whoever waits
// is told to look again: of what was put before it says nothing.
func TestAWatchThatHangsKeepsNobodyFromLooking(t *testing.T) {
	t.Parallel()
	for name, watch := range map[string]func(*world, context.Context) <-chan struct{}{
		"an answer":   func(s *world, ctx context.Context) <-chan struct{} { return s.WatchAnswer(ctx, "k") },
		"a record":    func(s *world, ctx context.Context) <-chan struct{} { return s.WatchEffect(ctx, "i", "c") },
		"an instance": func(s *world, ctx context.Context) <-chan struct{} { return s.WatchInstance(ctx, "i") },
	} {
		for _, goesOn := range []bool{true, false} {
			t.Run(fmt.Sprint(name, "/", goesOn), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				etcd := &hangs{Watcher: w.Client.Watcher, goesOn: make(chan struct{})}
				w.Client.Watcher = etcd
				ctx, cancel := context.WithTimeout(w.ctx(), 20*time.Second)
				defer cancel()
				hint := watch(w, ctx)
				if ctx.Err() != nil {
					t.Fatal("who waits looks when all is over")
				}
				select {
				case <-hint:
					t.Error("told of nothing")
				default:
				}
				if goesOn {
					close(etcd.goesOn)
					if _, ok := <-hint; !ok || ctx.Err() != nil {
						t.Error("not told to look again")
					}
				}
				cancel()
				for range hint { // until it is over
				}
			})
		}
	}
}

// Whoever follows the pause flag, the cancels and the definitions looks beside a watch
// that does not begin, and misses nothing when it begins.
func TestAWatchThatHangsKeepsNobodyFromFollowing(t *testing.T) {
	t.Parallel()
	for _, goesOn := range []bool{true, false} {
		t.Run(fmt.Sprint(goesOn), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			etcd := &hangs{Watcher: w.Client.Watcher, goesOn: make(chan struct{})}
			w.Client.Watcher = etcd
			ctx, cancel := context.WithTimeout(w.ctx(), 20*time.Second)
			defer cancel()
			names, heads := w.WatchControl(ctx), w.WatchHeads(ctx, w.revision())
			if ctx.Err() != nil {
				t.Fatal("who follows looks when all is over")
			}
			raw, err := db.Encode(store.DefinitionHead{ID: "d", Published: 1})
			w.ok(err)
			for key, value := range map[string]string{w.Keys.Cancel("early"): "{}", w.Keys.Pause(): "true", w.Keys.Head("d"): string(raw)} {
				_, err := w.raw.Put(ctx, key, value)
				w.ok(err)
			}
			if goesOn {
				close(etcd.goesOn)
				if name, ok := <-names; !ok || name != "" {
					t.Errorf("not told to look at all, but of %q", name)
				}
				_, err := w.raw.Put(ctx, w.Keys.Cancel("late"), "{}")
				w.ok(err)
				if name := <-names; name != "late" {
					t.Errorf("told of %q", name)
				}
				if ch := <-heads; ch.Err != nil || len(ch.Heads) != 1 || ch.Heads[0].ID != "d" {
					t.Errorf("heads %+v", ch)
				}
			}
			select {
			case name := <-names:
				t.Errorf("told of %q for nothing", name)
			default:
			}
			cancel()
			for range names { // until it is over
			}
			for range heads {
			}
		})
	}
}
