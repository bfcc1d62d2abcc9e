package signout_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/people/signout"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }

// nodes share a list in etcd.
type nodes struct {
	t      *testing.T
	root   string
	faults *clustertest.Faults
	off    atomic.Int64 // by how much the clock is on, in ns
}

func newNodes(t *testing.T) *nodes {
	t.Helper()
	return &nodes{t: t, root: "/weft/" + clustertest.Namespace(t) + "/", faults: clustertest.NewFaults(1)}
}

func (n *nodes) now() time.Time { return time.Now().Add(time.Duration(n.off.Load())) }

// stopped is the list of a node that does not run yet; run begins it.
func (n *nodes) stopped() (*signout.List, func()) { return n.stoppedAt(n.now) }

// stoppedAt is stopped, of a node with a clock of its own.
func (n *nodes) stoppedAt(now func() time.Time) (*signout.List, func()) {
	n.t.Helper()
	s, err := etcdstore.New(etcdstore.Config{Client: n.faults.Wrap(clustertest.Shared(n.t).Client(n.t)), Root: n.root, Timeout: time.Second})
	if err != nil {
		n.t.Fatal(err)
	}
	list, err := signout.New(signout.Config{Store: s.SignOuts, Sweep: 200 * time.Millisecond, First: 100 * time.Millisecond, Now: now})
	if err != nil {
		n.t.Fatal(err)
	}
	return list, func() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- list.Run(ctx) }()
		n.t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				n.t.Error(err)
			}
		})
	}
}

func (n *nodes) start() *signout.List { return n.startAt(n.now) }

func (n *nodes) startAt(now func() time.Time) *signout.List {
	n.t.Helper()
	list, run := n.stoppedAt(now)
	run()
	polltest.Eventually(n.t, "the list is read", func() bool {
		_, err := list.Ended(n.t.Context(), signout.Session{ID: "x", Who: "nobody", Began: n.now()})
		return err == nil
	})
	return list
}

func (n *nodes) session(id, who string) signout.Session {
	return signout.Session{ID: id, Who: who, Began: n.now(), Ends: n.now().Add(12 * time.Hour)}
}

// is tells whether a session has ended on a node that knows.
func (n *nodes) is(list *signout.List, s signout.Session) bool {
	n.t.Helper()
	ended, err := list.Ended(n.t.Context(), s)
	if err != nil {
		n.t.Fatal(err)
	}
	return ended
}

func TestWhoSignedOutIsRefusedOnEveryNode(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	one, two := n.start(), n.start()
	mine, other, theirs := n.session("mine", "key:a"), n.session("other", "key:a"), n.session("theirs", "key:b")
	if n.is(one, mine) || n.is(two, mine) {
		t.Fatal("it has ended before anybody ended it")
	}
	if err := one.End(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if !n.is(one, mine) {
		t.Error("the node that ended it takes it")
	}
	three := n.start() // it is durable once it is answered, and not with a look some time later
	if !n.is(three, mine) {
		t.Error("a node that starts takes it")
	}
	polltest.Eventually(t, "the other node refuses it", func() bool { return n.is(two, mine) })
	impostor := mine
	impostor.Who = "key:b"
	for _, list := range []*signout.List{one, two, three} {
		if n.is(list, other) || n.is(list, theirs) || n.is(list, impostor) {
			t.Error("others have ended with it")
		}
	}

	if err := two.EndAll(t.Context(), other, 12*time.Hour); err != nil {
		t.Fatal(err)
	}
	n.off.Add(int64(time.Second))
	later := n.session("later", "key:a") // of a program that does not say behind what it began
	for _, list := range []*signout.List{one, two, three} {
		polltest.Eventually(t, "all of a person have ended", func() bool { return n.is(list, other) })
		if n.is(list, later) || n.is(list, theirs) {
			t.Error("one that began later, or of somebody else, has ended")
		}
	}
	// One without an id, of a program that gave none, ends with all of its person.
	if err := one.End(t.Context(), signout.Session{Who: "key:b", Began: theirs.Began, Ends: theirs.Ends}); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it has ended", func() bool { return n.is(two, theirs) })
}

// Clocks of nodes differ: what began before an end of all of its person's was heard of ends with
// it, what begins behind it counts, and the next end ends that too; wherever each of them was.
func TestAllOfAPersonEndWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{0, 20 * time.Minute, -20 * time.Minute} {
		n := newNodes(t)
		other := func() time.Time { return n.now().Add(off) }
		clocks := []func() time.Time{n.now, other}
		lists := []*signout.List{n.start(), n.startAt(other)}
		begun := 0
		begin := func(at int) signout.Session {
			begun++
			now := clocks[at]()
			return signout.Session{ID: fmt.Sprint(begun), Who: "key:a", Began: now, Ends: now.Add(12 * time.Hour), Since: lists[at].Since("key:a")}
		}
		theirs := signout.Session{ID: "theirs", Who: "key:b", Began: n.now(), Ends: n.now().Add(12 * time.Hour), Since: lists[0].Since("key:b")}
		var over []signout.Session
		for _, ends := range []int{0, 1, 0, 0, 1, 1} {
			now := []signout.Session{begin(0), begin(1), begin(ends)}
			for at, list := range lists {
				for _, s := range now {
					if n.is(list, s) {
						t.Fatalf("%s apart: node %d refuses session %s, which has just begun", off, at, s.ID)
					}
				}
			}
			if err := lists[ends].EndAll(t.Context(), now[2], 12*time.Hour); err != nil {
				t.Fatal(err)
			}
			over = append(over, now...)
			for at, list := range lists {
				for _, s := range over {
					polltest.Eventually(t, fmt.Sprintf("%s apart: node %d refuses session %s, as node %d ended all", off, at, s.ID, ends), func() bool { return n.is(list, s) })
				}
				if n.is(list, theirs) {
					t.Errorf("%s apart: node %d refuses who is another person", off, at)
				}
			}
		}
	}
}

