package etcdstore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

var cards = limit.Line{Limit: "cards", Key: "acme"}

// placeFor is a bookmark of an instance that waits for a place.
func (w *world) placeFor(id, local string, priority int64) workflow.Bookmark {
	b := w.bookmark(id, local, "place of "+id)
	b.ActivityType, b.ActivityID, b.Name, b.KeepOnResume = limit.Type, "call", cards.Limit, true
	b.Payload = limit.Wait{Line: cards, Priority: priority}.Payload()
	return b
}

// inLine makes an instance that waits for a place.
func (w *world) inLine(id string, priority int64) *store.Record {
	w.tb.Helper()
	w.commit(w.first(id, nil, w.placeFor(id, "b", priority)))
	return w.record(id)
}

func (w *world) setLimit(most int64) {
	w.tb.Helper()
	was, err := w.Limits.Get(w.ctx(), cards.Limit)
	w.ok(err)
	var at int64
	if was != nil {
		at = was.Modified
	}
	w.did(true)(w.Limits.Set(w.ctx(), store.Limit{Name: cards.Limit, Most: most, At: w.now}, at))
}

// gives gives places, and tells who has got one.
func (w *world) gives() string {
	w.tb.Helper()
	gave, err := w.Limits.Give(w.ctx(), cards, w.now)
	w.ok(err)
	return strings.Join(gave.Woken, " ")
}

// taken is how many have a place.
func (w *world) taken() int { return w.has("limit-taken/") }

// Places are given by priority, and then by who came first, as many as there are. Who ends gives its place back with its
// commit, and who is deleted or waits no more leaves the line.
func TestPlacesAreGivenInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, p := range []int64{5, 5, 9, 5, 0} {
		w.now = w.now.Add(time.Second)
		w.inLine(fmt.Sprint("i", i), p)
	}
	if got := w.gives(); got != "" || w.taken() != 0 {
		t.Errorf("without a limit %q got a place", got)
	}
	w.setLimit(2)
	if got := w.gives(); got != "i2 i0" {
		t.Errorf("got places: %q", got)
	}
	if got := w.gives(); got != "" || w.taken() != 2 {
		t.Errorf("%q got a place of %d", got, w.taken())
	}
	if m := w.mailOf("i2"); len(m) != 1 || m[0].Command.Bookmark != "i2~b" || m[0].Command.ID != store.PlaceCommand("i2~b") || !m[0].Command.Timer {
		t.Errorf("mail %+v", m)
	}
	w.remove("i2") // its mail was not worked: the place goes with it
	w.burn("i1")
	if got := w.gives(); got != "i3" || w.taken() != 2 {
		t.Errorf("%q got the place that is free, %d are taken", got, w.taken())
	}
	w.commit(ends(w.next("i0", nil)))
	w.burn("i3")
	if got := w.gives(); got != "i4" || w.taken() != 1 {
		t.Errorf("%q got the place that is free, %d are taken", got, w.taken())
	}
	w.burn("i4")
	w.want("limit-wait/", 0)
	w.want("limit-taken/", 0)
}

// A commit that is wide ends at its decision, and its place is there until its pages are written: so long it counts.
func TestThePlaceOfAWideCommitCountsUntilItIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(1)
	w.inLine("wide", 5)
	w.gives()
	w.commit(commits.Decide(ends(w.next("wide", nil))))
	w.inLine("next", 5)
	if w.taken() != 1 {
		t.Fatalf("%d have a place of 1", w.taken())
	}
	lines, err := w.WriteIndex(w.ctx(), nil, w.record("wide"))
	w.ok(err)
	if len(lines) != 1 || lines[0] != cards {
		t.Errorf("somebody may be given a place at %v", lines)
	}
	if got := w.gives(); got != "next" || w.taken() != 1 {
		t.Errorf("%q got the place that is free, %d are taken", got, w.taken())
	}
}

// An instance that is removed as it is tells of its place, also a wide one, and one that nobody can read.
func TestARemovalTellsOfItsPlace(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *world){
		"read":    func(*world) {},
		"damaged": func(w *world) { w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Instance("a"), "{"))) },
		"wide":    func(w *world) { w.Width.Ops = 1; w.commit(commits.Decide(ends(w.next("a", nil)))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setLimit(1)
			w.inLine("a", 5)
			w.gives()
			spoil(w)
			lines, err := w.Remove(w.ctx(), w.lock("a", "me"), "a", w.now)
			w.ok(err)
			if len(lines) != 1 || lines[0] != cards || w.taken() != 0 {
				t.Errorf("somebody may be given a place at %v, %d have one", lines, w.taken())
			}
		})
	}
}

