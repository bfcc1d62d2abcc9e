package promises

import "testing"

// The guards of webhooks (docs/keys.md, "put a webhook", "advance a webhook").
const (
	hookPlaced   guards = 1 << iota // the position of an added range is written with the change
	hookRead                        // a change: the position as read
	hookAdvanced                    // an advance: the position as read
	hookCreated                     // an advance: the create revision of the webhook
	hookAfter                       // the position moves once the receiver was told
	hookAll      = 1<<iota - 1
)

const ranges = 2

// hookState is a webhook that tells of two ranges, and what happens in them.
type hookState struct {
	now     uint8
	events  [ranges]uint8 // the revision of the one that happens in each; 0: it did not yet
	created uint8         // of the webhook; 0: there is none
	on      uint8         // the set of ranges that it tells of
	changed uint8         // the revision of its last change
	at      [ranges]uint8 // how far it has told; 0: nothing says so
	placed  uint8         // the mod revision of that
	since   [ranges]uint8 // from when on each has been told of without a gap; 0: it is not
	told    uint8         // the set of ranges whose event was told
	tell    [2]telling    // on two nodes, or one
	nodes   uint8
	change  changing
	copied  telling // an advance that the network keeps
	left    struct{ changes, late, crashes, deletes uint8 }
}

// telling is a node that tells one range.
type telling struct {
	on, is          bool // it has told; of is, under way
	of              uint8
	created, placed uint8
	at              [ranges]uint8
}

// changing is somebody who changes what the webhook tells of, with what was read.
type changing struct {
	under                    bool
	to                       uint8
	changed, placed, readNow uint8
	at                       [ranges]uint8
}

// of is how far each range is: without a position it begins with the last change.
func (s *hookState) of() (at [ranges]uint8) {
	for r := range uint8(ranges) {
		if s.on&(1<<r) == 0 {
			continue
		}
		if at[r] = s.at[r]; at[r] == 0 {
			at[r] = s.changed
		}
	}
	return at
}

func hookNext(s hookState, less guards) (all []step[hookState]) {
	add := func(what string, fault bool, to hookState) {
		all = append(all, step[hookState]{what: what, fault: fault, to: to})
	}
	for r := range ranges {
		if s.events[r] == 0 {
			n := s
			n.now++
			n.events[r] = n.now
			add("an event "+rangeNames[r], false, n)
		}
	}
	for i := range int(s.nodes) {
		all = append(all, tellNext(s, i, less)...)
	}
	if s.copied.is {
		n := s
		n.copied = telling{}
		n.advance(&s.copied, less)
		add("A LATE COPY COMES: an advance", true, n)
	}
	switch c := &s.change; {
	case c.under:
		n := s
		n.change = changing{}
		n.put(c, less)
		add("the change is put", false, n)
	case s.left.changes > 0 && s.created != 0:
		for to := uint8(1); to < 1<<ranges; to++ {
			n := s
			n.left.changes--
			n.change = changing{under: true, to: to, changed: s.changed, placed: s.placed, at: s.of(), readNow: s.now}
			add("somebody reads it, to have it tell of "+setNames[to], true, n)
		}
	}
	if s.left.deletes > 0 && s.created != 0 {
		n := s
		n.left.deletes--
		n.now++
		n.created, n.on, n.at, n.placed, n.since = 0, 0, [ranges]uint8{}, 0, [ranges]uint8{}
		add("it is deleted", true, n)
	}
	if s.created == 0 {
		n := s
		n.now++
		n.created, n.changed, n.on, n.placed = n.now, n.now, 1, n.now
		n.at[0], n.since[0] = n.now, n.now
		add("it is made again", false, n)
	}
	return all
}

var (
	rangeNames = [ranges]string{"in A", "in B"}
	setNames   = []string{"nothing", "A", "B", "A and B"}
)

