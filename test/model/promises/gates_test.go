package promises

import (
	"cmp"
	"fmt"
	"testing"
)

// The guards of gates (docs/keys.md, "a gate that is taken", create, deliver, start behind a gate).
const (
	gateCreate  guards = 1 << iota // create: the gate is free
	gateVoid                       // create: not void
	gateBack                       // who comes back, or is imported: the gate is free
	gateRefusal                    // a refusal for a gate is committed
	gateBefore                     // nothing of who comes back runs before it has the gate
	gateMine                       // an end frees the gate if it is mine
	gateLeft                       // who takes another gate frees the one that it had
	gateHeld                       // a start waits only while the gate is held
	gateBehind                     // who frees a gate looks behind it
	gateStart                      // start behind a gate: it is free
	gateItem                       // start behind a gate: the item as read
	gateJudge                      // a refusal is judged by the commit's id first
	gateEarlier                    // a refusal that was refused: the earlier attempt's id
	gateWasHeld                    // a refusal for a gate that is free again is one too
	gateAll     = 1<<iota - 1
)

// The instances of a world.
const (
	older   = iota // it ended, or runs, or was deleted
	newer          // it is to start
	singles        // how many there are
)

// gateState is two gates, an instance that comes back, and one that is to start behind the first gate.
type gateState struct {
	in     [singles]single
	gate   [2]uint8 // by whom it is held, from 1
	item   uint8    // the create revision of the start that waits behind the first gate; 0: none does
	void   uint8    // the attempts to create that are, as a set
	frees  bool     // a node has freed the first gate, and is to look behind it
	owner  backing
	caller starting
	worker [singles]backing // that ends what runs
	behind backing          // the start of what waits
	copied backing          // that the network keeps
	effect [singles]uint8   // how often it came back, or started
	left   struct{ late, lost, ends uint8 }
	way    way
	waits  bool // a start that finds the gate held waits behind it, and is not refused
}

// single is an instance.
type single struct {
	mod   uint8
	by    uint16 // the commits in its journal, as a set of their ids
	runs  bool
	under uint8 // the gate that it asks for, from 1; 0: none
}

// way is how the older instance comes to run.
type way uint8

const (
	nothing  way = iota
	retried      // also altered, rescheduled, skipped, by a job: it ended, and is brought back
	imported     // over what is there, with the second gate
	restored     // there is none any more
)

// backing is a transaction about an instance, and the state of who sends it.
type backing struct {
	kind  back
	of    uint8
	base  uint8
	id    uint8
	item  uint8
	tries uint8 // each attempt is another commit
	phase backPhase
}

type back uint8

const (
	noBack back = iota
	comes
	refuses // the refusal of a command that would bring it back
	creates
	puts // the start behind the gate
	begins
	ends
)

type backPhase uint8

const (
	backNew backPhase = iota
	backSends
	backAsks
	backDone
	backRefused
	backFailed // an error, which says nothing
)

type starting struct {
	backing
}

func (s *gateState) running(gate uint8) (n int) {
	for i := range s.in {
		if s.in[i].runs && s.in[i].under == gate {
			n++
		}
	}
	return n
}

func (s *gateState) target() uint8 {
	if s.way == imported {
		return 2
	}
	return 1
}

