package model

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
)

var more = flag.Int("model.more", 0, "how many late copies and lost answers each world has beside its own")

var limit = flag.Int("model.states", testsize.Of(400_000, 40_000), "how many states of each world are looked at, at most")

// The two hashes that instances wait for.
const (
	hashA = iota + 1
	hashB
)

// The commands and scripts of the worlds.
var (
	eventA = event{hash: hashA}
	eventB = event{hash: hashB}
	keyedA = event{hash: hashA, keyed: true}
	begins = event{is: starts}
	keyed  = event{is: starts, keyed: true} // under an id that derives from its key
	ends   = event{is: deletes}
	cancel = event{is: cancels}
	retry  = event{is: retries}
	brings = event{is: imports}

	once  = []place{{waits: hashA}, {}}
	twice = []place{{waits: hashA}, {waits: hashA}, {}}
	thenB = []place{{waits: hashA}, {waits: hashB}, {}}
	bThen = []place{{waits: hashB}, {waits: hashA}, {}}

	each = []request{{0, 0}, {1, 1}} // the first command to node 0, the second to node 1
	both = []request{{0, 0}, {0, 1}} // one command to both
)

// today are the worlds of the protocol as it is.
func today() []world {
	three := []request{{0, 0}, {1, 1}, {2, 0}}
	return []world{
		{name: "two events, two waits", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1, ends: 1}, sweeps: true},
		{name: "two events, two waits, made durable", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, late: true, sweeps: true},
		{name: "two events, one wait", nodes: 2, events: []event{eventA, eventA}, calls: each, script: once, exists: 1, faults: faults{late: 1, lost: 1, ends: 1}, sweeps: true},
		{name: "three nodes", nodes: 3, events: []event{eventA, eventA}, calls: each, script: once, exists: 1, faults: faults{late: 1, crashes: 1}, sweeps: true},
		{name: "two events, promptly", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, prompt: true},
		{name: "three events, promptly", nodes: 2, events: []event{eventA, eventA, eventA}, calls: three, script: []place{{waits: hashA}, {waits: hashA}, {waits: hashA}, {}}, exists: 1, faults: faults{lost: 1}, prompt: true},
		{name: "an event before its bookmark", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 2, lost: 1}},
		{name: "an event before its bookmark, promptly", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 1, lost: 1}, prompt: true},
		{name: "an event before its bookmark, nodes end", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 1, crashes: 1, ends: 1}, sweeps: true},
		{name: "an event before its bookmark, followed", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 2, lost: 1}, follows: true},
		{name: "an event before its bookmark, followed, nodes end", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 1, crashes: 1, ends: 1}, sweeps: true, follows: true},
		{name: "an event that goes back, followed", nodes: 2, events: []event{eventA, eventA, eventB}, calls: three, script: []place{{waits: hashA}, {waits: hashB}, {waits: hashA}, {}}, exists: 1, late: true, follows: true},
		{name: "an event that goes back, followed, on one node", nodes: 1, events: []event{eventA, eventA, eventB}, calls: []request{{0, 0}, {1, 0}, {2, 0}}, script: []place{{waits: hashA}, {waits: hashB}, {waits: hashA}, {}}, exists: 1, faults: faults{late: 1}, late: true, follows: true},
		{name: "a key on two nodes, before its bookmark, followed", nodes: 2, events: []event{keyedA, eventB}, calls: []request{{0, 0}, {0, 1}, {1, 0}}, script: bThen, exists: 1, faults: faults{late: 1, lost: 1}, follows: true},
		{name: "an event that goes back", nodes: 2, events: []event{eventA, eventA, eventB}, calls: three, script: []place{{waits: hashA}, {waits: hashB}, {waits: hashA}, {}}, exists: 1, faults: faults{late: 1}, late: true},
		{name: "a key on two nodes", nodes: 2, events: []event{keyedA}, calls: both, script: twice, exists: 1, faults: faults{late: 1, lost: 1, ends: 1}, late: true, sweeps: true},
		{name: "a key on two nodes, before its bookmark", nodes: 2, events: []event{keyedA, eventB}, calls: []request{{0, 0}, {0, 1}, {1, 0}}, script: bThen, exists: 1, faults: faults{late: 1, lost: 1}},
		{name: "a start without a lock", nodes: 2, events: []event{begins, eventA}, calls: each, script: twice, faults: faults{lost: 1, ends: 1}, late: true, sweeps: true},
		{name: "a start without a lock, promptly", nodes: 2, events: []event{begins, eventA}, calls: each, script: twice, faults: faults{late: 1, lost: 1}, prompt: true},
		{name: "a start that goes on", nodes: 2, events: []event{begins, eventA}, calls: each, script: []place{{}, {}, {waits: hashA}, {}}, faults: faults{lost: 1, crashes: 1}, late: true, sweeps: true},
		{name: "a start with a key on two nodes", nodes: 2, events: []event{keyed}, calls: both, script: twice, faults: faults{late: 1, lost: 1, ends: 1}, late: true},
		{name: "a delete", nodes: 2, events: []event{eventA, ends}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1, ends: 1}, sweeps: true},
		{name: "a delete of what is new", nodes: 2, events: []event{begins, ends}, calls: each, script: twice, faults: faults{late: 1, lost: 1}, late: true},
		{name: "two deletes and a start", nodes: 2, events: []event{ends, ends, keyed}, calls: three, script: once, exists: 1, faults: faults{late: 1}},
	}
}

