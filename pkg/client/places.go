package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrCrowded says that this node runs as many bursts of the instance's definition
// as it may, or as its memory allows. Nothing was done: the command waits best in
// the instance's mailbox.
var ErrCrowded = errors.New("this node runs as many bursts of the definition as it may")

// Limits bound the bursts that a node runs at once, most of which wait for the
// outside.
type Limits struct {
	PerDefinition int   // bursts of one definition; as many again of what is taken over
	Bytes         int64 // of what all bursts work on, as estimated
}

// DefaultLimits are those that stand for zero fields.
func DefaultLimits() Limits { return Limits{PerDefinition: 200, Bytes: 256 << 20} }

// Crowd tells how full a node is.
type Crowd struct {
	Bursts int
	Bytes  int64 // that they work on
	// Instances that wait for a place here, in their mailboxes or, for a moment, in hand: since
	// there are Limits.PerDefinition of theirs, or since the memory that theirs may have is
	// full.
	WaitDefinition, WaitMemory int
	WaitQuarantine             int // instances with a command that waits until no other suspect runs here
}

// places are the places for bursts on this node. Each compartment, which is a
// definition, has its own, so that one whose activities hang keeps no other from
// running; what is taken over from another node has a compartment beside it, so
// that it need not wait behind what is new here.
//
// Memory is shared out by what is left of it: a compartment may have as much as
// nobody has yet. So one that hangs takes half, a second one a quarter of the
// whole and a half of what was left, and there is always some for those that come.
// The first burst of a compartment always has a place.
//
// Who finds none lets the lock go and waits here, in memory and without a request
// to etcd, until a burst ends that makes room; its work stays in its mailbox,
// where every node finds it. A command in hand, for which no lock is held, stands in the same
// line for a moment, as long as places become free. Who is called has its place kept until it comes, or two
// sweeps have gone by, so that one place calls one.
type places struct {
	limits   Limits
	wakeups  Wakeups
	patience time.Duration // of a command in hand

	mu      sync.Mutex
	used    map[compartment]*usage   // guarded by mu
	bytes   int64                    // of all; guarded by mu
	bursts  int                      // guarded by mu
	inHand  int64                    // bytes of the commands in hand that wait; guarded by mu
	waiting map[string]want          // by instance; guarded by mu
	lines   map[compartment][]string // who waits, in order, with some who do not any more; guarded by mu
	turn    []compartment            // the lines, in the order in which they are looked at; guarded by mu
	called  map[string]want          // woken, and not seen yet: their places are kept; guarded by mu
}

type compartment struct {
	definition string
	recovered  bool
}

type usage struct {
	bursts int
	bytes  int64
	moved  time.Time // when a place became free last, or the first one was taken
}

// want is a place that an instance waits for.
type want struct {
	in     compartment
	bytes  int64
	memory bool // it is for memory that it waits
	ends   bool // it was interrupted as it waited: what ends it is in its mailbox, and needs no place
	swept  bool // it was called, and a sweep went by

	caller *caller // of a command in hand; nil: it waits in its mailbox
}

// caller stands in line with a command in hand.
type caller struct {
	called chan struct{} // closed when its turn has come, or will not come
	ended  bool          // what ends its instance has come, which needs no place; guarded by places.mu
}

// newPlaces makes places. A command in hand waits for one for patience at most.
func newPlaces(l Limits, patience time.Duration, wakeups Wakeups) *places {
	d := DefaultLimits()
	l.PerDefinition, l.Bytes = cmp.Or(l.PerDefinition, d.PerDefinition), cmp.Or(l.Bytes, d.Bytes)
	return &places{limits: l, wakeups: wakeups, patience: patience, used: map[compartment]*usage{}, waiting: map[string]want{},
		lines: map[compartment][]string{}, called: map[string]want{}}
}

// room reports whether there is a place; mu is held.
func (p *places) room(w *want) bool {
	u := p.used[w.in]
	if u == nil {
		return true
	}
	w.memory = u.bytes+w.bytes > p.limits.Bytes-p.bytes
	return u.bursts < p.limits.PerDefinition && !w.memory
}

// enter takes a place for an instance; false if there is none, and then the
// instance waits for one if it has mail to wait with.
func (p *places) enter(id string, w want, mailed bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(id, w, mailed)
}

// take is enter; mu is held.
func (p *places) take(id string, w want, mailed bool) bool {
	before, known := p.uncall(id)
	if !known {
		before, known = p.waiting[id]
	}
	room := p.room(&w)
	switch {
	case room:
		delete(p.waiting, id)
		p.bursts++
		p.hold(w)
	case mailed:
		p.wait(id, w)
	}
	if known { // it may need less than it had, or be in nobody's way any more
		p.callNext(before.in)
	}
	return room
}

// await is enter for a command in hand: bursts are short, mostly, and to make the command durable and bring it
// back from its mailbox would cost more than all of it. It does not wait where no place has become free
// for as long as it would, since those who have them hang; nor for memory, of which it has some itself. An
// interrupt and stop end the wait too.
func (p *places) await(ctx context.Context, stop <-chan struct{}, id string, w want) bool {
	p.mu.Lock()
	if took := p.take(id, w, false); took || !p.moves(id, w) {
		p.mu.Unlock()
		return took
	}
	c := &caller{called: make(chan struct{})}
	w.caller = c
	p.wait(id, w)
	p.inHand += w.bytes
	p.mu.Unlock()
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-c.called:
	case <-timer.C:
	case <-stop:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inHand -= w.bytes
	delete(p.waiting, id)
	if c.ended {
		p.uncall(id)
	} else if p.take(id, w, false) {
		return true
	}
	p.callNext(w.in) // who stood behind it may have room
	return false
}

