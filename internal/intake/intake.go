package intake

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Kind is what a call wants of the store.
type Kind int

// The kinds of calls, the most welcome first.
const (
	Ends   Kind = iota // ends or deletes an instance
	GoesOn             // an instance that exists goes on
	Starts             // something new
)

// Intake is what this node may take up. The node's upkeep finds out whether the
// cluster is paused and how full etcd is; callers and workers go by it. The zero
// value takes everything.
type Intake struct {
	overdue func() (since time.Duration, late bool)
	metrics *metrics.Metrics

	paused   atomic.Bool // the cluster is paused
	draining atomic.Bool // this node is going
	level    atomic.Int32
	space    atomic.Pointer[etcdstore.Space]
	spent    atomic.Int64 // bytes that jobs wrote since
	grown    growth
}

// New makes an intake that takes everything, but no starts while overdue says that
// the session's lease is renewed late. What is refused is counted in m.
func New(overdue func() (since time.Duration, late bool), m *metrics.Metrics) *Intake {
	return &Intake{overdue: overdue, metrics: m}
}

// Drain makes this node take up no more work; what runs goes on.
func (i *Intake) Drain() { i.draining.Store(true) }

// Draining reports whether this node is going.
func (i *Intake) Draining() bool { return i.draining.Load() }

// SetPaused notes whether the cluster is paused.
func (i *Intake) SetPaused(paused bool) { i.paused.Store(paused) }

// Suspended reports whether workers must not take up anything.
func (i *Intake) Suspended() bool { return i.paused.Load() || i.draining.Load() }

// SetSpace notes how full etcd is.
func (i *Intake) SetSpace(l Level, sp etcdstore.Space) {
	i.space.Store(&sp)
	i.spent.Store(0)
	i.level.Store(int32(l))
	i.grown.add(time.Now(), sp.InUse)
}

// Growth tells by how many bytes a day what is in use grows, over how long that was seen by this node, since its
// start and in the last day. Less than ten minutes tell nothing: over is 0 then.
func (i *Intake) Growth() (bytesADay float64, over time.Duration) { return i.grown.slope() }

// Level tells how full etcd is.
func (i *Intake) Level() Level { return Level(i.level.Load()) }

// Space is what the level was told from; nil: not known yet.
func (i *Intake) Space() *etcdstore.Space { return i.space.Load() }

// HoldsBack reports whether workers must not take up what goes on or starts.
func (i *Intake) HoldsBack() bool { return i.Suspended() || i.Level() >= Full }

// JobsRestAt is the part of the quota from which on, in use, jobs that end or delete instances rest: what they write is
// little, but of many, and counts until the next compaction. One call after the other goes on.
const JobsRestAt = 0.93

// Rests reports whether jobs of this kind rest. They do so sooner than single calls are refused: between two looks at
// the space they write more.
func (i *Intake) Rests(k Kind) bool {
	l, sp := i.Level(), i.Space()
	if i.Suspended() || sp != nil && sp.Quota > 0 && i.spent.Load() >= share(sp) {
		return true
	}
	if l == Roomy {
		return false
	}
	if k != Ends || l == OutOfDisk {
		return true
	}
	return sp != nil && (sp.NoSpace || float64(sp.InUse) >= JobsRestAt*float64(sp.Quota))
}

// WhyRests says why jobs of this kind rest; "": they do not, or for a moment, or others go on as this node drains.
func (i *Intake) WhyRests(k Kind) string {
	switch {
	case !i.Rests(k):
		return ""
	case i.paused.Load():
		return isPaused().Detail
	}
	return i.HeldBack()
}

// jobShare is the part of the quota that jobs of this node write between two looks at the space: less than lies between
// the level at which they rest and the alarm, for several nodes.
const jobShare = 0.05

func share(sp *etcdstore.Space) int64 { return int64(jobShare * float64(sp.Quota)) }

// Affords is how many instances, of most and at least one, a job may write each bytes for before the next look at the
// space.
func (i *Intake) Affords(each int64, most int) int {
	sp := i.Space()
	if sp == nil || sp.Quota == 0 {
		return most
	}
	return int(max(1, min(int64(most), (share(sp)-i.spent.Load())/max(1, each))))
}

// Spend notes that a job writes so many bytes; with its share spent a job rests until the space was looked at.
func (i *Intake) Spend(bytes int64) { i.spent.Add(bytes) }

// Alarmed reports whether etcd has raised its alarm: it takes no transaction that puts.
func (i *Intake) Alarmed() bool {
	sp := i.Space()
	return sp != nil && sp.NoSpace
}

// Accepts gives the error for a caller who brings work to a node that takes none, or
// none of this kind.
func (i *Intake) Accepts(k Kind) error {
	switch {
	case i.Draining():
		return &workflow.Error{Code: workflow.CodeDraining, Detail: "this node is draining; send the request to another", RetryAfter: time.Second}
	case i.paused.Load():
		return isPaused()
	}
	if k == Starts {
		if err := i.keepsUp(); err != nil {
			return err
		}
	}
	return i.Room(k)
}

// keepsUp is the error for a caller who starts something while the session's
// lease is renewed late. This node, its way to etcd or etcd itself has too much to
// do, and with the session everything that runs here would be lost. What exists
// goes on.
func (i *Intake) keepsUp() error {
	if i.overdue == nil {
		return nil
	}
	since, late := i.overdue()
	if !late {
		return nil
	}
	i.metrics.Shed(metrics.ShedStart, metrics.ShedSession)
	return &workflow.Error{Code: workflow.CodeBusy, RetryAfter: 2 * time.Second,
		Detail: fmt.Sprintf("this node could not renew its session with etcd for %v, and takes no starts until it has; send the request to another", since.Round(100*time.Millisecond))}
}

// Room is the error for a caller who brings work of a kind for which etcd is too
// full.
func (i *Intake) Room(k Kind) error {
	if i.fits(k) {
		return nil
	}
	wanted := metrics.ShedStart
	if k == GoesOn {
		wanted = metrics.ShedResume
	}
	i.metrics.Shed(wanted, metrics.ShedSpace)
	return i.isFull()
}

// Refuses is why any node would refuse a call of this kind, as far as this one knows: a pause, or an
// etcd that is too full; nil: none would. It is for who only asks, and counts as no refusal.
func (i *Intake) Refuses(k Kind) *workflow.Error {
	switch {
	case i.paused.Load():
		return isPaused()
	case !i.fits(k):
		return i.isFull()
	}
	return nil
}

func isPaused() *workflow.Error {
	return &workflow.Error{Code: workflow.CodePaused, Detail: "the cluster is paused; weft cluster unpause (POST /api/v1/unpause) lets it go on", RetryAfter: 5 * time.Second}
}

// fits tells whether etcd has room for a call of this kind. An end is written, which the alarm refuses.
func (i *Intake) fits(k Kind) bool {
	l := i.Level()
	return l == Roomy || k == Ends && l != OutOfDisk && !i.Alarmed() || l == NearlyFull && k == GoesOn
}

func (i *Intake) isFull() *workflow.Error {
	return &workflow.Error{Code: workflow.CodeStoreNearlyFull, RetryAfter: 10 * time.Second, Detail: i.HeldBack()}
}

// Fullness tells how full etcd is, as people hear of it.
func (i *Intake) Fullness() Fullness {
	sp := i.Space()
	if sp == nil {
		return Fullness{}
	}
	return Tell(i.Level(), *sp)
}

// HeldBack says what is refused for want of space in etcd, and what to do; "": nothing is.
func (i *Intake) HeldBack() string { return i.Fullness().Line() }