// endings are worlds in which a cancel or a delete meets other mail, and ways back; and those where the mailbox is followed.
func endings() []world {
	three := []request{{0, 0}, {1, 1}, {2, 0}}
	calls := []place{{waits: hashA}, {waits: hashB, calls: true}, {calls: true}}
	return []world{
		{name: "a cancel behind an event", nodes: 2, events: []event{eventA, cancel}, calls: each, script: calls, exists: 1, faults: faults{late: 1, lost: 1, ends: 1}, late: true, sweeps: true},
		{name: "a cancel and a retry", nodes: 2, events: []event{retry, cancel, cancel}, calls: three, script: calls, exists: 1, back: 1, faults: faults{late: 1}, late: true, sweeps: true},
		{name: "a retry of what has ended, and a cancel", nodes: 2, events: []event{retry, cancel}, calls: each, script: calls, exists: stageEnded, back: 2, faults: faults{late: 1, lost: 1, ends: 1}, late: true, sweeps: true},
		{name: "an import and a cancel", nodes: 2, events: []event{brings, cancel}, calls: each, script: calls, exists: 1, back: 2, faults: faults{late: 1, lost: 1, crashes: 1}, late: true, sweeps: true},
		{name: "an import, an event and a delete", nodes: 2, events: []event{brings, eventA, ends}, calls: three, script: calls, exists: 1, back: 2, late: true, sweeps: true},
		{name: "an import, an event, and a cancel beside it", nodes: 2, events: []event{brings, eventA, cancel}, calls: []request{{0, 0}, {1, 1}, {2, 1}}, script: calls, exists: 1, back: 2, faults: faults{late: 1}, sweeps: true},
		{name: "a cancel behind an event, no place is free", nodes: 2, events: []event{eventA, cancel}, calls: each, script: calls, exists: 1, faults: faults{late: 1, lost: 1}, late: true, sweeps: true, full: 3},
		{name: "a cancel behind an event, one node has a place", nodes: 2, events: []event{eventA, cancel}, calls: []request{{0, 0}, {1, 1}}, script: calls, exists: 1, faults: faults{late: 1, ends: 1}, late: true, sweeps: true, full: 1},
		{name: "two events, promptly, the mailbox is followed", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, prompt: true, boxes: true},
		{name: "three events, promptly, the mailbox is followed", nodes: 2, events: []event{eventA, eventA, eventA}, calls: three, script: []place{{waits: hashA}, {waits: hashA}, {waits: hashA}, {}}, exists: 1, faults: faults{lost: 1}, prompt: true, boxes: true},
		{name: "an event before its bookmark, the mailbox is followed, nodes end", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 1, crashes: 1, ends: 1}, sweeps: true, boxes: true},
	}
}

// TestEndsAndFollowedMailboxes walks through each of them.
func TestEndsAndFollowedMailboxes(t *testing.T) {
	t.Parallel()
	holds(t, endings())
}

// TestTodaysProtocol walks through each world.
func TestTodaysProtocol(t *testing.T) {
	t.Parallel()
	holds(t, today())
}

func holds(t *testing.T, worlds []world) {
	t.Helper()
	for i := range worlds {
		w := &worlds[i]
		w.faults.late += uint8(*more)
		w.faults.lost += uint8(*more)
		began := time.Now()
		f := explore(w, 0, *limit)
		note := ""
		switch {
		case f.all:
		case *more > 0 || !testsize.Whole():
			note = ", not all"
		case f.bad == "":
			note = ", not all"
			t.Errorf("%s: more than %d states, so not all were looked at: make the world smaller or the limit larger", w.name, *limit)
		}
		t.Logf("%s: %d states%s, %d steps beyond the bounds, %s", w.name, f.states, note, f.beyond, time.Since(began).Round(time.Millisecond))
		if f.bad != "" {
			t.Errorf("%s: %s\n%s", w.name, f.bad, numbered(f.trace))
		}
	}
}

func numbered(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "%3d %s\n", i+1, l)
	}
	return b.String()
}

