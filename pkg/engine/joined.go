package engine

import "time"

// Saves may be joined (docs/decisions/0007): what a strategy wants to be saved around each activity may
// wait for that of those that follow, as long as none of them can have an effect outside.

const (
	// mostJoined is how many activities one save has at most.
	mostJoined = 16
	// joinedFor is how long a save waits for others. A commit takes about as long.
	joinedFor = 20 * time.Millisecond
)

// owed is what has run since the last commit and is to be saved.
type owed struct {
	saves int
	since time.Time // when the first of them was due
	loud  bool      // something ran that may have had an effect outside
}

// add notes a save that may be joined with others.
func (o *owed) add(now time.Time) {
	if o.saves++; o.saves == 1 {
		o.since = now
	}
}

// after notes what is to be saved after an activity, and tells whether that cannot be joined.
func (o *owed) after(c commitPoints, now time.Time) bool {
	if c.after && c.joins {
		o.add(now)
	}
	return c.after && !c.joins
}

// mayWait tells whether what is owed may be saved after work at n has run. Where that has an effect outside,
// and where something before it had one, the save comes first.
func (o *owed) mayWait(n *Node, now time.Time) bool {
	return n.quiet && !o.loud && (o.saves == 0 || o.saves < mostJoined && now.Sub(o.since) < joinedFor)
}

// at is where work stands.
func (w *work) at() *Node {
	if w.kind == workExecute {
		return w.node
	}
	return w.x.node
}
