package client

import (
	"sync"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// A command may run any number of activities before it waits, and the engine gives way after so many of them
// ([engine.GivesWay]). The owner then pauses before the next burst, and lets the instance go if others
// wait for its place, or if the node takes up no work. From then on other commands of the instance go before
// the rest of the long one: it has no end that they could wait for.
//
// How long the pause is goes by what all long commands of the node cost together: they take half of a
// processor at most, and write about longBytes a second. So loops without an end fill no etcd, and
// a loop that has an end comes to it.

const (
	longBytes = 512 << 10        // a second, of all long commands of a node
	longPause = 30 * time.Second // at most, however many there are
	longLook  = time.Second      // how often who pauses looks whether others wait for its place
	// longTold is how many activities a command has run when the log tells of it first; then at ten times as
	// many, and so on.
	longTold = 100_000
)

// long are the commands of this node that gave way.
type long struct {
	mu    sync.Mutex
	count int // guarded by mu
}

func (l *long) add(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count += n
	return l.count
}

// pause is how long one of n long commands pauses that took so long and wrote so much.
func pauseOf(n int, took time.Duration, wrote int) time.Duration {
	written := time.Duration(wrote) * time.Second / longBytes
	return min(time.Duration(max(n, 1))*max(took, written), longPause)
}

// stretch is how far a command has come that does not come to a wait.
type stretch struct {
	long  bool // it gave way
	since time.Time
	wrote int // bytes since then
}

// ran notes a commit of a burst that goes on.
func (s *stretch) ran(began time.Time, bytes int) {
	if s.since.IsZero() {
		s.since = began
	}
	s.wrote += bytes
}

// givingWay is the state after a commit behind which others have their turn.
type givingWay struct{ *round }

func (s givingWay) next(o *owner) state {
	now := &o.course.stretch
	if !now.long {
		now.long = true
		metrics.SetLong(o.n.cfg.Metrics, o.n.long.add(1))
	}
	pause := pauseOf(o.n.long.add(0), time.Since(now.since), now.wrote)
	*now = stretch{long: true}
	if pause > o.n.cfg.LateAfter/2 {
		o.inbox.acceptApplied(o.header()) // what they did is durable
	}
	if b := o.live.Burst; b != nil {
		if at, ok := b.Doing(); ok {
			o.paused.Store(&at)
		}
	}
	goesOn := o.pause(pause)
	o.paused.Store(nil)
	if !goesOn {
		s.span.End()
		return yielding{}
	}
	return s.again(o)
}

// pause waits until the time is over or something came for the instance. It is false if the instance is to
// be let go: others wait for its place, or the node takes up no work.
func (o *owner) pause(d time.Duration) bool {
	over, look := time.NewTimer(d), time.NewTicker(longLook)
	defer over.Stop()
	defer look.Stop()
	for {
		if o.seat.place != nil && o.n.slots.Wanted(o.seat.place.In) || o.n.cfg.HeldBack() {
			return false
		}
		select {
		case <-over.C:
			return true
		case <-o.news:
			return true
		case <-look.C:
		case <-o.n.draining:
			return false
		case <-o.ctx.Done():
			return true // what comes next finds out
		}
	}
}

// endsLong counts a long command of this owner that is over, or left to others.
func (o *owner) endsLong() {
	if o.course.stretch.long {
		metrics.SetLong(o.n.cfg.Metrics, o.n.long.add(-1))
	}
}

// tellLong tells of a command that has run so many activities, the last of them since it was told before.
func (x *burst) tellLong(ran, last int64) {
	for told := int64(longTold); told <= ran; told *= 10 {
		if ran-last >= told {
			continue
		}
		at, _ := x.b.Doing()
		x.handle.n.cfg.Log.Warn("an instance has run for long without a wait, and goes on with pauses",
			"instanceId", x.handle.id, "definition", x.definition, "activities", ran, "activity", at.ActivityID)
	}
}

// othersFirst leaves out the rest of a long command as long as there is something else: that is run beside
// it. What ends the instance was chosen before.
func (o *owner) othersFirst(c choice, mail []store.Mail, more bool) ([]store.Mail, bool) {
	if !o.course.stretch.long {
		return mail, more
	}
	var others []store.Mail
	rest := false
	for _, m := range mail {
		if m.Command.ID == workflow.ContinueID {
			rest = true
		} else {
			others = append(others, m)
		}
	}
	if !rest || len(others) == 0 && len(c.first(1)) == 0 {
		return mail, more
	}
	return others, true
}