// withoutLock are worlds in which a resume takes no lock.
func withoutLock(how resuming) []world {
	worlds := []world{
		{name: "two events", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, late: true, sweeps: true},
		{name: "two events, sessions end", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, ends: 1}, late: true, sweeps: true},
		{name: "two events, two late copies", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 2}, late: true, sweeps: true},
		{name: "two events, promptly", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, late: true, prompt: true},
		{name: "three events", nodes: 2, events: []event{eventA, eventA, eventA}, calls: []request{{0, 0}, {1, 1}, {2, 1}}, script: []place{{waits: hashA}, {waits: hashA}, {waits: hashA}, {}}, exists: 1,
			faults: faults{late: 1, lost: 1}, sweeps: true},
		{name: "three events, promptly", nodes: 2, events: []event{eventA, eventA, eventA}, calls: []request{{0, 0}, {1, 1}, {2, 1}}, script: twice, exists: 1, faults: faults{late: 1}, prompt: true},
		{name: "an event before its bookmark, promptly", nodes: 2, events: []event{eventA, eventB}, calls: each, script: thenB, exists: 1, faults: faults{late: 1, lost: 1}, prompt: true},
		{name: "a key on two nodes", nodes: 2, events: []event{keyedA}, calls: both, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, late: true, sweeps: true},
		{name: "a key on two nodes, sessions end", nodes: 2, events: []event{keyedA}, calls: both, script: twice, exists: 1, faults: faults{lost: 1, ends: 1}, late: true, sweeps: true},
		{name: "a delete", nodes: 2, events: []event{eventA, ends}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, late: true, sweeps: true},
		{name: "a delete, and made again", nodes: 2, events: []event{eventA, ends, keyed}, calls: []request{{0, 0}, {1, 1}, {2, 1}}, script: []place{{}, {waits: hashA}, {}}, exists: 2, faults: faults{lost: 1}},
		{name: "a delete, and made again, late", nodes: 2, events: []event{eventA, ends, keyed}, calls: []request{{0, 0}, {1, 1}, {2, 1}}, script: []place{{waits: hashA}, {}}, exists: 1, faults: faults{late: 1}},
		{name: "one node takes the lock first", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, late: true, sweeps: true, locks: 1 << 1},
		{name: "one node takes the lock first, promptly", nodes: 2, events: []event{eventA, eventA}, calls: each, script: twice, exists: 1, faults: faults{late: 1, lost: 1}, prompt: true, locks: 1 << 1},
		{name: "the outside is called", nodes: 2, events: []event{eventA, eventA}, calls: each, script: []place{{waits: hashA}, {waits: hashA, calls: true}, {calls: true}}, exists: 1,
			faults: faults{late: 1, lost: 1, ends: 1}, sweeps: true},
		{name: "a burst that goes on", nodes: 2, events: []event{eventA, eventA}, calls: each, script: []place{{waits: hashA}, {}, {waits: hashA}, {}}, exists: 1,
			faults: faults{late: 1, lost: 1, crashes: 1}, sweeps: true},
	}
	for i := range worlds {
		worlds[i].resume = how
	}
	return worlds
}

// joinedSaves are worlds in which the saves of activities are joined.
func joinedSaves() (worlds []world) {
	script := []place{{}, {}, {}, {calls: true}, {}, {waits: hashA}, {}}
	for _, joins := range []uint8{1, 3} {
		worlds = append(worlds,
			world{name: fmt.Sprintf("%d joined, answers are lost", joins), nodes: 2, events: []event{begins}, calls: []request{{0, 0}}, script: script, faults: faults{late: 1, lost: 1, crashes: 1}, late: true, sweeps: true, joins: joins},
			world{name: fmt.Sprintf("%d joined, sessions end", joins), nodes: 2, events: []event{begins, eventA}, calls: each, script: script, faults: faults{ends: 1}, sweeps: true, joins: joins})
	}
	return worlds
}

// TestResumeWithoutLock walks through the worlds of decision 6.
func TestResumeWithoutLock(t *testing.T) {
	t.Parallel()
	holds(t, withoutLock(lasting))
}

// withoutALook are the same worlds, where a node may go by what it committed last, however
// old that is.
func withoutALook() []world {
	worlds := withoutLock(lasting)
	for i := range worlds {
		worlds[i].recall = true
	}
	return worlds
}

// TestResumeWithoutALook walks through them.
func TestResumeWithoutALook(t *testing.T) {
	t.Parallel()
	holds(t, withoutALook())
}

// TestJoinedSaves walks through the worlds of decision 7.
func TestJoinedSaves(t *testing.T) {
	t.Parallel()
	holds(t, joinedSaves())
}

// TestARefusalMustLast shows the hole of decision 6: that nobody holds the lock can become
// true again.
func TestARefusalMustLast(t *testing.T) {
	t.Parallel()
	for _, w := range withoutLock(conclusive) {
		if f := explore(&w, 0, *limit); f.bad != "" {
			t.Logf("%s: %s\n%s", w.name, f.bad, numbered(f.trace))
			return
		}
	}
	t.Error("a refusal that is taken for conclusive does no harm: the model does not see what rule U is for")
}