// A limit that is set to less than what is taken takes nothing away, and gives nobody more.
func TestALimitThatIsSetToLess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(3)
	for i := range 5 {
		w.now = w.now.Add(time.Second)
		w.inLine(fmt.Sprint("i", i), 5)
	}
	w.gives()
	w.setLimit(1)
	for i, want := range []int{2, 1, 1} {
		w.burn(fmt.Sprint("i", i))
		if w.gives(); w.taken() != want {
			t.Errorf("after %d went, %d have a place, want %d", i+1, w.taken(), want)
		}
	}
	w.setLimit(0)
	w.burn("i3")
	if got := w.gives(); got != "" || w.taken() != 0 {
		t.Errorf("%q got a place of a limit of 0", got)
	}
}

// Many who give at once, and commits that take by themselves, give no place too many.
func TestNoPlaceIsGivenTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := New(Config{Client: w.raw, Root: w.Keys.Root})
	w.ok(err)
	w.setLimit(3)
	const many = 24
	var wg sync.WaitGroup
	stop := make(chan struct{})
	most := 0
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if n := w.taken(); n > most {
					most = n
				}
			}
		}
	})
	var givers sync.WaitGroup
	for i := range many {
		id := fmt.Sprint("i", i)
		by := []*Store{w.Store, other}[i%2]
		c := w.first(id, nil, w.placeFor(id, "b", 5))
		givers.Go(func() {
			if _, err := by.Instances.Commit(w.ctx(), c); err != nil {
				t.Error(err)
			}
			for range 3 {
				if _, err := by.Limits.Give(w.ctx(), cards, w.now); err != nil && !errors.Is(err, db.ErrUnknown) {
					t.Error(err)
				}
			}
		})
	}
	givers.Wait()
	close(stop)
	wg.Wait()
	if most > 3 || w.taken() != 3 || w.has("limit-wait/") != many-3 {
		t.Errorf("%d had a place at once, %d have one, %d wait", most, w.taken(), w.has("limit-wait/"))
	}
}

// A commit takes a free place by itself where its node knows the line, and nobody waits; its owner gets the command that says so.
func TestACommitTakesAPlaceByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(2)
	w.inLine("a", 5)
	w.want("limit-wait/", 1) // the node knows nothing of the limit yet
	if w.gives(); w.taken() != 1 {
		t.Fatal("no place was given")
	}
	w.burn("a")
	f := w.lock("b", "me")
	c := w.first("b", f, w.placeFor("b", "b", 5))
	c.Release = true
	got := w.commit(c)
	if w.taken() != 1 || got.Kept == nil || len(got.Kept.Mail) != 1 || got.Kept.Mail[0].Command.ID != store.PlaceCommand("b~b") || len(got.Lines) != 0 {
		t.Errorf("%d have a place; %+v", w.taken(), got)
	}
	w.inLine("c", 5)
	if w.taken() != 2 {
		t.Errorf("%d have a place", w.taken())
	}
	w.inLine("d", 5) // none is free
	w.want("limit-wait/", 1)
	w.burn("b")
	w.inLine("e", 5) // somebody waits
	w.want("limit-wait/", 2)
	if got := w.gives(); got != "d" {
		t.Errorf("%q got the place", got)
	}
	w.setLimit(0) // of which the node does not know
	w.burn("c")
	w.burn("d")
	w.inLine("f", 5)
	if w.taken() != 0 {
		t.Errorf("%d have a place of a limit of 0", w.taken())
	}
}

// Two of one commit do not both take the place that is free.
func TestACommitTakesOnePlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(1)
	w.inLine("a", 5)
	w.gives()
	w.burn("a")
	c := w.first("b", nil, w.placeFor("b", "1", 5), w.placeFor("b", "2", 5))
	got := w.commit(c)
	if w.taken() != 1 || w.has("limit-wait/") != 1 || len(got.Lines) != 1 {
		t.Errorf("%d have a place, %d wait, %v", w.taken(), w.has("limit-wait/"), got.Lines)
	}
}

// given is the commit after which the body runs.
func (w *world) given(id string) *store.Commit {
	w.tb.Helper()
	c := w.next(id, nil)
	h := w.placeFor(id, "h", 5)
	h.Payload, h.Hash = limit.Given(id+"~b"), hashOf("h")
	c.After.Header.Bookmarks = append(c.After.Header.Bookmarks, h)
	c.Created = []workflow.Bookmark{h}
	return c
}

