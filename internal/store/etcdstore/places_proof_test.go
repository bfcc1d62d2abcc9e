package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Three nodes start instances that wait for places, give places, and end instances in any state, while what they send is lost, made twice,
// answered by nothing or delivered late, nodes forget what they know, and their clocks step. The history is that of etcd, which has a total
// order: each revision is held against the promises ([ledger]). WEFT_LIMIT_GRANTS says how many places are given.

// provers are the limits of the proof: so many at once, so many per time, and both.
var provers = map[string]store.Limit{
	"once": {Name: "once", Most: 3},
	"time": {Name: "time", Most: limit.AnyNumber, Rate: &limit.Rate{Units: 20, Per: time.Second}},
	"both": {Name: "both", Most: 4, Rate: &limit.Rate{Units: 100, Per: 2 * time.Second}},
}

// apart is by how much the clocks of the proof differ.
const apart = 400 * time.Millisecond

// proof is the world of the proof.
type proof struct {
	w       *world
	clock   atomic.Int64 // milliseconds; it goes on with what the nodes do
	grants  atomic.Int64
	want    int64
	mu      sync.Mutex
	orphans []string // instances whose node has forgotten them; guarded by mu
}

// prover is a node of the proof.
type prover struct {
	*proof
	name   string
	faults *clustertest.Faults
	client *clientv3.Client
	store  *Store
	rnd    *rand.Rand
	off    time.Duration // by which its clock is off; of its own goroutine
	live   []*store.Record
	n      int
}

func TestLimitsHoldWhateverGoesWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := &proof{w: w, want: 600}
	if n, err := strconv.ParseInt(os.Getenv("WEFT_LIMIT_GRANTS"), 10, 64); err == nil {
		p.want = n
	}
	p.clock.Store(w.now.UnixMilli())
	begins := w.revision()
	for _, l := range provers {
		w.did(true)(w.Limits.Set(w.ctx(), l, 0))
	}
	ctx, stop := context.WithCancel(w.ctx())
	defer stop()
	book := &ledger{tb: t, keys: w.Keys, granted: &p.grants, lines: map[limit.Line]*ledgerLine{}}
	events := w.raw.Watch(clientv3.WithRequireLeader(ctx), w.Keys.Root, clientv3.WithPrefix(), clientv3.WithRev(begins+1))
	read := make(chan int64, 1) // up to which revision the history is to be read
	var reader, nodes sync.WaitGroup
	reader.Go(func() { book.readAll(events, read) })
	for i := range 3 {
		faults := clustertest.NewFaults(uint64(i + 1))
		client := faults.Wrap(clustertest.Shared(t).Client(t))
		for _, f := range []clustertest.Fault{clustertest.FailBefore, clustertest.LoseAnswer, clustertest.ApplyTwice, clustertest.DeliverLate} {
			faults.Add(clustertest.Rule{Fault: f, Prob: 0.02})
		}
		n := &prover{proof: p, name: fmt.Sprint("n", i), faults: faults, client: client, rnd: rand.New(rand.NewPCG(uint64(i), 7))}
		nodes.Go(func() {
			n.restart()
			for p.grants.Load() < p.want && t.Context().Err() == nil && !t.Failed() {
				n.step()
			}
			n.leave()
		})
	}
	nodes.Wait()
	p.end()
	done, err := w.raw.Put(w.ctx(), w.Keys.Root+"proof-ended", "") // other tests write, too: the history of this one ends here
	w.ok(err)
	read <- done.Header.Revision
	reader.Wait()
	for _, prefix := range []string{"limit-wait/", "limit-taken/"} {
		w.want(prefix, 0)
	}
	book.windows()
	t.Logf("%d grants of %d lines in %d revisions, %d by commits, at most %d waiting", p.grants.Load(), len(book.lines), book.revisions, book.byCommits, book.longest)
}

// restart forgets all that the node knows, as a kill does.
func (n *prover) restart() {
	var err error
	n.store, err = New(Config{Client: n.client, Root: n.w.Keys.Root})
	n.w.ok(err)
	n.store.Limits.Clock = func() (time.Time, bool) { return n.now(), true }
	n.leave()
}

