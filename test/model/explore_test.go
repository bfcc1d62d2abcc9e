package model

import (
	"fmt"
	"hash/maphash"
	"strings"
)

// action is what leads from one state to the next.
type action struct {
	what    what
	a, b    uint8
	outcome outcome
}

type what uint8

const (
	ownerStep what = iota
	persist
	sweep
	janitor
	callStep
	outboxLook
	outboxStep
	queueSweep
	copyComes
	crash
	leaseEnds
	notices
	aheadStep
	recallStep
)

type outcome uint8

const (
	isAnswered outcome = iota
	isLost
	isLate
)

func (a action) as(o outcome) action {
	a.outcome = o
	return a
}

// helps tells whether it happens by itself, without a fault.
func (a action) helps() bool {
	return a.outcome == isAnswered && a.what != copyComes && a.what != crash && (a.what != leaseEnds || a.b == 0)
}

// found is what a walk through a world has shown.
type found struct {
	bad    string   // the violation; "": none
	trace  []string // that leads to it, shortest first
	states int
	beyond int  // steps over a bound of the model
	all    bool // all states were looked at
}

// walk is a breadth-first walk.
type walk struct {
	model
	seed   maphash.Seed
	index  map[uint64]uint32
	from   []link // of each state, in the order in which they were found
	helped []edge // steps that happen by themselves
	calm   []uint32
	found  found
}

type link struct {
	parent uint32
	by     action
}

type edge struct{ from, to uint32 }

// explore walks through a world, without some guards, until a violation or the limit.
func explore(w *world, without guardSet, limit int) found {
	x := &walk{model: model{world: w, without: without}, seed: maphash.MakeSeed(), index: map[uint64]uint32{}}
	s := w.first()
	s.canonical()
	x.index[maphash.Comparable(x.seed, s)] = 0
	x.from = append(x.from, link{})
	for level := []state{s}; len(level) > 0 && x.found.bad == ""; {
		if len(x.from) > limit {
			x.found.states = len(x.from)
			return x.found
		}
		first := uint32(len(x.from) - len(level))
		var next []state
		for i := range level {
			next = x.expand(&level[i], first+uint32(i), next)
			if x.found.bad != "" {
				break
			}
		}
		level = next
	}
	x.found.states, x.found.all = len(x.from), x.found.bad == ""
	if x.found.all {
		x.calms()
	}
	return x.found
}

// expand visits what follows a state, and appends what is new.
func (x *walk) expand(s *state, at uint32, next []state) []state {
	moves := false
	x.next(s, func(a action, c *state) {
		if x.found.bad != "" {
			return
		}
		if x.beyond {
			x.beyond = false
			x.found.beyond++
			return
		}
		c.canonical()
		h := maphash.Comparable(x.seed, *c)
		to, known := x.index[h]
		if !known {
			to = uint32(len(x.from))
			x.index[h] = to
			x.from = append(x.from, link{at, a})
			next = append(next, *c)
		}
		if a.helps() && to != at {
			moves = true
			x.helped = append(x.helped, edge{at, to})
		}
		if x.bad != "" {
			x.found.bad, x.found.trace = x.bad, append(x.trace(at), a.text(s, c))
		}
	})
	if !moves && x.found.bad == "" {
		x.calm = append(x.calm, at)
		if x.quiet(s); x.bad != "" {
			x.found.bad, x.found.trace = x.bad, append(x.trace(at), "nothing more happens", s.text())
		}
	}
	return next
}

// calms holds that each state comes to rest if there are no more faults.
func (x *walk) calms() {
	starts := make([]uint32, len(x.from)+1)
	for _, e := range x.helped {
		starts[e.to]++
	}
	sum := uint32(0)
	for i, n := range starts {
		starts[i], sum = sum, sum+n
	}
	into, fill := make([]uint32, len(x.helped)), append([]uint32(nil), starts...)
	for _, e := range x.helped {
		into[fill[e.to]] = e.from
		fill[e.to]++
	}
	rests := make([]bool, len(x.from))
	todo := x.calm
	for _, i := range todo {
		rests[i] = true
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range into[starts[i]:starts[i+1]] {
			if !rests[j] {
				rests[j] = true
				todo = append(todo, j)
			}
		}
	}
	for i := range rests {
		if !rests[i] {
			x.found.bad, x.found.trace = "it never comes to rest (G5)", append(x.trace(uint32(i)), "and from here it goes on for ever")
			return
		}
	}
}

