package etcdstore

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/balance"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/trace"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// world is one test's cluster: a store whose calls can be spoiled, and a client
// beside it that sees what is there.
type world struct {
	allParts
	tb     testing.TB
	raw    *clientv3.Client
	faults *clustertest.Faults
	now    time.Time
	ids    int
}

// allParts is a store with all of its parts in one, as only its own tests have it.
type allParts struct {
	*lookup.Conn
	*Store
	*definitions.Definitions
	*commits.Instances
	*stimuli.Stimuli
	*upkeep.Upkeep
	*fsck.Checker
	*balance.Counter
	*lists.Lists
	*trace.Trace
	*balance.View
}

func all(s *Store) allParts {
	return allParts{s.conn, s, s.Definitions, s.Instances, s.Stimuli, s.Upkeep.Upkeep, s.Upkeep.Checker, s.Upkeep.Counter, s.Reader.Lists, s.Reader.Trace, s.Reader.View}
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	return newWorldOn(tb, clustertest.Shared(tb))
}

func newWorldOn(tb testing.TB, etcd *clustertest.Etcd) *world {
	tb.Helper()
	faults := clustertest.NewFaults(1)
	s, err := New(Config{Client: faults.Wrap(etcd.Client(tb)), Root: "/weft/" + clustertest.Namespace(tb) + "/"})
	if err != nil {
		tb.Fatal(err)
	}
	return &world{allParts: all(s), tb: tb, raw: etcd.Client(tb), faults: faults, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (w *world) ctx() context.Context { return w.tb.Context() }

func (w *world) ok(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

// did holds the answer of a transaction to whether it was to be applied.
func (w *world) did(want bool) func(bool, error) {
	return func(got bool, err error) {
		w.tb.Helper()
		if err != nil || got != want {
			w.tb.Errorf("got %t, %v, want %t", got, err, want)
		}
	}
}

// dump is everything that is kept, by key below the root, but the cluster's age,
// which is of revisions.
func (w *world) dump() map[string]string {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), w.Keys.Root, clientv3.WithPrefix())
	w.ok(err)
	out, fences := map[string]string{}, map[string]int{}
	for _, kv := range resp.Kvs {
		if string(kv.Key) == w.Keys.Age() {
			continue
		}
		key, value := strings.TrimPrefix(string(kv.Key), w.Keys.Root), string(kv.Value)
		if of, ok := strings.CutPrefix(key, "journal/"); ok {
			id, _, _ := strings.Cut(of, "/")
			fences[id] += len(fenceOf.FindString(value))
		}
		out[key] = value
	}
	for key, value := range out {
		// What differs from world to world: revisions, with how long they are, and the root.
		by := fences[key[strings.LastIndexByte(key, '/')+1:]]
		less := func(text string) string {
			n, err := strconv.Atoi(text)
			w.ok(err)
			return strconv.Itoa(n - by)
		}
		switch {
		case strings.HasPrefix(key, "instance/"):
			value = bytesOf.ReplaceAllStringFunc(value, func(s string) string { return bytesName + less(s[len(bytesName):]) })
		case strings.HasPrefix(key, "finished/"):
			value = less(value)
		case strings.HasPrefix(key, "idem-expiry/k/"):
			by = 2 * len(w.Keys.Root) // of the record's key, and of its own
			value = less(value)
		}
		value = fromOf.ReplaceAllString(fenceOf.ReplaceAllString(value, `"fence":0`), `"from":0`)
		out[key] = strings.ReplaceAll(value, w.Keys.Root, "")
	}
	return out
}

const bytesName = `"journalBytes":`

var bytesOf = regexp.MustCompile(bytesName + `\d+`)

var (
	fenceOf = regexp.MustCompile(`"fence":\d+`)
	fromOf  = regexp.MustCompile(`"from":\d+`)
)

// has tells how many keys begin with a prefix below the root.
func (w *world) has(prefix string) int {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), w.Keys.Root+prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	w.ok(err)
	return int(resp.Count)
}