// tellNext: a node reads, tells what came since, and advances the position; it may end between the two.
func tellNext(s hookState, i int, less guards) (all []step[hookState]) {
	t := s.tell[i]
	if !t.is {
		at := s.of()
		for r := range uint8(ranges) {
			e := s.events[r]
			if s.created == 0 || at[r] == 0 || e <= at[r] {
				continue
			}
			n := s
			n.tell[i] = telling{is: true, of: r, created: s.created, placed: s.placed, at: at}
			n.tell[i].at[r] = s.now
			all = append(all, step[hookState]{what: "a node finds an event " + rangeNames[r], to: n})
		}
		return all
	}
	if !t.on && !less.lack(hookAfter) {
		n := s
		n.tell[i].on = true
		n.told |= 1 << t.of
		return append(all, step[hookState]{what: "the receiver is told of the event " + rangeNames[t.of], to: n})
	}
	n := s
	n.tell[i] = telling{}
	n.advance(&t, less)
	if !t.on && s.left.crashes == 0 {
		n.told |= 1 << t.of // it tells afterwards
	}
	all = append(all, step[hookState]{what: "the position is advanced", to: n})
	if s.left.late > 0 {
		n := s
		n.left.late--
		n.tell[i], n.copied = telling{}, t
		all = append(all, step[hookState]{what: "the position is advanced, BUT THE NETWORK KEEPS IT, and the node ends", fault: true, to: n})
	}
	if s.left.crashes > 0 {
		n := s
		n.left.crashes--
		n.tell[i] = telling{}
		all = append(all, step[hookState]{what: "THE NODE ENDS", fault: true, to: n})
		if !t.on {
			n.advance(&t, less)
			all = append(all, step[hookState]{what: "the position is advanced, and THE NODE ENDS", fault: true, to: n})
		}
	}
	return all
}

// advance: the webhook and its position as read.
func (s *hookState) advance(t *telling, less guards) {
	if s.created == 0 || !less.ok(hookCreated, s.created == t.created) || !less.ok(hookAdvanced, s.placed == t.placed) {
		return
	}
	s.now++
	s.at, s.placed = t.at, s.now
}

// put is the change: what is told goes on from where it was, what is new from now on.
func (s *hookState) put(c *changing, less guards) {
	if s.created == 0 || s.changed != c.changed || !less.ok(hookRead, s.placed == c.placed) {
		return
	}
	s.now++
	for r := range uint8(ranges) {
		if c.to&(1<<r) == 0 {
			s.since[r] = 0
		} else if s.on&(1<<r) == 0 {
			s.since[r] = s.now
		}
	}
	s.on, s.changed = c.to, s.now
	if less.lack(hookPlaced) {
		return
	}
	s.placed = s.now
	for r := range uint8(ranges) {
		switch {
		case c.to&(1<<r) == 0:
			s.at[r] = 0
		case c.at[r] != 0:
			s.at[r] = c.at[r]
		default:
			s.at[r] = c.readNow
		}
	}
}

// hookRest: each event is told that happened while its range was told of, and still is.
func hookRest(s hookState) string {
	for r, e := range s.events {
		if s.since[r] != 0 && e > s.since[r] && s.told&(1<<r) == 0 {
			return "an event of a range that was told of all the time is not told (at least once)"
		}
	}
	return ""
}

// TestWebhooksTellAcrossChanges: at least once is told, whatever is changed while it is told.
func TestWebhooksTellAcrossChanges(t *testing.T) {
	t.Parallel()
	first := hookState{now: 1, created: 1, changed: 1, on: 1, at: [ranges]uint8{1, 0}, placed: 1, since: [ranges]uint8{1, 0}}
	with := func(changes, late, crashes, deletes uint8) hookState {
		s := first
		if s.nodes = 2; late > 0 {
			s.nodes = 1 // the copy is the other one
		}
		s.left.changes, s.left.late, s.left.crashes, s.left.deletes = changes, late, crashes, deletes
		return s
	}
	worlds := []world[hookState]{
		{"two changes", with(2, 0, 0, 0)},
		{"two changes, a node ends", with(2, 0, 1, 0)},
		{"two changes, an advance comes late", with(2, 1, 0, 0)},
		{"it is deleted and made again, an advance comes late", with(0, 1, 0, 1)},
	}
	holds(t, rules[hookState]{hookNext, hookRest}, worlds, hookAll, []taken{
		{guard: "put a webhook: its position with the change", less: hookPlaced, in: "two changes"},
		{guard: "advance a webhook: the position as read", less: hookAdvanced, in: "two changes, an advance comes late"},
		{guard: "advance a webhook: after the receiver was told", less: hookAfter, in: "two changes, a node ends"},
		{guard: "put a webhook: the position as read", less: hookRead, why: "a position that goes back tells twice, which is allowed"},
		{guard: "advance a webhook: its create revision", less: hookCreated, why: "the position as read; and that of an earlier webhook lies before this one, so that more is told"},
	})
}