// A body runs with its place only: a commit that goes on without is not made, and is made once the place was given.
func TestABodyRunsWithItsPlaceOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(1)
	w.inLine("a", 5)
	c := w.given("a")
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatalf("%v, want that it is sent again", err)
	}
	w.gives()
	w.commit(c)
	brought := w.first("b", nil, w.placeFor("b", "b", 5))
	h := w.placeFor("b", "h", 5)
	h.Payload, h.Hash = limit.Given("b~b"), hashOf("h")
	brought.After.Header.Bookmarks = append(brought.After.Header.Bookmarks, h)
	brought.Created = append(brought.Created, h)
	var gated *store.GatedError
	if _, err := w.Commit(w.ctx(), brought); !errors.As(err, &gated) || !strings.Contains(err.Error(), "cannot be imported") {
		t.Errorf("an import that brings its place: %v", err)
	}
	w.want("instance/b", 0)
}

// The head of a line goes when nobody has a place, and stays while somebody has.
func TestHeadsOfEmptyLinesGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(1)
	w.inLine("a", 5)
	w.gives()
	stand := func() *Stand {
		limits, err := w.Limits.List(w.ctx())
		w.ok(err)
		all, err := w.Limits.Stands(w.ctx(), cards.Limit, limits...)
		w.ok(err)
		return all[cards]
	}
	s := stand()
	if s.Taken != 1 || s.Waiting != 0 || s.Head == 0 || s.Is == nil || s.Is.Most != 1 {
		t.Errorf("%+v", s)
	}
	w.ok(w.Limits.DropHeads(w.ctx(), []*Stand{s}))
	w.want("limit-head/", 1)
	w.burn("a")
	w.ok(w.Limits.DropHeads(w.ctx(), []*Stand{s}))
	w.want("limit-head/", 0)
}

// Each key that does not fit the others is told, and put right.
func TestFsckOfLimits(t *testing.T) {
	t.Parallel()
	for rule, spoil := range map[string]func(w *world){
		"place-missing": func(w *world) { w.del(w.Keys.Limits.Place(cards, "a~b")) },
		"place-twice": func(w *world) {
			b := w.record("a").Header.Bookmarks[0]
			wait, _ := limit.Of(&b)
			w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Limits.Wait(wait, &b), "{}")))
		},
		"place-outdated":    func(w *world) { w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Limits.Place(cards, "gone~b"), "{}"))) },
		"line-without-head": func(w *world) { w.del(w.Keys.Limits.Head(cards)) },
		"damaged ":          func(w *world) { w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Limits.Settlement(cards, "a", 1), "{"))) },
		"damaged":           func(w *world) { w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Limits.Limit("other"), "{"))) },
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setLimit(1)
			w.inLine("a", 5)
			w.gives()
			if check := w.fsck(); len(check.Findings) > 0 {
				t.Fatalf("before: %+v", check.Findings)
			}
			spoil(w)
			if got := rules(w.fsck()); len(got) != 1 || got[0] != strings.TrimSpace(rule) {
				t.Errorf("found %v", got)
			}
			if done := w.repaired(); len(done.Check.Findings) > 0 {
				t.Errorf("left %+v", done.Check.Findings)
			}
		})
	}
}

// Where somebody stands, and who is before, is told.
func TestThePositionInALine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setLimit(1)
	for i := range 3 {
		w.now = w.now.Add(time.Second)
		w.inLine(fmt.Sprint("i", i), 5)
	}
	w.gives()
	b := w.record("i2").Header.Bookmarks[0]
	at, err := w.Limits.PositionOf(w.ctx(), &b)
	w.ok(err)
	if at == nil || at.Ahead != 1 || at.Waiting != 2 || at.Taken != 1 || at.Limit == nil || at.Limit.Most != 1 || at.Has || len(at.By) != 1 || at.By[0].Instance != "i0" {
		t.Errorf("%+v", at)
	}
}

// A grant that was counted before another one gives nothing when it comes late: the head of the line has moved, or the limit has.
func TestAGrantThatComesLateGivesNothing(t *testing.T) {
	t.Parallel()
	for name, moves := range map[string]func(w *world){
		"another was given the place": func(w *world) { w.inLine("b", 9); w.gives() },
		"the limit was set to less":   func(w *world) { w.setLimit(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setLimit(1)
			w.inLine("a", 5)
			w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
			if _, err := w.Limits.Give(w.ctx(), cards, w.now); !errors.Is(err, db.ErrUnknown) {
				t.Fatalf("error %v, want unknown", err)
			}
			moves(w)
			want := w.taken()
			if n := w.faults.Deliver(); n != 1 || w.taken() != want || w.value(w.Keys.Limits.Place(cards, "a~b")) != nil {
				t.Errorf("%d came late, %d have a place, want %d", n, w.taken(), want)
			}
		})
	}
}