// apply executes a transaction. It reports whether it was applied, and what that violates.
func (s *gateState) apply(t *backing, less guards) (applied bool, bad string) {
	in := &s.in[t.of]
	free := func(g guards, gate uint8) bool { return less.ok(g, s.gate[gate-1] == 0) }
	write := func(runs bool, under uint8) {
		in.mod++
		in.by |= 1 << t.id
		if runs && !in.runs {
			s.effect[t.of]++
		}
		in.runs, in.under = runs, under
	}
	leave := func() {
		if in.under != 0 && less.ok(gateMine, s.gate[in.under-1] == t.of+1) {
			s.gate[in.under-1] = 0
			s.frees = s.frees || in.under == 1
		} else if in.under == 0 && less.lack(gateMine) {
			s.gate[0] = 0
		}
	}
	switch t.kind {
	case comes:
		to := s.target()
		if in.mod != t.base || !free(gateBack, to) {
			return false, ""
		}
		if in.runs && !less.lack(gateLeft) {
			leave()
		}
		s.gate[to-1] = t.of + 1
		write(true, to)
	case refuses:
		if in.mod != t.base {
			return false, ""
		}
		write(in.runs, in.under)
	case creates:
		if in.mod != 0 || !free(gateCreate, 1) || !less.ok(gateVoid, s.void&(1<<t.base) == 0) {
			if s.effect[t.of] == 0 { // its own success is not there
				s.void |= 1 << t.base
			}
			return false, ""
		}
		s.gate[0] = t.of + 1
		write(true, 1)
	case puts:
		if s.item != 0 || in.mod != 0 || s.effect[t.of] > 0 || !less.ok(gateHeld, s.gate[0] != 0) {
			return false, ""
		}
		s.item = 1
	case begins:
		if s.effect[t.of] > 0 && s.item == t.item {
			s.item = 0 // it was done earlier, and is dropped
			return true, ""
		}
		if !less.ok(gateItem, s.item == t.item) || in.mod != 0 || !free(gateStart, 1) {
			return false, ""
		}
		s.item, s.gate[0] = 0, t.of+1
		write(true, 1)
	case ends:
		if in.mod != t.base {
			return false, ""
		}
		leave()
		write(false, in.under)
	case noBack:
		panic("no transaction")
	}
	for gate := uint8(1); gate <= 2; gate++ {
		if s.running(gate) > 1 {
			return true, "two run behind one gate"
		}
		if s.running(gate) == 1 && s.gate[gate-1] == 0 {
			return true, "the gate of one that runs is free"
		}
	}
	switch {
	case s.effect[t.of] > 0 && t.of == newer && s.caller.phase == backRefused && t.kind != ends:
		return true, "a start that was refused runs"
	case t.kind == comes && s.owner.phase == backRefused:
		return true, "a way back that was refused was taken"
	case t.of == newer && s.effect[newer] > 1:
		return true, "one start, twice"
	}
	return true, ""
}

// sends is what can become of a transaction of who.
func (s *gateState) sends(what string, less guards, of func(*gateState) *backing, answered func(n *gateState, applied bool)) (all []step[gateState]) {
	t := *of(s)
	n := *s
	applied, bad := n.apply(&t, less)
	answered(&n, applied)
	all = append(all, step[gateState]{what: what, to: n, bad: bad})
	if s.left.lost > 0 {
		n := *s
		n.left.lost--
		_, bad := n.apply(&t, less)
		all = append(all, step[gateState]{what: what + ", BUT THE ANSWER IS LOST", to: n, bad: bad, fault: true})
	}
	if s.left.late > 0 && s.copied.kind == noBack {
		n := *s
		n.left.late--
		n.copied = t
		all = append(all, step[gateState]{what: what + ", BUT THE NETWORK KEEPS IT", to: n, fault: true})
	}
	return all
}

func gateNext(s gateState, less guards) (all []step[gateState]) {
	all = append(all, s.backNext(less)...)
	all = append(all, s.startNext(less)...)
	for i := range uint8(singles) {
		all = append(all, s.endNext(i, less)...)
	}
	all = append(all, s.behindNext(less)...)
	if s.copied.kind != noBack {
		n := s
		n.copied = backing{}
		_, bad := n.apply(&s.copied, less)
		all = append(all, step[gateState]{what: "A LATE COPY COMES", to: n, bad: bad, fault: true})
	}
	return all
}

