package client

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client/hot"
	"github.com/weft-run/weft/pkg/engine"
)

// Running is what this node does with an instance at the moment.
type Running struct {
	InstanceID string
	Doing      *engine.Doing // what its burst is at; nil: it is loaded or committed, or no activity was called yet
}

// Running tells what this node does with an instance; false: nothing. What it says may
// be over when it is read.
func (n *Node) Running(id string) (Running, bool) {
	n.mu.Lock()
	h := n.owners[id]
	n.mu.Unlock()
	if h == nil {
		return Running{}, false
	}
	return h.look(), true
}

// Bursts are the instances that this node works, those first whose activity has run for
// the longest.
func (n *Node) Bursts() []Running {
	n.mu.Lock()
	handles := make([]*handle, 0, len(n.owners))
	for _, h := range n.owners {
		handles = append(handles, h)
	}
	n.mu.Unlock()
	out := make([]Running, len(handles))
	for i, h := range handles {
		out[i] = h.look()
	}
	slices.SortFunc(out, func(a, b Running) int {
		switch {
		case a.Doing != nil && b.Doing != nil:
			return cmp.Or(a.Doing.Since.Compare(b.Doing.Since), cmp.Compare(a.InstanceID, b.InstanceID))
		case a.Doing != nil:
			return -1
		case b.Doing != nil:
			return 1
		}
		return cmp.Compare(a.InstanceID, b.InstanceID)
	})
	return out
}

func (h *handle) look() Running {
	r := Running{InstanceID: h.id}
	if b := h.running.Load(); b != nil {
		if d, ok := b.Doing(); ok {
			r.Doing = &d
		}
	} else {
		r.Doing = h.paused.Load()
	}
	return r
}

// Refusal is a commit of this node that a fence refused: another node had the instance
// by then, and nothing of it took effect.
type Refusal struct {
	InstanceID      string
	Sequence, Fence int64     // that the commit would have had
	Commands        []string  // ids of those that it would have consumed
	Began           time.Time // of its first item in the journal
	At              time.Time // when it was refused
}

// mostRefusals is how many refusals a node remembers, the newest.
const mostRefusals = 1000

// refusals is a ring.
type refusals struct {
	mu   sync.Mutex
	ring []Refusal // guarded by mu
	next int       // guarded by mu; the oldest, once the ring is full
}

// note remembers a commit that a fence refused. One that was sent without a lock lost a
// race, and was no zombie's.
func (r *refusals) note(c *store.Commit, err error) {
	if !errors.Is(err, store.ErrFenced) || c.Fence == nil {
		return
	}
	x := Refusal{InstanceID: c.After.Header.ID, Sequence: c.After.Seq, Fence: c.Fence.Revision, Began: c.At, At: time.Now()}
	if len(c.Journal) > 0 {
		x.Began = c.Journal[0].Time
	}
	for i := range c.Consumed {
		x.Commands = append(x.Commands, c.Consumed[i].Command.ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < mostRefusals {
		r.ring = append(r.ring, x)
		return
	}
	r.ring[r.next] = x
	r.next = (r.next + 1) % mostRefusals
}

// Refusals are the commits of this node that a fence refused, the newest first: of an
// instance, or of all (""). It remembers the last 1,000 since it started.
func (n *Node) Refusals(id string) []Refusal {
	r := &n.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Refusal
	for _, x := range slices.Concat(r.ring[r.next:], r.ring[:r.next]) {
		if id == "" || x.InstanceID == id {
			out = append(out, x)
		}
	}
	slices.Reverse(out)
	return out
}

// Hottest are the instances that this node committed most often of late, at least once a
// second, those with the most commits first: a rate of the last 10 s or so.
func (n *Node) Hottest(most int) []hot.Instance { return n.rates.Hottest(most, time.Now()) }