// What a node knows of a line may be old: a commit takes no place that another node gave, and passes nobody who waits.
func TestACommitTakesNoPlaceThatAnotherGave(t *testing.T) {
	t.Parallel()
	for name, moves := range map[string]func(w *world, other *Store){
		"another was given it": func(w *world, other *Store) {
			_, err := other.Instances.Commit(w.ctx(), w.first("x", nil, w.placeFor("x", "b", 5)))
			w.ok(err)
			_, err = other.Limits.Give(w.ctx(), cards, w.now)
			w.ok(err)
		},
		"another waits": func(w *world, other *Store) {
			_, err := other.Instances.Commit(w.ctx(), w.first("x", nil, w.placeFor("x", "b", 5)))
			w.ok(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			other, err := New(Config{Client: w.raw, Root: w.Keys.Root})
			w.ok(err)
			w.setLimit(1)
			w.inLine("a", 5)
			w.gives()
			w.burn("a")
			moves(w, other)
			want := w.taken()
			if w.inLine("b", 5); w.taken() != want || w.value(w.Keys.Limits.Place(cards, "b~b")) != nil {
				t.Errorf("%d have a place, want %d", w.taken(), want)
			}
		})
	}
}

// setRate sets how many units may be taken in a time.
func (w *world) setRate(most int64, r limit.Rate) {
	w.tb.Helper()
	was, err := w.Limits.Get(w.ctx(), cards.Limit)
	w.ok(err)
	var at int64
	if was != nil {
		at = was.Modified
	}
	w.did(true)(w.Limits.Set(w.ctx(), store.Limit{Name: cards.Limit, Most: most, Rate: &r, At: w.now}, at))
}

// wanting makes an instance wait for so many units.
func (w *world) wanting(id string, units int64) {
	w.tb.Helper()
	w.commit(w.first(id, nil, w.unitsFor(id, units)))
}

func (w *world) unitsFor(id string, units int64) workflow.Bookmark {
	b := w.placeFor(id, "b", 5)
	b.Payload = limit.Wait{Line: cards, Priority: 5, Units: units}.Payload()
	return b
}

// Of a limit per time so many are given a place as it has units, however soon they give them back, and more when units come;
// both kinds hold at once.
func TestPlacesPerTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setRate(limit.AnyNumber, limit.Rate{Units: 2, Per: time.Minute})
	for i := range 5 {
		w.now = w.now.Add(time.Millisecond)
		w.inLine(fmt.Sprint("i", i), 5)
	}
	gave, err := w.Limits.Give(w.ctx(), cards, w.now)
	w.ok(err)
	first := w.now
	if got := strings.Join(gave.Woken, " "); got != "i0 i1" || !gave.Next.Equal(first.Truncate(time.Millisecond).Add(time.Minute)) {
		t.Errorf("%q got places, and the next come at %v", got, gave.Next)
	}
	w.burn("i0")
	w.burn("i1")
	if got := w.gives(); got != "" {
		t.Errorf("%q got a place of no unit", got)
	}
	w.now = first.Add(time.Minute - 2*time.Millisecond)
	if got := w.gives(); got != "" {
		t.Errorf("%q got a place early", got)
	}
	w.setRate(1, limit.Rate{Units: 2, Per: time.Minute})
	w.now = first.Add(time.Minute)
	if got := w.gives(); got != "i2" || w.taken() != 1 {
		t.Errorf("%q got a place of one at once", got)
	}
	w.burn("i2")
	if got := w.gives(); got != "i3" {
		t.Errorf("%q got the place that is free", got)
	}
	w.burn("i3")
	if got := w.gives(); got != "" {
		t.Errorf("%q got a place of no unit", got)
	}
	limits, err := w.Limits.List(w.ctx())
	w.ok(err)
	all, err := w.Limits.Stands(w.ctx(), cards.Limit, limits...)
	w.ok(err)
	s := all[cards]
	if next := s.Next(w.now); s.Free(w.now) || s.Empty(w.now) || s.Waiting != 1 || !next.Equal(w.now.Truncate(time.Millisecond).Add(time.Minute)) || !s.Free(next) {
		t.Errorf("%+v, and the next comes at %v", s, next)
	}
	w.burn("i4")
	all, err = w.Limits.Stands(w.ctx(), cards.Limit, limits...)
	w.ok(err)
	if s := all[cards]; s.Empty(w.now.Add(time.Minute)) || !s.Empty(w.now.Add(3*time.Minute)) {
		t.Errorf("the head of a line is of no use after %v", s.Bucket)
	}
}