// leave gives up what it has.
func (n *prover) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.live {
		n.orphans = append(n.orphans, r.Header.ID)
	}
	n.live = nil
}

func (n *prover) now() time.Time { return time.UnixMilli(n.clock.Load()).UTC().Add(n.off) }

// step does one thing.
func (n *prover) step() {
	n.clock.Add(n.rnd.Int64N(20))
	switch at := n.rnd.IntN(200); {
	case at == 0:
		n.restart()
	case at == 1:
		n.off = time.Duration(n.rnd.Int64N(int64(apart))) // its clock steps
	case at < 6:
		n.faults.Deliver() // what a pause has kept back
	case at < 20:
		n.adopt()
	case at < 90 && len(n.live) < 12:
		n.start()
	case at < 150 && len(n.live) > 0:
		n.finish()
	default:
		n.give(n.line())
	}
}

func (n *prover) line() limit.Line {
	return limit.Line{Limit: []string{"once", "time", "both"}[n.rnd.IntN(3)], Key: []string{"a", "b"}[n.rnd.IntN(2)]}
}

func (n *prover) give(l limit.Line) {
	if _, err := n.store.Limits.Give(n.w.ctx(), l, n.now()); err != nil && !errors.Is(err, db.ErrUnknown) {
		n.w.tb.Error(err)
	}
}

// start makes an instance that waits for a place.
func (n *prover) start() {
	n.n++
	id, l, now := fmt.Sprintf("%s-%d", n.name, n.n), n.line(), n.now()
	b := workflow.Bookmark{ID: workflow.BookmarkID(id, "b"), ActivityID: "call", ActivityType: limit.Type, Name: l.Limit, Hash: hashOf(id), KeepOnResume: true, CreatedAt: now}
	b.Payload = limit.Wait{Line: l, Priority: 4 + n.rnd.Int64N(3), Units: 1 + n.rnd.Int64N(3)}.Payload()
	h := workflow.Instance{ID: id, DefinitionID: "order", Version: 1, Status: workflow.StatusRunning, SubStatus: workflow.Suspended, CreatedAt: now, UpdatedAt: now, Bookmarks: []workflow.Bookmark{b}}
	n.commit(&store.Commit{ID: "c-" + id, After: store.Record{Header: h, Seq: 1}, At: now, Created: h.Bookmarks}, l)
}

// commit sends a commit until its outcome is known, or the node is killed before.
func (n *prover) commit(c *store.Commit, l limit.Line) {
	for {
		done, err := n.store.Instances.Commit(n.w.ctx(), c)
		switch {
		case err == nil:
			if r := c.After; !c.Delete {
				r.Modified = done.Modified
				n.live = append(n.live, &r)
			}
			if len(done.Lines) > 0 {
				n.give(l)
			}
			return
		case errors.Is(err, store.ErrConflict):
			return // a copy that came late, or another node, was faster
		case !errors.Is(err, db.ErrUnknown):
			n.w.tb.Errorf("commit %s: %v", c.ID, err)
			return
		case n.rnd.IntN(20) == 0:
			n.mu.Lock()
			n.orphans = append(n.orphans, c.After.Header.ID)
			n.mu.Unlock()
			return
		}
		n.clock.Add(n.rnd.Int64N(50))
	}
}

// finish deletes one of its instances, the oldest mostly.
func (n *prover) finish() {
	i := 0
	if n.rnd.IntN(5) == 0 {
		i = n.rnd.IntN(len(n.live))
	}
	r := n.live[i]
	n.live = slices.Delete(n.live, i, i+1)
	n.remove(r)
}

func (n *prover) remove(r *store.Record) {
	w, _ := limit.Of(&r.Header.Bookmarks[0])
	c := &store.Commit{ID: fmt.Sprintf("d-%s-%s-%d", n.name, r.Header.ID, r.Modified), Before: r, After: *r, At: n.now(), Delete: true, Burned: r.Header.Bookmarks}
	c.After.Seq++
	n.commit(c, w.Line)
}