// backNext: the owner of the older instance runs the command that brings it back.
func (s *gateState) backNext(less guards) []step[gateState] {
	o := &s.owner
	if s.way == nothing {
		return nil
	}
	of := func(s *gateState) *backing { return &s.owner }
	switch o.phase {
	case backNew:
		if s.way == retried && s.in[older].runs {
			return nil // once it has ended
		}
		n := *s
		n.owner = backing{kind: comes, of: older, base: s.in[older].mod, id: 2 + 2*o.tries, tries: o.tries, phase: backSends}
		bad := ""
		if less.lack(gateBefore) && s.gate[s.target()-1] != 0 {
			bad = "who comes back has called the outside, beside who has the gate"
		}
		return []step[gateState]{{what: "the way back: looks", to: n, bad: bad}}
	case backSends:
		return s.sends("the way back: "+backWords[o.kind], less, of, func(n *gateState, applied bool) {
			switch {
			case !applied:
				n.owner.phase = backAsks
			case o.kind == refuses:
				n.owner.phase = backRefused
			default:
				n.owner.phase = backDone
			}
		})
	case backAsks:
		n, bad := *s, ""
		in := &s.in[older]
		proof := in.by&(1<<o.id) != 0 && !less.lack(gateJudge)
		held := s.gate[s.target()-1] != 0
		switch {
		case proof && o.kind == refuses:
			n.owner.phase = backRefused
		case proof:
			n.owner.phase = backDone
		case in.mod == o.base && o.kind == comes && (held || !less.lack(gateWasHeld)):
			n.owner = backing{kind: refuses, of: older, base: o.base, id: o.id + 1, phase: backSends}
			if less.lack(gateRefusal) {
				n.owner = backing{phase: backRefused}
			}
		case o.kind == refuses && in.by&(1<<(o.id-1)) != 0 && !less.lack(gateEarlier):
			n.owner.phase = backFailed // a late copy of what was to be refused was faster
		case s.way != imported && in.mod != o.base: // of an import the end may have been, by an owner of before
			bad = "a breach: the instance moved under its lock"
		default:
			n.owner = backing{tries: min(o.tries+1, 2)}
		}
		return []step[gateState]{{what: "the way back: asks why", to: n, bad: cmp.Or(bad, n.saysTrue())}}
	case backDone, backRefused, backFailed:
	}
	return nil
}

// saysTrue holds that what was refused had no effect.
func (s *gateState) saysTrue() string {
	if s.owner.phase == backRefused && s.effect[older] > 0 && s.way != imported {
		return "a way back that was taken is told as refused"
	}
	return ""
}

// startNext: somebody starts the newer one.
func (s *gateState) startNext(less guards) []step[gateState] {
	c := &s.caller
	switch c.phase {
	case backNew:
		n := *s
		t := backing{kind: creates, of: newer, base: c.base, id: 1, phase: backSends}
		if s.gate[0] != 0 {
			if t.kind = puts; !s.waits {
				t = backing{phase: backRefused}
			}
		}
		n.caller.backing = t
		return []step[gateState]{{what: "the start: looks", to: n}}
	case backSends:
		return s.sends("the start: "+backWords[c.kind], less, func(s *gateState) *backing { return &s.caller.backing }, func(n *gateState, applied bool) {
			switch {
			case applied, n.effect[newer] > 0 || n.item != 0: // by its record
				n.caller.phase = backDone
			case c.kind == creates && !n.waits:
				n.caller.phase = backRefused // another has the gate
			default:
				n.caller.backing = backing{base: min(c.base+1, 7)} // the next attempt has another name
			}
		})
	case backAsks, backDone, backRefused, backFailed:
	}
	return nil
}

// endNext: what runs comes to its end.
func (s *gateState) endNext(i uint8, less guards) []step[gateState] {
	w := &s.worker[i]
	of := func(s *gateState) *backing { return &s.worker[i] }
	switch {
	case w.phase == backNew && s.in[i].runs && s.left.ends > 0:
		n := *s
		n.left.ends--
		n.worker[i] = backing{kind: ends, of: i, base: s.in[i].mod, id: s.in[i].mod + 8, phase: backSends}
		return []step[gateState]{{what: fmt.Sprintf("instance %d is done", i), to: n}}
	case w.phase == backSends:
		return s.sends(fmt.Sprintf("instance %d ends", i), less, of, func(n *gateState, applied bool) {
			if n.worker[i] = (backing{}); !applied && n.in[i].runs {
				n.left.ends++ // it moved: it is done again
			}
		})
	}
	return nil
}

