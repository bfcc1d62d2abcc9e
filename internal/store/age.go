package store

import (
	"slices"
	"time"
)

// Age tells how old what lies in etcd is, by no wall clock: neither the one of who
// wrote it nor the one of who wants to delete it. It is how long nodes have seen
// the cluster live, by their monotonic clocks, and marks of which revision etcd had
// reached when. Time in which no node lived does not count, and nothing is younger
// than it says: what goes by it goes late rather than early.
type Age struct {
	Elapsed time.Duration // of the cluster, when this was written
	Marks   []AgeMark     // oldest first; the last one is of this very writing
	Etcd    uint64        // the id of the etcd cluster whose revisions these are
	Foreign bool          // it says more than this program knows: only nodes that know all of it let it go on
}

// AgeMark says that etcd's revision was this when the cluster was so old.
type AgeMark struct {
	Revision int64
	Elapsed  time.Duration
}

// Of is how old at least what was written at a revision is; 0: that is not known.
func (a *Age) Of(revision int64) time.Duration {
	if a == nil {
		return 0
	}
	i, _ := slices.BinarySearchFunc(a.Marks, revision, func(m AgeMark, r int64) int { return int(min(1, max(-1, m.Revision-r))) })
	if i == len(a.Marks) {
		return 0
	}
	return a.Elapsed - a.Marks[i].Elapsed
}

// Before is the last mark that is at least so old: exactly what was written up to
// its revision is. False: there is none.
func (a *Age) Before(old time.Duration) (AgeMark, bool) {
	if a == nil {
		return AgeMark{}, false
	}
	for _, m := range slices.Backward(a.Marks) {
		if a.Elapsed-m.Elapsed >= old {
			return m, true
		}
	}
	return AgeMark{}, false
}

// Thin leaves out marks that nobody misses: two that stay are no more than
// ageStep or a sixteenth of their age apart, so that some hundred tell of years.
func (a *Age) Thin() {
	kept := a.Marks[:0]
	for i, m := range a.Marks {
		if n := len(kept); n > 0 && i+1 < len(a.Marks) &&
			a.Marks[i+1].Elapsed-kept[n-1].Elapsed <= max(ageStep, (a.Elapsed-kept[n-1].Elapsed)/16) {
			continue
		}
		kept = append(kept, m)
	}
	a.Marks = kept
}

// ageStep is what the youngest marks are apart.
const ageStep = time.Second