func (w *world) want(prefix string, n int) {
	w.tb.Helper()
	if got := w.has(prefix); got != n {
		w.tb.Errorf("%d keys under %s, want %d; there is %s", got, prefix, n, strings.Join(slices.Sorted(maps.Keys(w.dump())), "\n"))
	}
}

// del deletes a key.
func (w *world) del(key string) {
	w.tb.Helper()
	_, err := w.raw.Delete(w.ctx(), key)
	w.ok(err)
}

func (w *world) revision() int64 {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), w.Keys.Root)
	w.ok(err)
	return resp.Header.Revision
}

// lock takes the lock of an instance as one of several claimants.
func (w *world) lock(id, claimant string) *store.Fence {
	w.tb.Helper()
	prefix := w.Keys.Root + "lock/" + id + "/"
	resp, err := w.raw.Put(w.ctx(), prefix+claimant, "")
	w.ok(err)
	return &store.Fence{Key: prefix + claimant, Prefix: prefix, Revision: resp.Header.Revision}
}

// fence is that of a lock that a claimant has.
func (w *world) fence(id, claimant string) *store.Fence {
	w.tb.Helper()
	prefix := w.Keys.Root + "lock/" + id + "/"
	resp, err := w.raw.Get(w.ctx(), prefix+claimant)
	w.ok(err)
	if len(resp.Kvs) == 0 {
		w.tb.Fatalf("%s has no lock of %s", claimant, id)
	}
	return &store.Fence{Key: prefix + claimant, Prefix: prefix, Revision: resp.Kvs[0].CreateRevision}
}

func (w *world) unlock(f *store.Fence) {
	w.tb.Helper()
	_, err := w.raw.Delete(w.ctx(), f.Key)
	w.ok(err)
}

func hashOf(event string) string {
	h, err := workflow.Hash(workflow.EventType, workflow.EventPayload(event))
	if err != nil {
		panic(err)
	}
	return h
}

func event(name string) workflow.Stimulus { return workflow.EventStimulus(name, "x") }

func correlated(name, correlation string) workflow.Stimulus {
	st := event(name)
	st.CorrelationID = correlation
	return st
}

func addressedTo(name, instance string) workflow.Stimulus {
	st := event(name)
	st.InstanceID = instance
	return st
}

func (w *world) bookmark(id, local, event string) workflow.Bookmark {
	return workflow.Bookmark{ID: workflow.BookmarkID(id, local), ActivityID: local, ActivityType: workflow.EventType, Hash: hashOf(event), CreatedAt: w.now}
}

func (w *world) header(id string) workflow.Instance {
	return workflow.Instance{ID: id, DefinitionID: "order", Version: 1, Status: workflow.StatusRunning, SubStatus: workflow.Suspended, CreatedAt: w.now, UpdatedAt: w.now}
}

// first is the commit that makes an instance.
func (w *world) first(id string, f *store.Fence, bookmarks ...workflow.Bookmark) *store.Commit {
	h := w.header(id)
	h.Bookmarks = bookmarks
	return &store.Commit{ID: w.id("commit"), Fence: f, After: store.Record{Header: h, Seq: 1}, At: w.now, Created: bookmarks, SeenMail: w.revision()}
}

// next is the commit that follows on what is there.
func (w *world) next(id string, f *store.Fence) *store.Commit {
	w.tb.Helper()
	rec := w.record(id)
	c := &store.Commit{ID: w.id("commit"), Fence: f, Before: rec, After: *rec, At: w.now, SeenMail: w.revision()}
	c.After.Seq++
	c.After.Header.Bookmarks = slices.Clone(rec.Header.Bookmarks)
	return c
}

func (w *world) record(id string) *store.Record {
	w.tb.Helper()
	rec, err := w.Instance(w.ctx(), id)
	w.ok(err)
	if rec == nil {
		w.tb.Fatalf("there is no instance %s", id)
	}
	return rec
}

// id makes ids that are the same in every run.
func (w *world) id(what string) string {
	w.ids++
	return fmt.Sprintf("%s-%d", what, w.ids)
}

func (w *world) commit(c *store.Commit) *store.Committed {
	w.tb.Helper()
	done, err := w.Commit(w.ctx(), c)
	w.ok(err)
	return done
}

