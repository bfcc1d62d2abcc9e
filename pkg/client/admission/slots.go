package admission

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Slots are the places for bursts on this node. Each compartment, which is a
// definition, has its own, so that one whose activities hang keeps no other from
// running; what is taken over from another node has a compartment beside it, so
// that it need not wait behind what is new here.
//
// Memory is shared out by what is left of it: a compartment may have as much as
// nobody has yet. So one that hangs takes half, a second one a quarter of the
// whole and a half of what was left, and there is always some for those that come.
// The first burst of a Bulkhead always has a place.
//
// Who finds none lets the lock go and waits here, in memory and without a request
// to etcd, until a burst ends that makes room; its work stays in its mailbox,
// where every node finds it. A command in hand, for which no lock is held, stands in the same
// line for a moment, as long as places become free. Who is called has its place kept until it comes, or two
// sweeps have gone by, so that one place calls one.
type Slots struct {
	limits   Limits
	wake     Wake
	patience time.Duration // of a command in hand

	mu      sync.Mutex
	used    map[Bulkhead]*usage   // guarded by mu
	bytes   int64                 // of all; guarded by mu
	bursts  int                   // guarded by mu
	inHand  int64                 // bytes of the commands in hand that wait; guarded by mu
	waiting map[string]Slot       // by instance; guarded by mu
	lines   map[Bulkhead][]string // who waits, in order, with some who do not any more; guarded by mu
	turn    []Bulkhead            // the lines, in the order in which they are looked at; guarded by mu
	called  map[string]Slot       // woken, and not seen yet: their places are kept; guarded by mu
}

// Bulkhead is what shares slots: a definition, and apart from it what of that was taken over.
type Bulkhead struct {
	Definition string
	Recovered  bool
}

type usage struct {
	bursts int
	bytes  int64
	moved  time.Time // when a place became free last, or the first one was taken
}

// Slot is a place that an instance has, or waits for.
type Slot struct {
	In    Bulkhead
	Bytes int64 // that its burst works on, as estimated

	memory bool // it is for memory that it waits
	ends   bool // it was interrupted as it waited: what ends it is in its mailbox, and needs no place
	swept  bool // it was called, and a sweep went by

	caller *caller // of a command in hand; nil: it waits in its mailbox
}

// caller stands in line with a command in hand.
type caller struct {
	called chan struct{} // closed when its turn has come, or will not come
	ended  bool          // what ends its instance has come, which needs no place; guarded by Slots.mu
}

// New makes slots. A command in hand waits for one for patience at most.
func New(l Limits, patience time.Duration, wake Wake) *Slots {
	return &Slots{limits: l.withDefaults(), wake: wake, patience: patience, used: map[Bulkhead]*usage{}, waiting: map[string]Slot{},
		lines: map[Bulkhead][]string{}, called: map[string]Slot{}}
}

// room reports whether there is a place; mu is held.
func (p *Slots) room(w *Slot) bool {
	u := p.used[w.In]
	if u == nil {
		return true
	}
	w.memory = u.bytes+w.Bytes > p.limits.Bytes-p.bytes
	return u.bursts < p.limits.PerDefinition && !w.memory
}

// Enter takes a place for an instance; false if there is none, and then the
// instance waits for one if it has mail to wait with.
func (p *Slots) Enter(id string, w Slot, mailed bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(id, w, mailed)
}

// take is enter; mu is held.
func (p *Slots) take(id string, w Slot, mailed bool) bool {
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
		p.callNext(before.In)
	}
	return room
}

// Await is enter for a command in hand: bursts are short, mostly, and to make the command durable and bring it
// back from its mailbox would cost more than all of it. It does not wait where no place has become free
// for as long as it would, since those who have them hang; nor for memory, of which it has some itself. An
// Interrupt and stop end the wait too.
func (p *Slots) Await(ctx context.Context, stop <-chan struct{}, id string, w Slot) bool {
	p.mu.Lock()
	if took := p.take(id, w, false); took || !p.moves(id, w) {
		p.mu.Unlock()
		return took
	}
	c := &caller{called: make(chan struct{})}
	w.caller = c
	p.wait(id, w)
	p.inHand += w.Bytes
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
	p.inHand -= w.Bytes
	delete(p.waiting, id)
	if c.ended {
		p.uncall(id)
	} else if p.take(id, w, false) {
		return true
	}
	p.callNext(w.In) // who stood behind it may have room
	return false
}