// Who wants several units waits until there are so many, and those behind with it; who wants more than there ever are is told.
func TestUnitsOfALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setRate(limit.AnyNumber, limit.Rate{Units: 10})
	for i, units := range []int64{6, 5, 3, 11} {
		w.now = w.now.Add(time.Second)
		w.wanting(fmt.Sprint("i", i), units)
	}
	if got := w.gives(); got != "i0" || w.taken() != 1 {
		t.Errorf("%q got places of 10 units", got)
	}
	w.setRate(limit.AnyNumber, limit.Rate{Units: 12})
	if got := w.gives(); got != "i1" {
		t.Errorf("%q got places of 12 units, of which 6 were taken", got)
	}
	w.setRate(limit.AnyNumber, limit.Rate{Units: 10})
	w.burn("i2")
	if got := w.gives(); got != "i3" || w.taken() != 2 || w.has("limit-wait/") != 0 {
		t.Errorf("%q was told", got)
	}
	m := w.mailOf("i3")
	if len(m) != 1 || !strings.Contains(limit.GrantIn(m[0].Command.Input).Refused, "11 units of limit cards, which has 10 in all") {
		t.Errorf("mail %+v", m)
	}
	if at := limit.GrantIn(w.mailOf("i0")[0].Command.Input); at.Refused != "" {
		t.Errorf("granted %+v", at)
	}
}

// A commit takes a place of a limit per time by itself, with units that are there by a clock that is to be trusted, and no other way.
func TestACommitTakesUnits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sure := true
	w.Limits.Clock = func() (time.Time, bool) { return w.now, sure }
	w.setRate(limit.AnyNumber, limit.Rate{Units: 3, Per: time.Minute})
	w.inLine("a", 5)
	w.gives()
	w.inLine("b", 5)
	if w.taken() != 2 || w.has("limit-wait/") != 0 {
		t.Fatalf("%d have a place, %d wait", w.taken(), w.has("limit-wait/"))
	}
	if at := limit.GrantIn(w.mailOf("b")[0].Command.Input).At; at != w.now.UnixMilli() {
		t.Errorf("its unit stands under %d", at)
	}
	w.now = w.now.Add(time.Second)
	sure = false
	w.inLine("c", 5)
	gave, err := w.Limits.Give(w.ctx(), cards, w.now)
	w.ok(err)
	if w.taken() != 2 || !gave.Next.Equal(w.now.Add(2*time.Second)) {
		t.Errorf("by a clock that is off %d have a place; it looks again at %v", w.taken(), gave.Next)
	}
	sure = true
	w.gives()
	w.inLine("d", 5) // none is left
	if w.taken() != 3 || w.has("limit-wait/") != 1 {
		t.Errorf("%d have a place of 3 units, %d wait", w.taken(), w.has("limit-wait/"))
	}
	w.now = w.now.Add(time.Hour)
	w.gives()
	w.inLine("e", 5)
	w.inLine("f", 5)
	w.inLine("g", 5)
	if w.taken() != 6 || w.has("limit-wait/") != 1 {
		t.Errorf("an hour later %d have a place, %d wait", w.taken(), w.has("limit-wait/"))
	}
}

// Who left between the look and the grant takes no unit with it.
func TestNoUnitIsTakenForNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setRate(limit.AnyNumber, limit.Rate{Units: 1})
	w.inLine("a", 5)
	w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
	if _, err := w.Limits.Give(w.ctx(), cards, w.now); !errors.Is(err, db.ErrUnknown) {
		t.Fatalf("error %v, want unknown", err)
	}
	w.burn("a")
	w.faults.Deliver()
	w.now = w.now.Add(time.Second)
	w.inLine("b", 5)
	if got := w.gives(); got != "b" {
		t.Errorf("%q got the unit", got)
	}
}

// says is a commit of an instance with such a line in its journal.
func (w *world) says(id string, line workflow.JournalItem) {
	w.tb.Helper()
	c := w.next(id, nil)
	line.Sequence, line.Time, line.ActivityID, line.ActivityType = c.After.Seq, w.now, "call", limit.Type
	c.Journal = []workflow.JournalItem{line}
	done := w.commit(c)
	if len(done.Lines) != 1 || done.Lines[0] != cards {
		w.tb.Errorf("somebody may be given a place at %v", done.Lines)
	}
}