// instance makes an instance that waits for events, one bookmark each.
func (w *world) instance(id string, events ...string) *store.Record {
	w.tb.Helper()
	return w.instanceIn(id, "", events...)
}

func (w *world) instanceIn(id, correlation string, events ...string) *store.Record {
	w.tb.Helper()
	var bookmarks []workflow.Bookmark
	for i, e := range events {
		bookmarks = append(bookmarks, w.bookmark(id, fmt.Sprintf("b%d", i), e))
	}
	c := w.first(id, nil, bookmarks...)
	c.After.Header.CorrelationID = correlation
	w.commit(c)
	return w.record(id)
}

// burn is the commit that burns every bookmark of an instance.
func (w *world) burn(id string) {
	w.tb.Helper()
	c := w.next(id, nil)
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	w.commit(c)
}

// remove deletes an instance.
func (w *world) remove(id string) {
	w.tb.Helper()
	c := w.next(id, nil)
	c.Delete, c.Burned = true, c.Before.Header.Bookmarks
	w.commit(c)
}

// ends is the commit that finishes an instance.
func ends(c *store.Commit) *store.Commit {
	c.After.Header.Status, c.After.Header.SubStatus = workflow.StatusFinished, workflow.Finished
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	return c
}

func (w *world) look(st workflow.Stimulus) *lookup.Match {
	w.tb.Helper()
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	w.ok(err)
	l, err := w.Stimuli.Match(w.ctx(), st, hash, "")
	w.ok(err)
	return l
}

func (w *world) item(id string, st workflow.Stimulus) store.QueueItem {
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	w.ok(err)
	return store.QueueItem{ID: id, Stimulus: st, Hash: hash, CreatedAt: w.now}
}

// inQueue lists what waits, by the keys.
func (w *world) inQueue() []upkeep.Queued {
	w.tb.Helper()
	items, _, err := w.Queued(w.ctx(), "", "", 1000)
	w.ok(err)
	return items
}

// queued puts a stimulus into the queue and gives it back as it lies there.
func (w *world) queued(id string, st workflow.Stimulus) *store.QueueItem {
	w.tb.Helper()
	ok, err := w.Enqueue(w.ctx(), w.item(id, st), w.look(st))
	w.ok(err)
	if !ok {
		w.tb.Fatalf("stimulus %s was not queued", id)
	}
	items, _, err := w.QueueItems(w.ctx(), "", "", 1000)
	w.ok(err)
	for i := range items {
		if items[i].ID == id {
			return &items[i]
		}
	}
	w.tb.Fatalf("queued stimulus %s is not there", id)
	return nil
}

func (w *world) resume(cmd string, b *store.BookmarkRef, st *workflow.Stimulus) workflow.Command {
	return workflow.Command{ID: cmd, Kind: workflow.CommandResume, CreatedAt: w.now, Bookmark: b.ID, Stimulus: st}
}

func (w *world) start(cmd string) workflow.Command {
	return workflow.Command{ID: cmd, Kind: workflow.CommandStart, CreatedAt: w.now, Start: &workflow.Start{DefinitionID: "order", Version: 1}}
}

func (w *world) newInstance(id, cmd string, gate *store.Gate) *lookup.NewInstance {
	start := w.start(cmd)
	return &lookup.NewInstance{Header: NewHeader(id, start, w.now), Command: start, Gate: gate}
}

// mailOf reads a mailbox.
func (w *world) mailOf(id string) []store.Mail {
	w.tb.Helper()
	l, err := w.Load(w.ctx(), id, "", "")
	w.ok(err)
	return l.Mail
}

// consumes adds all mail of an instance to a commit.
func (w *world) consumes(c *store.Commit) *store.Commit {
	w.tb.Helper()
	for _, m := range w.mailOf(c.After.Header.ID) {
		c.Consumed = append(c.Consumed, store.Consumed{Command: m.Command, Created: m.Created, Effect: store.Effect{Outcome: workflow.OutcomeResumed}})
	}
	return c
}