// moves tells whether a command in hand may wait, for which there is no room; mu is held.
func (p *Slots) moves(id string, w Slot) bool {
	_, mail := p.waiting[id]
	return !p.room(&w) && !w.memory && !mail && p.bytes+p.inHand+w.Bytes <= p.limits.Bytes && time.Since(p.used[w.In].moved) < p.patience
}

// hold counts a place as taken, by a burst or by who is called to it; mu is held.
func (p *Slots) hold(w Slot) {
	u := p.used[w.In]
	if u == nil {
		u = &usage{moved: time.Now()}
		p.used[w.In] = u
	}
	u.bursts++
	u.bytes += w.Bytes
	p.bytes += w.Bytes
}

// free is the opposite of hold; mu is held.
func (p *Slots) free(w Slot) {
	u := p.used[w.In]
	u.bursts--
	u.bytes -= w.Bytes
	if u.bursts == 0 {
		delete(p.used, w.In)
	}
	p.bytes -= w.Bytes
}

// uncall frees the place that is kept for an instance, if one is; mu is held.
func (p *Slots) uncall(id string) (w Slot, called bool) {
	if w, called = p.called[id]; called {
		delete(p.called, id)
		p.free(w)
	}
	return w, called
}

// wait puts an instance into its line; mu is held.
func (p *Slots) wait(id string, w Slot) {
	was, known := p.waiting[id]
	p.waiting[id] = w
	if known && was.In == w.In {
		return
	}
	if _, ok := p.lines[w.In]; !ok {
		p.turn = append(p.turn, w.In)
	}
	p.lines[w.In] = append(p.lines[w.In], id)
}

// Leave gives a place back, and calls who can have one now.
func (p *Slots) Leave(w Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[w.In].moved = time.Now()
	p.free(w)
	p.bursts--
	p.callNext(w.In)
}

// callNext calls one of the compartment in which a place has become free, and one of
// another, as memory is all's. When they come, they call who else has room. mu is held.
func (p *Slots) callNext(in Bulkhead) {
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
func (p *Slots) call(in Bulkhead) bool {
	line := p.lines[in]
	for len(line) > 0 {
		w, ok := p.waiting[line[0]]
		if ok && w.In == in {
			break
		}
		line = line[1:] // it went, or waits in another line
	}
	p.lines[in] = line
	if len(line) == 0 {
		delete(p.lines, in)
		p.turn = slices.DeleteFunc(p.turn, func(c Bulkhead) bool { return c == in })
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
		p.wake.Again(id, in.Recovered)
	}
	return true
}

// Seen notes that a try for an instance is over. If it was called and took no
// place, as another node was faster, the next has its turn.
func (p *Slots) Seen(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.called[id].caller != nil {
		return // it is about to come
	}
	if w, ok := p.uncall(id); ok {
		p.callNext(w.In)
	}
}

// Keep forgets who has no mail any more, and calls as many of the others as there
// is room for. The place of who was called and did not come is free again.
func (p *Slots) Keep(mailed map[string]bool) Crowd {
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
		p.lines[in] = slices.DeleteFunc(p.lines[in], func(id string) bool { return p.waiting[id].In != in })
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

// Interrupt has the mailbox of an instance worked that waits. It keeps its place in
// the line until a try has shown that it needs one.
func (p *Slots) Interrupt(id string) {
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
		p.wake.Again(id, w.In.Recovered)
	}
}

// Wanted tells whether somebody waits for a place that one of this compartment has.
func (p *Slots) Wanted(in Bulkhead) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.waiting {
		if w.In == in || w.memory {
			return true
		}
	}
	return false
}

// Waits reports whether an instance waits, and nothing has come that ends it.
func (p *Slots) Waits(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.waiting[id]
	return ok && !w.ends && w.caller == nil
}