// adopt ends an instance whose node has forgotten it.
func (n *prover) adopt() {
	n.mu.Lock()
	var id string
	if len(n.orphans) > 0 {
		id, n.orphans = n.orphans[0], n.orphans[1:]
	}
	n.mu.Unlock()
	if id == "" {
		return
	}
	if r, err := n.store.Reader.Instance(n.w.ctx(), id); err != nil {
		n.mu.Lock()
		n.orphans = append(n.orphans, id)
		n.mu.Unlock()
	} else if r != nil {
		n.remove(r)
	}
}

// end takes all away, without faults: nobody has a place then, and nobody waits.
func (p *proof) end() {
	faults := clustertest.NewFaults(9)
	n := &prover{proof: p, name: "end", faults: faults, client: clustertest.Shared(p.w.tb).Client(p.w.tb), rnd: rand.New(rand.NewPCG(9, 9))}
	n.restart()
	all := p.w.Keys.Instance("")
	for kvs, cursor := []string{"-"}, ""; len(kvs) > 0; {
		resp, err := p.w.raw.Get(p.w.ctx(), all, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1000))
		p.w.ok(err)
		kvs = kvs[:0]
		for _, kv := range resp.Kvs {
			kvs = append(kvs, strings.TrimPrefix(string(kv.Key), all))
		}
		if cursor == strings.Join(kvs, " ") {
			p.w.tb.Fatalf("instances %v do not end", kvs)
		}
		cursor = strings.Join(kvs, " ")
		for _, id := range kvs {
			r, err := n.store.Reader.Instance(p.w.ctx(), record.Decode(id))
			p.w.ok(err)
			if r != nil {
				n.remove(r)
			}
		}
	}
}

// ledger holds each revision against what limits promise.
type ledger struct {
	tb        testing.TB
	keys      record.Keys
	granted   *atomic.Int64
	lines     map[limit.Line]*ledgerLine
	revisions int
	byCommits int
	longest   int
}

// ledgerLine is a line as the history has it.
type ledgerLine struct {
	waiting []string         // the ends of keys, in the order in which they are given places
	since   map[string]int64 // when each of them came
	taken   map[string]bool  // by instance and bookmark
	given   []givenUnits     // in the order of revisions
	head    int64            // when the last place was given
}

type givenUnits struct {
	at    time.Time
	units int64
}

// revision is what one has changed of a line.
type revision struct {
	came, left    []string // in line, by the ends of keys
	granted, back []string // places, by instance and bookmark
	places        []store.Place
}

// readAll reads the history up to the revision that it is told.
func (b *ledger) readAll(events clientv3.WatchChan, until <-chan int64) {
	var last, at int64
	changes, mail := map[limit.Line]*revision{}, map[string]bool{}
	apply := func() {
		if len(changes) > 0 {
			b.revisions++
		}
		for l, r := range changes {
			b.apply(l, r, mail, at)
		}
		clear(changes)
		clear(mail)
	}
	for last == 0 || at < last {
		select {
		case last = <-until:
			if at >= last {
				apply()
				return
			}
		case resp, ok := <-events:
			if !ok || resp.Err() != nil {
				b.tb.Errorf("the history ended: %v", resp.Err())
				return
			}
			for _, e := range resp.Events {
				if e.Kv.ModRevision != at {
					apply()
					at = e.Kv.ModRevision
				}
				b.note(e, changes, mail)
			}
			if !resp.IsProgressNotify() { // a revision is never cut: there is no fragment
				apply()
			}
		}
	}
	apply()
}