// units are how many are free.
func (w *world) units() int64 {
	w.tb.Helper()
	limits, err := w.Limits.List(w.ctx())
	w.ok(err)
	all, err := w.Limits.Stands(w.ctx(), cards.Limit, limits...)
	w.ok(err)
	return all[cards].Bucket.Free(*limits[0].Rate, w.now)
}

// What was used is settled once: less than was reserved lets others have it, more is a debt, and nobody takes a place
// before that counts.
func TestUnitsAreSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Limits.Clock = func() (time.Time, bool) { return w.now, true }
	w.setRate(limit.AnyNumber, limit.Rate{Units: 100, Per: time.Minute})
	w.wanting("a", 60)
	w.wanting("b", 60)
	if got := w.gives(); got != "a" || w.units() != 40 {
		t.Fatalf("%q got a place, %d are left", got, w.units())
	}
	at := limit.GrantIn(w.mailOf("a")[0].Command.Input).At
	w.says("a", limitSettled(60, 10, at))
	w.want("limit-settle/", 1)
	w.burn("b")
	w.inLine("c", 5)
	if w.taken() != 1 {
		t.Error("a commit took a place while something was to be settled")
	}
	w.burn("c")
	w.gives()
	if w.want("limit-settle/", 0); w.units() != 90 {
		t.Errorf("%d are left of 100, of which 10 were used", w.units())
	}
	w.says("a", limitSettled(10, 310, at))
	w.gives()
	w.gives()
	if w.units() != -210 {
		t.Errorf("%d are left after 310 were used", w.units())
	}
	w.inLine("d", 5)
	gave, err := w.Limits.Give(w.ctx(), cards, w.now)
	w.ok(err)
	if wait := gave.Next.Sub(w.now); len(gave.Woken) != 0 || wait < 2*time.Minute || wait > 4*time.Minute {
		t.Errorf("%v got a place of a debt, and the next comes after %v", gave.Woken, wait)
	}
}

func limitSettled(units, used, at int64) (line workflow.JournalItem) {
	line.Event, line.Text, line.Data = anyData(limit.Settled(cards, limit.Settlement{At: at, Units: units, Used: used}))
	return line
}

func limitHeld(now time.Time, wait time.Duration) (line workflow.JournalItem) {
	line.Event, line.Text, line.Data = anyData(limit.Held(cards, now, wait))
	return line
}

func anyData(event, text string, data map[string]any) (string, string, any) { return event, text, data }

// While a service asks to wait nobody is given a place, also of a limit of so many at once, and also when that is set anew or not yet.
func TestAServiceThatAsksToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Limits.Clock = func() (time.Time, bool) { return w.now, true }
	w.setLimit(3)
	w.inLine("a", 5)
	w.gives()
	w.says("a", limitHeld(w.now, 2*time.Minute))
	w.inLine("b", 5)
	gave, err := w.Limits.Give(w.ctx(), cards, w.now)
	w.ok(err)
	until := w.now.Truncate(time.Millisecond).Add(2 * time.Minute)
	if len(gave.Woken) != 0 || !gave.Next.Equal(until) || w.has("limit-settle/") != 0 {
		t.Errorf("%v got a place, and the next comes at %v", gave.Woken, gave.Next)
	}
	w.setLimit(4)
	w.inLine("c", 5)
	if w.gives(); w.taken() != 1 {
		t.Errorf("%d have a place", w.taken())
	}
	b := w.record("c").Header.Bookmarks[0]
	at, err := w.Limits.PositionOf(w.ctx(), &b)
	w.ok(err)
	if !at.Bucket.Hold.Equal(until) || !at.Next(w.now).Equal(until) {
		t.Errorf("it is held until %v", at.Bucket.Hold)
	}
	w.now = until
	if got := w.gives(); got != "b c" {
		t.Errorf("%q got a place", got)
	}
}

// What is to be settled with a limit that is not there is taken away, and settles nothing.
func TestASettlementOfNoLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inLine("a", 5)
	w.says("a", limitSettled(1, 7, 0))
	w.gives()
	w.want("limit-settle/", 0)
	w.setRate(1, limit.Rate{Units: 1})
	if got := w.gives(); got != "a" {
		t.Errorf("%q got the place", got)
	}
}
