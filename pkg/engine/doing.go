package engine

import (
	"sync/atomic"
	"time"
)

// Doing is what a burst is at.
type Doing struct {
	ActivityID, ActivityType string
	Since                    time.Time // it was called then, or a moment later
	Attempt                  int       // of its work, from 1, as it tells, or a retry around it; 0: neither does
	Ran                      int64     // activities that its command has run, a multiple of [Limits].Activities; 0: fewer than that
	Outside                  bool      // it may wait for the outside, so a cancel interrupts it; else its end is waited for
	Beside                   []string  // ids of the activities whose calls are in flight beside it, the oldest first
}

// doing is what the burst is at, for other goroutines. It costs a call of an activity no
// clock and no memory: the time is that of what the journal was told last, which was
// just before.
type doing struct {
	node    atomic.Pointer[Node] // nil: none, or the workflow itself
	since   atomic.Int64         // in nanoseconds
	attempt atomic.Int32
	ran     atomic.Int64 // of the command that gave way last
	last    time.Time    // of the last item of the journal, or of the last commit; the burst's own
}

func (d *doing) begin(x *Execution) {
	n := x.node
	if n.parent == nil {
		n = nil
	}
	d.since.Store(d.last.UnixNano())
	d.attempt.Store(x.attempt)
	d.node.Store(n)
}

// Doing tells, from any goroutine, which activity the burst is in, or was in last;
// false: it has come to none.
func (b *Burst) Doing() (Doing, bool) {
	if calls := b.calls.List(); len(calls) > 1 {
		n := calls[0].Of.(*Execution).node
		now := Doing{ActivityID: n.id, ActivityType: n.desc.Type, Since: time.Unix(0, calls[0].Since).UTC(), Ran: b.doing.ran.Load(), Outside: true}
		for _, c := range calls[1:] {
			now.Beside = append(now.Beside, c.Of.(*Execution).node.id)
		}
		return now, true
	}
	for {
		n, since := b.doing.node.Load(), b.doing.since.Load()
		if n == nil {
			return Doing{}, false
		}
		now := Doing{ActivityID: n.id, ActivityType: n.desc.Type, Since: time.Unix(0, since).UTC(), Attempt: int(b.doing.attempt.Load()), Ran: b.doing.ran.Load(), Outside: !n.desc.NoEffect}
		if b.doing.node.Load() == n && b.doing.since.Load() == since {
			return now, true
		}
	}
}

// TellAttempt tells who looks at the burst which attempt of its work the activity
// begins; the first is 1. What it schedules next belongs to that attempt. It is for
// activities that try again by themselves, and lasts until the end of the burst.
func (x *Execution) TellAttempt(n int64) {
	x.attempt = int32(min(n, 1<<30))
	x.b.doing.attempt.Store(x.attempt)
}