// behindNext: who freed the gate looks behind it.
func (s *gateState) behindNext(less guards) []step[gateState] {
	switch b := &s.behind; {
	case b.phase == backSends:
		return s.sends("the start of what waited", less, func(s *gateState) *backing { return &s.behind }, func(n *gateState, _ bool) {
			n.behind = backing{}
		})
	case s.frees && !less.lack(gateBehind):
		n := *s
		if n.frees = false; s.item != 0 && (s.gate[0] == 0 || less.lack(gateStart)) {
			n.behind = backing{kind: begins, of: newer, item: s.item, id: 2, phase: backSends}
		}
		return []step[gateState]{{what: "a look behind the gate", to: n}}
	}
	return nil
}

var backWords = map[back]string{comes: "comes back", refuses: "commits the refusal", creates: "creates", puts: "waits behind the gate"}

// gateRest: no gate is held by who does not run under it, and nothing waits behind one that is free.
func gateRest(s gateState) string {
	for g, by := range s.gate {
		if by != 0 && (!s.in[by-1].runs || s.in[by-1].under != uint8(g)+1) {
			return "a gate is held by who does not run behind it"
		}
	}
	if s.item != 0 && s.gate[0] == 0 {
		return "a start waits behind a gate that is free"
	}
	return ""
}

// TestOneBehindAGate: at most one runs behind a gate, whatever way back is taken.
func TestOneBehindAGate(t *testing.T) {
	t.Parallel()
	from := func(w way, in single, waits bool, late, lost, ends uint8) gateState {
		s := gateState{way: w, waits: waits}
		s.in[older] = in
		if in.runs && in.under != 0 {
			s.gate[in.under-1] = older + 1
		}
		s.left.late, s.left.lost, s.left.ends = late, lost, ends
		return s
	}
	ended, runs := single{mod: 1, under: 1}, single{mod: 1, under: 1, runs: true}
	worlds := []world[gateState]{
		{"it is brought back", from(retried, ended, false, 1, 1, 2)},
		{"it is brought back, a start waits", from(retried, ended, true, 1, 1, 3)},
		{"it ends and is brought back, a start waits", from(retried, runs, true, 1, 0, 3)},
		{"it is restored", from(restored, single{}, false, 1, 1, 2)},
		{"it is restored, a start waits", from(restored, single{}, true, 1, 0, 3)},
		{"it is imported with another gate", from(imported, runs, false, 1, 1, 2)},
		{"it is imported with another gate, a start waits", from(imported, runs, true, 1, 0, 3)},
		{"it runs, a start waits", from(nothing, runs, true, 1, 1, 2)},
		{"it ended and comes under another gate", from(imported, ended, true, 1, 1, 2)},
		{"it began before there was a gate", from(nothing, single{mod: 1, runs: true}, true, 1, 0, 2)},
	}
	holds(t, rules[gateState]{gateNext, gateRest}, worlds, gateAll, []taken{
		{guard: "create: the gate is free", less: gateCreate, in: "it is brought back"},
		{guard: "create: void", less: gateVoid, in: "it is brought back"},
		{guard: "who comes back: the gate is free", less: gateBack, in: "it is brought back"},
		{guard: "a restore: the gate is free", less: gateBack, in: "it is restored"},
		{guard: "a refusal for a gate is committed", less: gateRefusal, in: "it is brought back"},
		{guard: "who comes back runs nothing before it has the gate", less: gateBefore, in: "it is brought back"},
		{guard: "an end frees the gate that is its own", less: gateMine, in: "it began before there was a gate"},
		{guard: "who takes another gate frees its own", less: gateLeft, in: "it is imported with another gate"},
		{guard: "a start waits only while the gate is held", less: gateHeld, in: "it runs, a start waits"},
		{guard: "who frees a gate looks behind it", less: gateBehind, in: "it runs, a start waits"},
		{guard: "start behind a gate: it is free", less: gateStart, in: "it ends and is brought back, a start waits"},
		{guard: "a refusal: first the commit's id", less: gateJudge, in: "it is brought back"},
		{guard: "a refusal that was refused: the id of the attempt before it", less: gateEarlier, in: "it is brought back"},
		{guard: "a refusal for a gate that is free again is one too", less: gateWasHeld, in: "it is brought back"},
		{guard: "start behind a gate: the item as read", less: gateItem, why: "the instance is absent, and in the code a record of its start behind that"},
	})
}