// moves tells whether a command in hand may wait, for which there is no room; mu is held.
func (p *places) moves(id string, w want) bool {
	_, mail := p.waiting[id]
	return !p.room(&w) && !w.memory && !mail && p.bytes+p.inHand+w.bytes <= p.limits.Bytes && time.Since(p.used[w.in].moved) < p.patience
}

// hold counts a place as taken, by a burst or by who is called to it; mu is held.
func (p *places) hold(w want) {
	u := p.used[w.in]
	if u == nil {
		u = &usage{moved: time.Now()}
		p.used[w.in] = u
	}
	u.bursts++
	u.bytes += w.bytes
	p.bytes += w.bytes
}

// free is the opposite of hold; mu is held.
func (p *places) free(w want) {
	u := p.used[w.in]
	u.bursts--
	u.bytes -= w.bytes
	if u.bursts == 0 {
		delete(p.used, w.in)
	}
	p.bytes -= w.bytes
}

// uncall frees the place that is kept for an instance, if one is; mu is held.
func (p *places) uncall(id string) (w want, called bool) {
	if w, called = p.called[id]; called {
		delete(p.called, id)
		p.free(w)
	}
	return w, called
}

// wait puts an instance into its line; mu is held.
func (p *places) wait(id string, w want) {
	was, known := p.waiting[id]
	p.waiting[id] = w
	if known && was.in == w.in {
		return
	}
	if _, ok := p.lines[w.in]; !ok {
		p.turn = append(p.turn, w.in)
	}
	p.lines[w.in] = append(p.lines[w.in], id)
}

// leave gives a place back, and calls who can have one now.
func (p *places) leave(w want) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[w.in].moved = time.Now()
	p.free(w)
	p.bursts--
	p.callNext(w.in)
}

// callNext calls one of the compartment in which a place has become free, and one of
// another, as memory is all's. When they come, they call who else has room. mu is held.
func (p *places) callNext(in compartment) {
	p.call(in)
	for n := len(p.turn); n > 0; n-- {
		next := p.turn[0]
		p.turn = append(p.turn[1:], next)
		if next != in && p.call(next) {
			return
		}
	}
}

// call wakes the first in a line, if there is room for it; mu is held.
func (p *places) call(in compartment) bool {
	line := p.lines[in]
	for len(line) > 0 {
		w, ok := p.waiting[line[0]]
		if ok && w.in == in {
			break
		}
		line = line[1:] // it went, or waits in another line
	}
	p.lines[in] = line
	if len(line) == 0 {
		delete(p.lines, in)
		p.turn = slices.DeleteFunc(p.turn, func(c compartment) bool { return c == in })
		return false
	}
	id := line[0]
	w := p.waiting[id]
	if !p.room(&w) {
		return false
	}
	p.lines[in] = line[1:]
	delete(p.waiting, id)
	p.called[id] = w
	p.hold(w) // so that a newcomer does not take it, nor is another called to it
	if w.caller != nil {
		close(w.caller.called)
	} else {
		p.wakeups.Again(id, in.recovered)
	}
	return true
}

// seen notes that a try for an instance is over. If it was called and took no
// place, as another node was faster, the next has its turn.
func (p *places) seen(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.called[id].caller != nil {
		return // it is about to come
	}
	if w, ok := p.uncall(id); ok {
		p.callNext(w.in)
	}
}

// keep forgets who has no mail any more, and calls as many of the others as there
// is room for. The place of who was called and did not come is free again.
func (p *places) keep(mailed map[string]bool) Crowd {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, w := range p.called {
		if w.swept {
			p.uncall(id)
			continue
		}
		w.swept = true
		p.called[id] = w
	}
	c := Crowd{Bursts: p.bursts, Bytes: p.bytes}
	for id, w := range p.waiting {
		switch {
		case w.caller == nil && !mailed[id]:
			delete(p.waiting, id)
		case w.memory:
			c.WaitMemory++
		default:
			c.WaitDefinition++
		}
	}
	for _, in := range slices.Clone(p.turn) {
		p.lines[in] = slices.DeleteFunc(p.lines[in], func(id string) bool { return p.waiting[id].in != in })
		free := p.limits.PerDefinition
		if u := p.used[in]; u != nil {
			free -= u.bursts
		}
		for range free {
			if !p.call(in) {
				break
			}
		}
	}
	return c
}

// interrupt has the mailbox of an instance worked that waits. It keeps its place in
// the line until a try has shown that it needs one.
func (p *places) interrupt(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.called[id].caller; c != nil {
		c.ended = true
	}
	switch w, ok := p.waiting[id]; {
	case ok && w.caller != nil:
		w.caller.ended = true
		delete(p.waiting, id)
		close(w.caller.called)
	case ok:
		w.ends = true
		p.waiting[id] = w
		p.wakeups.Again(id, w.in.recovered)
	}
}

// wanted tells whether somebody waits for a place that one of this compartment has.
func (p *places) wanted(in compartment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.waiting {
		if w.in == in || w.memory {
			return true
		}
	}
	return false
}

// waits reports whether an instance waits, and nothing has come that ends it.
func (p *places) waits(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.waiting[id]
	return ok && !w.ends && w.caller == nil
}

// Waits reports whether an instance waits for a place on this node, so that there is
// no use in working its mailbox.
func (n *Node) Waits(id string) bool { return n.places.waits(id) }

// Sweep forgets those who wait for a place and have no mail any more, calls those
// for whom there is one, and tells how full the node is.
func (n *Node) Sweep(mailed map[string]bool) Crowd {
	c := n.places.keep(mailed)
	c.WaitQuarantine = n.quarantine.keep(mailed)
	return c
}