// note adds one event to what its revision has changed.
func (b *ledger) note(e *clientv3.Event, changes map[limit.Line]*revision, mail map[string]bool) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(string(e.Kv.Key), b.keys.Root), "/")
	if kind == "mailbox" {
		mail[string(e.Kv.Key)] = e.Type == clientv3.EventTypePut
		return
	}
	if kind != "limit-wait" && kind != "limit-taken" {
		return
	}
	l := record.LineIn(rest)
	r := changes[l]
	if r == nil {
		r = &revision{}
		changes[l] = r
	}
	end := strings.SplitN(rest, "/", 3)[2]
	switch put := e.Type == clientv3.EventTypePut; {
	case kind == "limit-wait" && put:
		r.came = append(r.came, end)
	case kind == "limit-wait":
		r.left = append(r.left, end)
	case put:
		var p store.Place
		if err := db.Decode(e.Kv.Value, &p); err != nil {
			b.tb.Error(err)
		}
		r.granted, r.places = append(r.granted, end), append(r.places, p)
	default:
		r.back = append(r.back, end)
	}
}

// who is whose place in line the end of a key is.
func who(end string) string { return end[strings.IndexByte(end, '/')+1:] }

func (b *ledger) apply(l limit.Line, r *revision, mail map[string]bool, at int64) {
	line := b.lines[l]
	if line == nil {
		line = &ledgerLine{taken: map[string]bool{}, since: map[string]int64{}}
		b.lines[l] = line
	}
	is := provers[l.Limit]
	waited := len(line.waiting)
	line.waiting = slices.DeleteFunc(line.waiting, func(end string) bool {
		return slices.Contains(r.left, end) && !slices.Contains(r.granted, who(end))
	})
	for _, id := range r.granted {
		i := slices.IndexFunc(line.waiting, func(end string) bool { return who(end) == id })
		switch {
		case i < 0 && waited > 0:
			b.tb.Errorf("revision %d: %s takes a place of %v past %d who wait", at, id, l, waited)
		case i < 0:
			b.byCommits++
		}
		// Who gives has looked since the last place of the line was given: who came before that was seen.
		for _, end := range line.waiting[:max(0, i)] {
			if !slices.Contains(r.granted, who(end)) && line.since[end] <= line.head {
				b.tb.Errorf("revision %d: %s is given a place of %v before %s, which came in revision %d", at, id, l, end, line.since[end])
			}
		}
		instance, local, _ := strings.Cut(id, "/")
		if !mail[b.keys.Mail(instance, store.PlaceCommand(workflow.BookmarkID(instance, record.Decode(local))))] {
			b.tb.Errorf("revision %d: %s has a place of %v, and nobody tells it", at, id, l)
		}
	}
	line.waiting = slices.DeleteFunc(line.waiting, func(end string) bool { return slices.Contains(r.granted, who(end)) })
	for _, end := range r.came {
		line.since[end] = at
	}
	if len(r.granted) > 0 {
		line.head = at
	}
	line.waiting = append(line.waiting, r.came...)
	slices.Sort(line.waiting)
	b.longest = max(b.longest, len(line.waiting))
	for _, id := range r.granted {
		if line.taken[id] {
			b.tb.Errorf("revision %d: %s is given a place of %v twice", at, id, l)
		}
		line.taken[id] = true
	}
	for _, id := range r.back {
		delete(line.taken, id)
	}
	if is.Most != limit.AnyNumber && int64(len(line.taken)) > is.Most {
		b.tb.Errorf("revision %d: %d have a place of %v, of %d", at, len(line.taken), l, is.Most)
	}
	for i := range r.places {
		line.given = append(line.given, givenUnits{r.places[i].Given, r.places[i].Amount()})
	}
	b.granted.Add(int64(len(r.granted)))
}

// windows holds that with each grant no more units are out than the limit has: those that were given less than its time ago, by the clock of
// who gives, less what clocks differ.
func (b *ledger) windows() {
	for l, line := range b.lines {
		r := provers[l.Limit].Rate
		if r == nil {
			continue
		}
		for i, g := range line.given {
			out := g.units
			for _, before := range slices.Backward(line.given[:i]) {
				if g.at.Sub(before.at) > 10*r.Per {
					break
				}
				if g.at.Sub(before.at) < r.Per-apart {
					out += before.units
				}
			}
			if out > r.Units {
				b.tb.Errorf("%v: %d units are out with the grant at %v, of %s", l, out, g.at, r)
			}
		}
	}
}