// An end of all that this node has not heard of ends a session that it begins, and so does the
// next one at a node that has not heard of the session's: it is told with it.
func TestAnEndOfAllIsBehindTheSessionThatAsksForIt(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	behind, _ := n.stoppedAt(func() time.Time { return n.now().Add(-time.Hour) }) // it hears of nothing
	one := n.start()
	first := n.session("first", "key:a")
	first.Since = one.Since("key:a")
	if err := one.EndAll(t.Context(), first, 12*time.Hour); err != nil {
		t.Fatal(err)
	}
	second := n.session("second", "key:a")
	second.Since = one.Since("key:a")
	unheard := n.session("unheard", "key:a")
	unheard.Since = behind.Since("key:a")
	if n.is(one, second) || !n.is(one, unheard) {
		t.Error("what began behind the end is refused, or what began before it was heard of is not")
	}
	if err := behind.EndAll(t.Context(), second, 12*time.Hour); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it has ended", func() bool { return n.is(one, second) })
}

func TestWhatIsOverIsForgotten(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	one := n.start()
	s := n.session("s", "key:a")
	if err := one.End(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		kept, err := clustertest.Shared(t).Client(t).Get(t.Context(), n.root+"signed-out/", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		return len(kept.Kvs)
	}
	n.off.Store(int64(12*time.Hour + 50*time.Minute)) // the session is over, also by a clock that is behind
	polltest.Eventually(t, "a look was made", func() bool { return n.faults.Calls("get") > 5 })
	if left() != 1 {
		t.Fatal("it was forgotten while a clock that is behind may take the session")
	}
	n.off.Store(int64(13*time.Hour + time.Minute))
	polltest.Eventually(t, "it is forgotten", func() bool { return left() == 0 })
	polltest.Eventually(t, "by the node too", func() bool { return !n.is(one, s) })
}

// A node that does not know yet answers nobody.
func TestANodeThatDoesNotKnowSaysSo(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	list, run := n.stopped()
	if _, err := list.Ended(t.Context(), n.session("s", "key:a")); !errors.Is(err, signout.ErrNotKnown) {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := list.Ended(gone, n.session("s", "key:a")); !errors.Is(err, signout.ErrNotKnown) {
		t.Errorf("%v", err)
	}
	run()
	polltest.Eventually(t, "it knows", func() bool {
		_, err := list.Ended(t.Context(), n.session("s", "key:a"))
		return err == nil
	})
}

// What etcd did not take is refused here, said, and told to the others when etcd is back.
func TestASignOutIsToldWhenEtcdIsBack(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	one, two := n.start(), n.start()
	away := n.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool { return c.Op == "txn" && c.PutsUnder(n.root+"signed-out/") }})
	s := n.session("s", "key:a")
	if err := one.End(t.Context(), s); err == nil {
		t.Error("nothing was said")
	}
	before := away.Fired()
	polltest.Eventually(t, "it is tried again", func() bool { return away.Fired() > before+1 })
	if !n.is(one, s) || n.is(two, s) {
		t.Error("the node that ended it takes it, or the other one knows")
	}
	away.Disarm()
	polltest.Eventually(t, "the other node refuses it", func() bool { return n.is(two, s) })
}

// Who signs in and out all day makes no more entries than one a minute.
func TestAPersonsListIsBounded(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	one := n.start()
	for i := range signout.MostOfOne + 200 {
		if err := one.End(t.Context(), n.session(fmt.Sprint(i), "key:a")); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := clustertest.Shared(t).Client(t).Get(t.Context(), n.root+"signed-out/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(kept.Kvs); got < signout.MostOfOne || got > signout.MostOfOne+10 {
		t.Errorf("%d entries", got)
	}
	two := n.start()
	for _, id := range []string{"0", "999", "1100"} {
		if !n.is(two, signout.Session{ID: id, Who: "key:a", Began: n.now().Add(-time.Minute)}) {
			t.Errorf("session %s counts", id)
		}
	}
}

// An end of all by a node whose clock is ahead refuses nobody for longer than a minute who has ended
// as many sessions as are kept; that minute stays between two entries at least.
func TestWhoEndedManySessionsWaitsForAMinuteWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	one, ahead := n.start(), n.startAt(func() time.Time { return n.now().Add(3 * time.Hour) })
	begin := func(id string) signout.Session {
		s := n.session(id, "key:a")
		s.Since = one.Since("key:a")
		return s
	}
	first := begin("first")
	if err := ahead.EndAll(t.Context(), first, 12*time.Hour); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it is heard of", func() bool { return n.is(one, first) })
	for i := range signout.MostOfOne {
		if err := one.End(t.Context(), begin(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		n.off.Add(int64(61 * time.Second))
		s := begin(fmt.Sprint("again", i))
		if n.is(one, s) || n.is(ahead, s) {
			t.Fatalf("session %d is refused, a minute after the last end of all", i)
		}
		if err := one.End(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if !n.is(one, s) || !n.is(one, begin("next")) {
			t.Errorf("session %d counts, or one that begins in the minute behind it", i)
		}
		polltest.Eventually(t, "the other node refuses it", func() bool { return n.is(ahead, s) })
		heard, looks := n.off.Load(), n.faults.Calls("get")
		n.off.Store(heard + int64(30*time.Second))
		polltest.Eventually(t, "the list was read again", func() bool { return n.faults.Calls("get") > looks+4 })
		if !n.is(one, begin("next")) {
			t.Errorf("a session that begins in the minute behind session %d counts", i)
		}
		n.off.Store(heard)
	}
}
