package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A command that was taken over says which processes began to run it since, and
// neither committed it nor gave it back. One that lost its session, drained or met an
// error lives, and takes its mark back. One of which no trace is left may have died of
// the command; when that many are gone that it is no chance, it is poison, and is
// not run again.

const (
	// markLife is how long a mark counts. A process that ends later did not end of it.
	markLife = time.Hour
	// ageLag is how far a node may be behind another in what it knows of the cluster's age.
	ageLag = time.Minute
	// maxMarks bounds the marks of a command; the last ones stay.
	maxMarks = 8
)

// fate is what is to be done with a command in the mailbox.
type fate int

const (
	runs   fate = iota // run it
	rests              // not yet: it was begun several times
	poison             // never again unasked
)

// fate judges a command that was taken over before.
func (n *Node) fate(instance string, cmd *workflow.Command) fate {
	if cmd.Attempts == 0 {
		return runs
	}
	s, gone := admission.Suspect{Instance: instance, Command: cmd.ID}, n.gone(cmd)
	if len(gone) >= n.cfg.Deaths {
		// The last of them counts: all have been gone for as long as it.
		if left := n.cfg.Grace - gone[n.cfg.Deaths-1]; left > 0 {
			n.resting.Until(s, cmd.Attempts, left)
			return rests
		}
		return poison
	}
	if n.resting.Wait(s, cmd.Attempts, n.cfg.Rest) {
		return rests
	}
	if n.decides(cmd) && n.quarantine.MustWait(s) {
		return rests
	}
	return runs
}

// gone tells for how long each process is that began the command, the longest
// first; those that are not gone are left out.
func (n *Node) gone(cmd *workflow.Command) []time.Duration {
	var out []time.Duration
	for _, b := range n.recent(cmd.Begun) {
		if d := n.cfg.Processes.Gone(b.Process); d > 0 && b.Process != n.cfg.Process {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b time.Duration) int { return int(b - a) })
	return out
}

// recent leaves out marks that count no more.
func (n *Node) recent(marks []workflow.Begun) []workflow.Begun {
	return slices.DeleteFunc(slices.Clone(marks), func(b workflow.Begun) bool { return n.ago(&b) > markLife })
}

// ago tells how old a mark is, by the age of the cluster, which no clock moves. It is
// by the clocks where that was not known yet, or was lost since.
func (n *Node) ago(b *workflow.Begun) time.Duration {
	now, then := n.cfg.Store.Elapsed(), time.Duration(b.Age)*time.Millisecond
	if then > 0 && then <= now+ageLag {
		return now - then
	}
	return n.cfg.Env().Now().Sub(b.At)
}

// Rests reports whether a command in the mailbox is left alone for now: there is no
// use in taking its instance for it.
func (n *Node) Rests(instance, command string) bool {
	s := admission.Suspect{Instance: instance, Command: command}
	return n.resting.Has(s) || n.quarantine.Waits(s)
}

// begins tells whether nothing of an instance goes before this command: what it
// would be run on is not there yet, or the command's work would be run with it.
func begins(k workflow.CommandKind) bool {
	return k == workflow.CommandStart || k == workflow.CommandContinue
}

// ends tells whether a command goes before all others.
func ends(k workflow.CommandKind) bool {
	return k == workflow.CommandCancel || k == workflow.CommandDelete
}

// awake leaves out the mail that rests. While the instance's start rests, or the rest
// of a burst, or what ends it, only (what else) ends it goes on; commands in hand wait in the mailbox. now is
// what is known of the instance.
func (o *owner) awake(c choice, now workflow.Instance, mail []store.Mail) (out []store.Mail, start *store.Mail) {
	if !slices.ContainsFunc(mail, func(m store.Mail) bool { return m.Command.Attempts > 0 }) {
		return mail, nil
	}
	blocked, ending := false, o.endsIn(c, mail)
	out = slices.DeleteFunc(slices.Clone(mail), func(m store.Mail) bool {
		if o.atWork(m.Command.ID) || o.n.fate(o.id, &m.Command) != rests || ending && returns(m.Command.Kind) {
			return false // what could bring it back is refused with its end, and not run
		}
		c.putOff(now, ErrBusy, func(w *waiter) bool { return w.cmd.ID == m.Command.ID }) // its twin is not run instead
		blocked = blocked || begins(m.Command.Kind) || ends(m.Command.Kind)
		if m.Command.Kind == workflow.CommandStart {
			start = &m
		}
		return true
	})
	if !blocked {
		return out, nil
	}
	c.putOff(now, ErrBusy, func(w *waiter) bool { return !ends(w.cmd.Kind) })
	ending = o.endsIn(c, out) // and does not rest
	return slices.DeleteFunc(out, func(m store.Mail) bool { return !ends(m.Command.Kind) && !(ending && returns(m.Command.Kind)) }), start
}

// atWork tells whether this owner has begun a command, and goes on with it: it does
// not rest on account of that.
func (o *owner) atWork(command string) bool {
	return o.course.unfit.is(command) || o.marked(command)
}

// marked tells whether the mark of this process at a command stands, or, of a
// deletion that comes again, that it was run already.
func (o *owner) marked(command string) bool {
	return command == o.course.deletion || o.mark != nil && o.mark.before.ID == command
}

func (u *unfit) is(command string) bool { return u != nil && u.command == command }

// suspect tells whether a command shares no burst, so that it harms no other: it was
// taken over, or is not to be run.
func (o *owner) suspect(m store.Mail) bool {
	left := o.taken.recovered && m.Created <= o.taken.at && !(o.taken.wentOn && m.Command.ID == workflow.ContinueID)
	return left || m.Command.Attempts > 0 || o.course.unfit.is(m.Command.ID)
}