// trace walks again to a state, and says what happened on the way.
func (x *walk) trace(to uint32) (lines []string) {
	var path []action
	for ; to != 0; to = x.from[to].parent {
		path = append(path, x.from[to].by)
	}
	s := x.first()
	s.canonical()
	m := model{world: x.world, without: x.without}
	for i := len(path) - 1; i >= 0; i-- {
		var after state
		taken := false
		m.next(&s, func(a action, c *state) {
			if a == path[i] && !taken {
				after, taken = *c, true
			}
			m.bad, m.beyond = "", false
		})
		after.canonical()
		lines = append(lines, path[i].text(&s, &after))
		s = after
	}
	return lines
}

var whatWords = map[what]string{
	ownerStep: "owner", persist: "owner: a command in hand is to be made durable", sweep: "owner: a sweep finds mail", janitor: "owner: the janitor finds a lock key",
	callStep: "caller", outboxLook: "outbox: looks for whom a stimulus is", outboxStep: "outbox", queueSweep: "the queue's sweep takes an item",
	copyComes: "A LATE COPY COMES", crash: "THE NODE ENDS", leaseEnds: "ITS LEASE ENDS", notices: "the node notices that its session is over",
	aheadStep: "owner: the burst runs, and joins saves", recallStep: "owner: goes by what its node committed last",
}

var phaseWords = map[phase]string{
	taking: "takes the lock", loading: "looks without the lock", erasing: "looks for its lock key", unlocking: "deletes its lock key", working: "the burst runs",
	relocking: "takes the lock for its burst", securing: "makes a command durable", committing: "commits", asking: "asks why", claiming: "claims", discarding: "discards", leaving: "releases",
}

var kindWords = map[kind]string{
	try: "try", deleteKey: "delete key", commit: "commit", settle: "settle", secure: "secure", discard: "discard", release: "release",
	putMail: "put mail", enqueue: "enqueue", enqueueSend: "enqueue from a send record", deliver: "deliver", claim: "claim", requeue: "requeue",
}

// text says what happened between two states.
func (a action) text(from, to *state) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", whatWords[a.what])
	switch a.what {
	case copyComes:
		fmt.Fprintf(&b, ": %s", kindWords[kind(a.a)])
	case callStep:
		fmt.Fprintf(&b, " %d", a.a)
		if t := from.call[a.a].t; t.kind != none {
			fmt.Fprintf(&b, ": %s", kindWords[t.kind])
		} else {
			b.WriteString(": looks")
		}
	case ownerStep:
		fmt.Fprintf(&b, " on node %d %s", a.a, phaseWords[phase(a.b)])
		if t := to.owner[a.a].t; t.kind == commit && phase(a.b) == working {
			fmt.Fprintf(&b, "; it will commit mail %b, in hand %b, applied %b, again %b", t.mail, t.hands, t.applied, t.again)
		}
	default:
		fmt.Fprintf(&b, " (%d %d)", a.a, a.b)
	}
	switch a.outcome {
	case isAnswered:
	case isLost:
		b.WriteString(", applied, BUT THE ANSWER IS LOST")
	case isLate:
		b.WriteString(", BUT THE NETWORK KEEPS IT")
	}
	for i := range to.call {
		if was, is := from.call[i].told, to.call[i].told; was != is {
			fmt.Fprintf(&b, "; call %d is told %s", i, []string{"nothing", "applied", "accepted", "an error", "refused"}[is])
		}
	}
	if from.instance.lock != to.instance.lock {
		fmt.Fprintf(&b, "; lock %d", to.instance.lock.by)
	}
	if from.instance.stage != to.instance.stage {
		fmt.Fprintf(&b, "; stage %d", to.instance.stage)
	}
	return b.String()
}

func (s *state) text() string {
	in := &s.instance
	return fmt.Sprintf("at rest: instance %d stage %d bookmark %d mail %v lock %d; queue %v marks %v send %v keys %v effects %v; nodes up %b, sessions %b",
		in.mod, in.stage, in.bookmark, in.mail, in.lock.by, s.queue, s.mark, s.send, s.key, s.effect, s.up, s.alive)
}
