package runtime

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Level says how full etcd is.
type Level int32

// The levels, and what is refused at each.
const (
	Roomy      Level = iota
	NearlyFull       // starts
	Full             // all but what ends or deletes instances
)

// Intake is what this node may take up. The node's upkeep finds out whether the
// cluster is paused and how full etcd is; callers and workers go by it. The zero
// value takes everything.
type Intake struct {
	paused   atomic.Bool // the cluster is paused
	draining atomic.Bool // this node is going
	level    atomic.Int32
	space    atomic.Pointer[etcdstore.Space]
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
	i.level.Store(int32(l))
}

// Level tells how full etcd is.
func (i *Intake) Level() Level { return Level(i.level.Load()) }

// Space is what the level was told from; nil: not known yet.
func (i *Intake) Space() *etcdstore.Space { return i.space.Load() }

// HoldsBack reports whether workers must not take up what goes on or starts.
func (i *Intake) HoldsBack() bool { return i.Suspended() || i.Level() == Full }

// want is what a call wants of the store.
type want int

const (
	ends   want = iota // ends or deletes an instance
	goesOn             // an instance that exists goes on
	starts             // something new
)

// accepting gives the error for a caller who brings work to a node that takes
// none, or none of this kind.
func (r *Runtime) accepting(w want) error {
	switch {
	case r.intake.Draining():
		return &workflow.Error{Code: workflow.CodeDraining, Detail: "this node is draining; send the request to another", RetryAfter: time.Second}
	case r.intake.paused.Load():
		return &workflow.Error{Code: workflow.CodePaused, Detail: "the cluster is paused; POST /api/v1/unpause lets it go on", RetryAfter: 5 * time.Second}
	}
	if w == starts {
		if err := r.keepsUp(); err != nil {
			return err
		}
	}
	return r.room(w)
}

// keepsUp is the error for a caller who starts something while the session's
// lease is renewed late. This node, its way to etcd or etcd itself has too much to
// do, and with the session everything that runs here would be lost. What exists
// goes on.
func (r *Runtime) keepsUp() error {
	since, late := r.cfg.Session.Overdue()
	if !late {
		return nil
	}
	r.cfg.Metrics.Shed(metrics.ShedStart, metrics.ShedSession)
	return &workflow.Error{Code: workflow.CodeBusy, RetryAfter: 2 * time.Second,
		Detail: fmt.Sprintf("this node could not renew its session with etcd for %v, and takes no starts until it has; send the request to another", since.Round(100*time.Millisecond))}
}

// Room is the error for a caller who brings something new when etcd is nearly
// full.
func (r *Runtime) Room() error { return r.room(starts) }

func (r *Runtime) room(w want) error {
	l := r.intake.Level()
	if l == Roomy || w == ends || l == NearlyFull && w == goesOn {
		return nil
	}
	wanted := metrics.ShedStart
	if w == goesOn {
		wanted = metrics.ShedResume
	}
	r.cfg.Metrics.Shed(wanted, metrics.ShedSpace)
	return &workflow.Error{Code: workflow.CodeStoreNearlyFull, RetryAfter: 10 * time.Second, Detail: r.HeldBack()}
}

// HeldBack says what is refused for want of space in etcd; "": nothing is.
func (r *Runtime) HeldBack() string {
	what := "starts and new definitions are refused"
	switch r.intake.Level() {
	case Roomy:
		return ""
	case Full:
		what = "only what ends or deletes instances is taken"
	}
	return "etcd is nearly full: " + what + " until there is room (" + r.intake.Space().String() + ")"
}

// Drain makes this node take up no more work; what runs goes on.
func (r *Runtime) Drain() { r.intake.Drain() }

// Intake is what this node may take up, for its upkeep.
func (r *Runtime) Intake() *Intake { return &r.intake }

// Pause stops the whole cluster from taking up work, and answers when every
// node record shows it. What runs goes on to its next wait.
func (r *Runtime) Pause(ctx context.Context) error { return r.setPaused(ctx, true) }

// Unpause lets the cluster go on, and answers when every node record shows it.
func (r *Runtime) Unpause(ctx context.Context) error { return r.setPaused(ctx, false) }

func (r *Runtime) setPaused(ctx context.Context, paused bool) error {
	var revision int64
	err := r.settle(ctx, func() (err error) {
		revision, err = r.cfg.Stimuli.SetPaused(ctx, paused)
		return err
	})
	if err != nil {
		return readFailed("pause flag", err)
	}
	changed, cancel := r.cfg.Session.MembersChanged()
	defer cancel()
	for {
		if everyNode(r.cfg.Session.Members(), revision) {
			return nil
		}
		select {
		case <-ctx.Done():
			return &workflow.Error{Code: workflow.CodeBusy, Detail: "it is set, and not every node shows it yet", RetryAfter: time.Second}
		case <-changed:
		case <-time.After(500 * time.Millisecond): // the watch is a hint
		}
	}
}

// everyNode reports whether all nodes have seen the flag of this revision.
func everyNode(nodes []cluster.Node, revision int64) bool {
	for _, n := range nodes {
		if n.PauseRevision < revision {
			return false
		}
	}
	return true
}