// alone is the batch of one such command.
func (o *owner) alone(m store.Mail) batch {
	b := batch{mail: []store.Mail{m}, counted: true}
	switch {
	case o.course.unfit.is(m.Command.ID):
		b.why = o.course.unfit.why
	case o.n.fate(o.id, &m.Command) == poison:
		b.why = o.n.died(&m.Command)
	}
	return b
}

// ended are the nodes whose processes began a command and are gone.
func (n *Node) ended(cmd *workflow.Command) (nodes []string) {
	for _, b := range n.recent(cmd.Begun) {
		if n.cfg.Processes.Gone(b.Process) > 0 {
			nodes = append(nodes, fmt.Sprintf("%s (%s)", b.Node, b.At.UTC().Format(time.RFC3339)))
		}
	}
	return nodes
}

// died says what happened to a poisoned command.
func (n *Node) died(cmd *workflow.Command) string {
	nodes := n.ended(cmd)
	return fmt.Sprintf("%d processes ended while they ran %s command %s, and none committed it: %s; it was set aside",
		len(nodes), cmd.Kind, cmd.ID, strings.Join(nodes, ", "))
}

// countAttempt notes, before a command runs that was taken over, that this process
// begins it.
func (o *owner) countAttempt(ctx context.Context, work *batch) error {
	n, m := o.n, &work.mail[0]
	before := m.Command // without a mark of this process that it does not know of
	before.Begun = slices.DeleteFunc(n.recent(before.Begun), func(b workflow.Begun) bool { return b.Process == n.cfg.Process })
	cmd := before
	cmd.Attempts++
	cmd.Begun = slices.Clone(before.Begun)
	by := workflow.Begun{Process: n.cfg.Process, Node: n.cfg.NodeID, At: n.cfg.Env().Now(), Age: n.cfg.Store.Elapsed().Milliseconds()}
	cmd.Begun = append(cmd.Begun, by)
	cmd.Begun = cmd.Begun[max(0, len(cmd.Begun)-maxMarks):]
	counted, err := n.cfg.Store.CountAttempt(ctx, o.own.Fence(), o.id, cmd, m.Created)
	if err == nil || errors.Is(err, etcdstore.ErrUnknown) {
		o.mark = &mark{before: before, by: by, counted: counted}
	}
	if err != nil {
		return err
	}
	m.Command = cmd
	n.cfg.Metrics.Takeover()
	n.cfg.Log.InfoContext(ctx, "took over a command that another node left", "instanceId", o.id, "commandId", cmd.ID, "kind", cmd.Kind, "attempt", cmd.Attempts)
	return nil
}

// mark is what this process wrote to a command that it began.
type mark struct {
	before  workflow.Command
	by      workflow.Begun
	counted int64 // revision; 0: no answer said that it was written
}

// written looks for a mark whose writing got no answer: 0, if it is not there, or if
// another process has begun the command since, whose mark is not to go with it.
func (h *handle) written(ctx context.Context, m *mark) (int64, error) {
	there, err := h.n.cfg.Store.Mail(ctx, h.id, m.before.ID)
	if err != nil || there == nil || len(there.Command.Begun) == 0 {
		return 0, err
	}
	last := there.Command.Begun[len(there.Command.Begun)-1]
	if last.Process != m.by.Process || !last.At.Equal(m.by.At) { // or it is of a later owner of this process
		return 0, nil
	}
	return there.Modified, nil
}

// takeBackMark undoes the mark of a command that was begun, and not committed: this
// process lives, even if its session is lost. A node that drains leaves no trace;
// else that it was begun is remembered, so that the next attempt waits.
func (h *handle) takeBackMark(ctx context.Context, m *mark) {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	cmd := m.before
	select {
	case <-h.n.draining:
	default:
		cmd.Attempts++
	}
	counted, err := m.counted, error(nil)
	if counted == 0 {
		counted, err = h.written(ctx, m)
	}
	if counted > 0 {
		_, err = h.n.cfg.Store.TakeBackAttempt(ctx, h.id, cmd, counted)
	}
	if err != nil {
		// As long as this process has a session it is seen to live.
		h.n.cfg.Log.WarnContext(ctx, "that a command was begun here, and given up, is not noted", "instanceId", h.id, "commandId", cmd.ID, "error", err)
	}
}

// setAside gives up on a command that is not to be run, for the reason of its batch.
// Without its start, a due timer, the end of a child or the rest of a burst an instance
// would wait for ever: it faults, and a retry runs the command. It goes on without
// the others, which become dead letters.
func (x *burst) setAside(cmd workflow.Command) store.Effect {
	if !held(&cmd) {
		x.bury(cmd, workflow.DeadPoison, x.why)
		x.extra = append(x.extra, workflow.Incident{Message: x.why, Time: x.env.Now()})
		return store.Effect{Outcome: workflow.OutcomeRefused, Code: string(workflow.DeadPoison)}
	}
	x.handle.n.cfg.Log.Error("a command is not run again; its instance faults", "instanceId", x.handle.id, "commandId", cmd.ID, "kind", cmd.Kind, "reason", x.why)
	if out := x.b.Hold(cmd, x.why); out == engine.Applied && cmd.Kind == workflow.CommandStart {
		x.begun = true
		return store.Effect{Outcome: workflow.OutcomeStarted}
	}
	return store.Effect{Outcome: workflow.OutcomeDropped}
}

// held tells whether the engine keeps a command that is set aside for a retry.
func held(cmd *workflow.Command) bool {
	return begins(cmd.Kind) || cmd.Kind == workflow.CommandChildEnd || cmd.Kind == workflow.CommandResume && cmd.Timer
}
