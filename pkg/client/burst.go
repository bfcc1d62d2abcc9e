package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// burst is one uninterrupted execution: its commands, and what has to be
// committed of them.
type burst struct {
	handle     *handle // the burst runs beside the owner, and has nothing of it
	b          *engine.Burst
	definition string // that it runs
	before     *store.Record
	trace      string // W3C traceparent of the burst
	env        engine.Env
	consumed   []store.Consumed
	served     []served
	response   *workflow.Response // what it wrote for a command before it went on
	requeue    []store.QueueItem
	dead       []store.DeadLetter
	weight     int                 // of requeue and dead, about, in bytes
	late       []time.Duration     // of commands that time sent, when they began
	extra      []workflow.Incident // that the engine does not know of
	deleting   bool
	begun      bool               // a start was run
	began      time.Time          // when it began to run
	traced     bool               // the first command was, as the burst
	why        string             // its one command is set aside for this reason; "": it is run
	gated      error              // why what could bring it back is refused: another has the gate
	overtaken  bool               // what runs is refused, since an end goes before it
	passed     bool               // the barrier: the lock is there
	goOn       bool               // the engine wants a commit before it goes on
	givesWay   bool               // and others are to have their turn then
	again      bool               // the last command is not done: it comes again after that commit
	deletion   string             // that command
	replaced   *workflow.Instance // an import took the place of the engine's result
	missed     []workflow.Command // ends of children that the imported instance waits for, and that were told before
}

// served is a waiter with what its command did.
type served struct {
	w        *waiter
	effect   store.Effect
	response *workflow.Response
	inHand   bool // it was not durable when it ran
}

// nothing tells whether the command had no effect, and was judged as one that
// nobody has acknowledged.
func (s *served) nothing() bool {
	return s.inHand && (s.effect.Outcome == workflow.OutcomeGone || s.effect.Outcome == workflow.OutcomeRefused)
}

// open makes the engine's burst from what is known of the instance.
func (o *owner) open(ctx context.Context, work *batch) (*burst, error) {
	x := &burst{handle: o.handle, before: o.base, env: o.n.cfg.Env(), trace: tracing.Traceparent(ctx)}
	x.why = work.why
	if o.n.cfg.Files != nil {
		x.env.Files = o.n.cfg.Files(o.id, parentOf(work, o.base), o.base != nil)
	}
	x.env.Stopped = o.course.stopped
	x.env.Takeover = work.counted
	x.gated = o.course.gated
	x.env.SaveBack = x.gated == nil && o.mayTakeGate(work)
	x.env.Version = func(version int) (*engine.Program, error) {
		return o.n.cfg.Definitions.Program(ctx, x.definition, version)
	}
	if o.free() {
		x.env.Barrier = x.barrier
	}
	if work.repeats() {
		x.env.Secure = x.secure
	}
	if err := known(work); err != nil {
		return x, err
	}
	var err error
	switch {
	case o.base != nil && ran(o.base):
		hd := o.base.Header
		x.definition = hd.DefinitionID
		prog, perr := o.n.cfg.Definitions.Program(ctx, hd.DefinitionID, hd.Version)
		if perr != nil {
			return x, perr
		}
		if x.b = o.live.Renew(o.base, prog, x.env); x.b != nil {
			break
		}
		if o.base.Apart {
			x.b, err = x.openApart(ctx, prog)
			o.base = cmp.Or(x.before, o.base) // it may have been read whole
		} else {
			x.b, err = engine.Load(prog, hd, o.base.State, x.env)
		}
		if err != nil && workflow.CodeOf(err) != workflow.CodeUnavailable {
			err = &workflow.Error{Code: workflow.CodeNotRunnable, Err: err,
				Detail: fmt.Sprintf("the program of this node cannot read the state of instance %s, of version %d of definition %s", o.id, hd.Version, hd.DefinitionID)}
		}
	case o.base == nil && onlyImport(work) != nil:
		if x.gated != nil { // there is no instance for which that could be committed
			return x, workflow.Fail(workflow.CodeInstanceGated, x.gated.Error())
		}
		err = x.imported(ctx, onlyImport(work))
	default:
		cmd, created := firstStart(work, o.base)
		if cmd == nil {
			if o.base == nil {
				return x, notFound(o.id)
			}
			return x, fmt.Errorf("instance %s never ran and has no start command", o.id)
		}
		x.definition = cmd.Start.DefinitionID
		prog, perr := o.n.cfg.Definitions.Program(ctx, cmd.Start.DefinitionID, cmd.Start.Version)
		if perr != nil {
			return x, perr
		}
		x.b, err = engine.New(prog, o.id, cmd.Start, created, x.env)
	}
	return x, err
}

// known is the error for commands that only a newer program knows.
func known(work *batch) error {
	for i := range work.mail {
		m := &work.mail[i]
		if m.Unreadable != nil {
			return fmt.Errorf("command %s: %w", m.Command.ID, m.Unreadable)
		}
		if c := &m.Command; !c.Kind.Known() {
			return workflow.Fail(workflow.CodeNotRunnable, fmt.Sprintf("the program of this node does not know the command %q (%s)", c.Kind, c.ID))
		}
	}
	return nil
}

// onlyImport is the import of a batch, which has nothing beside it; nil: it is none. One for an instance that is not
// there brings it: another cluster had it, or it was deleted.
func onlyImport(work *batch) *workflow.Command {
	if len(work.mail) == 0 && len(work.hands) == 1 && work.hands[0].cmd.Kind == workflow.CommandImport {
		return &work.hands[0].cmd
	}
	return nil
}

// parentOf is the instance that started another one; "": none did.
func parentOf(work *batch, base *store.Record) string {
	var parent *workflow.Parent
	if base != nil {
		parent = base.Header.Parent
	} else if cmd, _ := firstStart(work, base); cmd != nil {
		parent = cmd.Start.Parent
	}
	if parent == nil {
		return ""
	}
	return parent.InstanceID
}

func firstStart(work *batch, base *store.Record) (*workflow.Command, time.Time) {
	at := func(c *workflow.Command) (*workflow.Command, time.Time) {
		if base != nil {
			return c, base.Header.CreatedAt
		}
		return c, c.CreatedAt
	}
	if work.start != nil {
		return at(&work.start.Command)
	}
	for i := range work.mail {
		if c := &work.mail[i].Command; c.Kind == workflow.CommandStart {
			return at(c)
		}
	}
	for _, w := range work.hands {
		if w.cmd.Kind == workflow.CommandStart {
			return at(&w.cmd)
		}
	}
	return nil, time.Time{}
}

// work runs the batch's commands. A start that rests goes with the instance: left in
// the mailbox, it would make the instance again.
func (x *burst) work(ctx context.Context, work *batch) error {
	if err := x.inOrder(ctx, work); err != nil || !x.deleting || work.start == nil {
		return err
	}
	return x.one(ctx, work.start.Command, work.start.Created, nil)
}

// inOrder runs the commands in order: what ends the instance first, if it is in hand, then the
// mailbox, as it is older than what else is in hand.
func (x *burst) inOrder(ctx context.Context, work *batch) error {
	x.overtaken = true
	for _, m := range work.overtaken {
		if err := x.one(ctx, m.Command, m.Created, nil); err != nil {
			return err
		}
	}
	x.overtaken = false
	front := work.front()
	all, err := x.runHands(ctx, work, 0, front)
	if err != nil {
		return err
	}
	if !all {
		work.more, work.mail = work.more || len(work.mail) > 0, nil
		return nil
	}
	if all, err = x.runMail(ctx, work); err != nil {
		return err
	}
	if !all {
		x.handle.inbox.giveBack(work.hands[front:], work.hands[:front]...)
		work.hands = work.hands[:front]
		return nil
	}
	_, err = x.runHands(ctx, work, front, len(work.hands))
	return err
}

// runMail runs what is in the mail; not all, if a commit has to come before the rest.
func (x *burst) runMail(ctx context.Context, work *batch) (all bool, err error) {
	for i, m := range work.mail {
		if err := x.one(ctx, m.Command, m.Created, nil); err != nil {
			return false, err
		}
		if x.goOn || x.heavy() {
			work.more = work.more || i+1 < len(work.mail) || x.again
			work.mail = work.mail[:i+1]
			return false, nil
		}
	}
	return true, nil
}

// runHands runs what is in hand, from one command up to another; not all, if a commit has to
// come before the rest, which is given back.
func (x *burst) runHands(ctx context.Context, work *batch, from, to int) (all bool, err error) {
	for i := from; i < to; i++ {
		w := work.hands[i]
		if err := x.one(ctx, w.cmd, x.handle.inbox.durable(w), w); err != nil {
			return false, err
		}
		if x.goOn || x.heavy() {
			if !x.again {
				i++
			}
			x.handle.inbox.giveBack(work.hands[i:], work.hands[:i]...)
			work.hands = work.hands[:i]
			return false, nil
		}
	}
	return true, nil
}

// heavy tells whether one commit should carry no more than it has.
func (x *burst) heavy() bool {
	return x.b != nil && x.b.Heavy() || x.weight > maxLeft
}

// maxLeft is how many bytes of commands that came to nothing one commit should
// carry, to the queue and to the dead letters.
const maxLeft = 384 << 10

// one runs one command and notes what became of it.
func (x *burst) one(ctx context.Context, cmd workflow.Command, created int64, w *waiter) error {
	if x.traced {
		var span tracing.Span
		ctx, span = x.handle.n.cfg.Tracer.Command(ctx, x.handle.id, string(cmd.Kind), tracing.Origin{Trace: cmd.Trace, Sent: cmd.CreatedAt})
		defer span.End()
	}
	x.traced = true
	inHand := w != nil && created == 0
	began := x.env.Now()
	effect, err := x.apply(ctx, cmd, inHand)
	if err != nil {
		return err
	}
	if cmd.Due != nil && (effect.Outcome == workflow.OutcomeStarted || effect.Outcome == workflow.OutcomeResumed) {
		x.late = append(x.late, began.Sub(*cmd.Due))
	}
	if x.again {
		x.deletion = cmd.ID
		return nil
	}
	effect.InstanceID = x.handle.id
	c := store.Consumed{Command: cmd, Created: created, Effect: effect, Drop: effect.Outcome == workflow.OutcomeDropped}
	var response *workflow.Response
	var later bool
	if x.b != nil {
		response, later = x.b.TakeResponse()
	}
	// A refusal leaves no trace unless it has to be remembered for its key, or has to make a commit
	// void that a gate refused: the gate may become free.
	traceless := effect.Outcome == workflow.OutcomeGone || effect.Outcome == workflow.OutcomeRefused && cmd.Key == nil && x.gated == nil
	if traceless && created == 0 {
		x.served = append(x.served, served{w: w, effect: effect, inHand: inHand}) // nothing to commit for it
		return nil
	}
	if cmd.Key != nil {
		c.Answer = &store.Answer{BodyHash: cmd.Key.BodyHash, Targets: []store.Effect{effect}, Response: response,
			Open: later}
		if effect.Outcome == workflow.OutcomeRequeued { // who takes it answers
			c.Answer = &store.Answer{BodyHash: cmd.Key.BodyHash, Queued: effect.Code}
		}
	}
	x.consumed = append(x.consumed, c)
	switch {
	case w != nil:
		x.served = append(x.served, served{w: w, effect: effect, response: response, inHand: inHand})
	case cmd.Kind == workflow.CommandContinue:
		x.response = cmp.Or(x.response, response)
	}
	return nil
}

// apply runs one command. A command that is done with, with any effect or none, is
// no error. In hand it is not durable, and nobody was told that it is accepted.
func (x *burst) apply(ctx context.Context, cmd workflow.Command, inHand bool) (store.Effect, error) {
	if effect, done := x.unfitToRun(cmd, inHand); done {
		return effect, nil
	}
	switch cmd.Kind {
	case workflow.CommandStart:
		x.begun = true
	case workflow.CommandImport:
		return x.load(tracing.Quiet(ctx), cmd)
	case workflow.CommandDelete:
		return x.delete(ctx, cmd)
	}
	out, err := x.b.Run(ctx, cmd)
	if err != nil {
		return store.Effect{}, err
	}
	if id := x.elsewhere(out, &cmd); id != "" {
		cmd.Bookmark = id
		out, err = x.b.Run(ctx, cmd)
	}
	switch out {
	case engine.Applied:
	case engine.CommitFirst, engine.Interrupted:
		x.goOn = true
		var ran, last int64
		if ran, last, x.givesWay = engine.GivesWay(x.b); x.givesWay {
			x.tellLong(ran, last)
		}
	case engine.NoBookmark:
		return x.gone(cmd, inHand), err
	case engine.NotFaulted:
		x.noteRefusal(&cmd, out, inHand)
		return store.Effect{Outcome: workflow.OutcomeRefused, Code: string(workflow.CodeInstanceNotFaulted)}, err
	case engine.Undone:
		x.noteRefusal(&cmd, out, inHand)
		e := x.misfits()
		e.Code, e.Detail = string(workflow.CodeInstanceUndone), workflow.CutBytes(x.b.Refusal()[0].Detail, 1024)
		return e, err
	case engine.Refused:
		x.noteRefusal(&cmd, out, inHand)
		return x.misfits(), err
	case engine.NotRunning:
		if forAnyone(cmd) {
			return x.gone(cmd, inHand), err
		}
		return x.tooLate(cmd, workflow.DeadInstanceFinished, workflow.CodeInstanceFinished, inHand), err
	}
	effect := store.Effect{Outcome: effectOf(cmd.Kind)}
	if cmd.Kind == workflow.CommandCancel {
		effect.Interrupted = x.env.Stopped.Activity
	}
	return effect, err
}

// unfitToRun decides about a command that does not come to the engine.
func (x *burst) unfitToRun(cmd workflow.Command, inHand bool) (effect store.Effect, done bool) {
	refused := func(code workflow.Code, why string) (store.Effect, bool) {
		return store.Effect{Outcome: workflow.OutcomeRefused, Code: string(code), Detail: why}, true
	}
	switch {
	case x.overtaken:
		x.noteRefusal(&cmd, engine.NotRunning, inHand)
		return refused(workflow.CodeInstanceFinished, "a cancel or a delete came before its turn")
	case x.deleting:
		return x.afterDelete(cmd, inHand), true
	case x.gated != nil && returns(cmd.Kind):
		x.noteRefusal(&cmd, engine.NotRunning, false)
		return refused(workflow.CodeInstanceGated, x.gated.Error())
	case cmd.Kind == workflow.CommandStart && x.started(inHand):
		return refused(workflow.CodeInstanceExists, "")
	case x.why != "":
		return x.setAside(cmd), true
	}
	return store.Effect{}, false
}

// noteRefusal lets the journal say why alterations were refused that were accepted before. Who
// has an answer yet to come is told there, and nothing is committed for it.
func (x *burst) noteRefusal(cmd *workflow.Command, out engine.Outcome, inHand bool) {
	if !inHand {
		engine.NoteRefusal(x.b, cmd, out)
	}
}

// maxMisfits bounds what is kept of why alterations were refused.
const maxMisfits = 50

// misfits tells why the alterations were refused.
func (x *burst) misfits() store.Effect {
	e := store.Effect{Outcome: workflow.OutcomeRefused, Code: string(workflow.CodeInvalid)}
	for _, p := range x.b.Refusal()[:min(len(x.b.Refusal()), maxMisfits)] {
		e.Misfits = append(e.Misfits, store.Misfit{Code: p.Code, Detail: workflow.CutBytes(p.Detail, 1024), Pointer: p.Place.Pointer})
	}
	return e
}

// afterDelete decides about a command that comes behind the one that deletes the
// instance.
func (x *burst) afterDelete(cmd workflow.Command, inHand bool) store.Effect {
	switch {
	case forAnyone(cmd):
		return x.gone(cmd, inHand)
	case inHand && cmd.Kind == workflow.CommandStart:
		return store.Effect{Outcome: workflow.OutcomeGone, Code: string(workflow.CodeInstanceNotFound)} // of the next one of this id
	}
	return x.tooLate(cmd, workflow.DeadInstanceGone, workflow.CodeInstanceNotFound, inHand)
}

// started tells whether a start comes second. The one in the mailbox is the
// instance's own; any other is of somebody who chose the same id. One that was set
// aside unread can be replayed.
func (x *burst) started(inHand bool) bool {
	return x.begun || x.before != nil && (inHand || x.before.Seq > 0 && ran(x.before))
}

func (x *burst) delete(ctx context.Context, cmd workflow.Command) (store.Effect, error) {
	out, err := x.b.Run(ctx, cmd)
	if out == engine.CommitFirst { // it has more children than one commit cancels, and the rest is known to its state only
		x.goOn, x.again = true, true
		return store.Effect{}, err
	}
	x.deleting = true
	return store.Effect{Outcome: workflow.OutcomeApplied}, err
}

// elsewhere is another bookmark for a stimulus whose own is gone: the instance may wait
// for the same again, further on. It is "" if there is none.
func (x *burst) elsewhere(out engine.Outcome, cmd *workflow.Command) string {
	st := cmd.Stimulus
	if out != engine.NoBookmark || st == nil || st.BookmarkID != "" {
		return ""
	}
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return ""
	}
	id, _ := x.b.Waiting(hash, st.CorrelationID)
	return id
}

func effectOf(k workflow.CommandKind) workflow.Outcome {
	switch k {
	case workflow.CommandStart:
		return workflow.OutcomeStarted
	case workflow.CommandResume:
		return workflow.OutcomeResumed
	case workflow.CommandContinue, workflow.CommandChildEnd:
		return workflow.OutcomeDropped // they leave no record
	}
	return workflow.OutcomeApplied
}

// forAnyone tells whether a command is a stimulus that was sent to all who wait
// for it, and met this instance only: when the instance has ended since, the next
// to wait may have it.
func forAnyone(cmd workflow.Command) bool {
	return cmd.Kind == workflow.CommandResume && cmd.Stimulus != nil && !cmd.Several && cmd.Stimulus.InstanceID == "" && cmd.Stimulus.BookmarkID == ""
}

// gone decides about a command whose bookmark is no longer there.
func (x *burst) gone(cmd workflow.Command, inHand bool) store.Effect {
	switch {
	case inHand:
		return store.Effect{Outcome: workflow.OutcomeGone, Code: string(workflow.CodeBookmarkNotFound)}
	case cmd.Stimulus != nil && cmd.Stimulus.BookmarkID == "":
		st := *cmd.Stimulus
		if cmd.Several {
			st.InstanceID, st.CorrelationID = x.handle.id, "" // which may change until it waits again
		}
		id := store.Again(x.handle.id, cmd.ID)
		x.weight += engine.Weigh(st.Input)
		x.requeue = append(x.requeue, store.QueueItem{ID: id, Stimulus: st, Key: cmd.Key, Trace: x.trace})
		return store.Effect{Outcome: workflow.OutcomeRequeued, Code: id}
	case cmd.Timer || cmd.Kind == workflow.CommandChildEnd:
		return store.Effect{Outcome: workflow.OutcomeDropped}
	}
	return store.Effect{Outcome: workflow.OutcomeRefused, Code: string(workflow.CodeBookmarkNotFound)}
}

// tooLate decides about a command for an instance that is finished or deleted,
// unless it is for anyone.
func (x *burst) tooLate(cmd workflow.Command, reason workflow.DeadReason, code workflow.Code, inHand bool) store.Effect {
	switch {
	case cmd.Kind == workflow.CommandChildEnd || cmd.Kind == workflow.CommandContinue || cmd.Timer:
		return store.Effect{Outcome: workflow.OutcomeDropped}
	case cmd.Kind == workflow.CommandResume && !inHand:
		x.bury(cmd, reason, "")
	}
	return store.Effect{Outcome: workflow.OutcomeRefused, Code: string(code)}
}

func (x *burst) bury(cmd workflow.Command, reason workflow.DeadReason, detail string) {
	x.weight += engine.Weigh(cmd.Input)
	x.dead = append(x.dead, store.DeadLetter{ID: etcdstore.DeadID(x.handle.id, &cmd), Reason: reason, Detail: detail,
		Command: &cmd, InstanceID: x.handle.id, CreatedAt: x.env.Now()})
}

// buries tells whether all that the burst does is to set aside what it took.
func (x *burst) buries() bool { return len(x.dead) > 0 && len(x.dead) == len(x.consumed) && !x.goOn }

// unrun tells whether the instance never ran: there is no state of it.
func (x *burst) unrun() bool { return x.before == nil || !ran(x.before) }

// load takes an imported state in the place of the present one.
func (x *burst) load(ctx context.Context, cmd workflow.Command) (store.Effect, error) {
	if x.replaced == nil { // else the burst was opened for it
		if err := x.imported(ctx, &cmd); err != nil {
			return refusedImport(err)
		}
	}
	return store.Effect{Outcome: workflow.OutcomeApplied}, nil
}

// refusedImport is what an import did that cannot be done; one that another node may be able to do is an error.
func refusedImport(err error) (store.Effect, error) {
	var why *workflow.Error
	if !errors.As(err, &why) || why.Code == workflow.CodeNotRunnable {
		return store.Effect{}, err
	}
	return store.Effect{Outcome: workflow.OutcomeRefused, Code: string(why.Code), Detail: why.Detail}, nil
}

// imported makes the burst that of an imported state.
func (x *burst) imported(ctx context.Context, cmd *workflow.Command) error {
	var in struct {
		Instance workflow.Instance `json:"instance"`
		State    json.RawMessage   `json:"state"`
	}
	if err := workflow.Unmarshal(cmd.State, &in); err != nil {
		return workflow.Fail(workflow.CodeInvalid, err.Error())
	}
	if why := x.unfit(&in.Instance); why != "" {
		return workflow.Fail(workflow.CodeInvalid, why)
	}
	if cmd.IfSeq > 0 && (x.before == nil || x.before.Seq != cmd.IfSeq) {
		return workflow.Fail(workflow.CodeInstanceMoved, "")
	}
	prog, err := x.handle.n.cfg.Definitions.Program(ctx, in.Instance.DefinitionID, in.Instance.Version)
	if err != nil {
		if workflow.CodeOf(err) == workflow.CodeNotRunnable {
			return err
		}
		return workflow.Fail(cmp.Or(workflow.CodeOf(err), workflow.CodeDefinitionNotFound), err.Error())
	}
	in.Instance.ID = x.handle.id
	b, err := engine.Import(prog, in.Instance, in.State, x.env, x.b)
	if err != nil {
		if workflow.CodeOf(err) == workflow.CodeNotRunnable {
			return err
		}
		return workflow.Fail(workflow.CodeInvalid, err.Error())
	}
	missed, why, err := x.handle.n.cfg.Store.MissedEnds(ctx, x.handle.id, x.newBookmarks(in.Instance.Bookmarks), x.before == nil, x.env.Now())
	if err != nil {
		return err
	}
	if why != "" {
		return workflow.Fail(workflow.CodeInvalid, why)
	}
	for i := range missed {
		x.weight += engine.Weigh(missed[i].Input)
	}
	x.b, x.replaced, x.definition, x.missed = b, &in.Instance, in.Instance.DefinitionID, missed
	return nil
}

// newBookmarks are those that the instance does not have already.
func (x *burst) newBookmarks(bookmarks []workflow.Bookmark) []workflow.Bookmark {
	if x.before == nil {
		return bookmarks
	}
	had := map[string]bool{}
	for i := range x.before.Header.Bookmarks {
		had[x.before.Header.Bookmarks[i].ID] = true
	}
	return slices.DeleteFunc(slices.Clone(bookmarks), func(b workflow.Bookmark) bool { return had[b.ID] })
}

// unfit tells why a header cannot take the place of the instance's; "" if it can. What
// it names is written into indexes.
func (x *burst) unfit(hd *workflow.Instance) string {
	if !hd.SubStatus.Known() || hd.Status != hd.SubStatus.Status() {
		return fmt.Sprintf("instance.status %q and instance.subStatus %q do not go together", hd.Status, hd.SubStatus)
	}
	if err := workflow.CheckID("definition", hd.DefinitionID); err != nil {
		return err.Error()
	}
	if err := workflow.CheckLabels(hd.Labels); err != nil {
		return err.Error()
	}
	for what, name := range map[string]string{"correlationId": hd.CorrelationID, "name": hd.Name} { // as starts are held to
		if err := workflow.CheckName("instance."+what, name); err != nil {
			return err.Error()
		}
	}
	if hd.Status == workflow.StatusRunning && hd.FinishedAt != nil {
		return fmt.Sprintf("instance.finishedAt is %s, and the instance is %s: one that has not ended has none", hd.FinishedAt.Format(time.RFC3339), hd.SubStatus)
	}
	for i := range hd.Bookmarks {
		b := &hd.Bookmarks[i]
		if id, ok := workflow.BookmarkInstance(b.ID); !ok || id != x.handle.id {
			return fmt.Sprintf("instance.bookmarks: %q is no bookmark of instance %s", b.ID, x.handle.id)
		}
		if !workflow.MeetsHash(b) {
			return fmt.Sprintf("instance.bookmarks[%d].hash, of %s, is not that of its activityType and payload: nothing would meet it", i, b.ActivityID)
		}
	}
	return untimely(hd)
}

// untimely tells which time of a header keys would not keep in order; "": none. A timer that was due before 1970 is due at once.
func untimely(hd *workflow.Instance) string {
	listed := time.UnixMilli(store.LastListedMilli)
	if !workflow.KeepsTime(hd.CreatedAt) || hd.CreatedAt.After(listed) {
		return fmt.Sprintf("instance.createdAt is %s; it must be between %d and %s", hd.CreatedAt.Format(time.RFC3339), workflow.FirstYear, listed.UTC().Format(time.RFC3339))
	}
	refused := func(what string, at time.Time) string {
		return fmt.Sprintf("%s is %s; it must be a time of the years %d to %d, in UTC", what, at.Format(time.RFC3339), workflow.FirstYear, workflow.LastYear)
	}
	if at := hd.FinishedAt; at != nil && !workflow.KeepsTime(*at) {
		return refused("instance.finishedAt", *at)
	}
	for i, b := range hd.Bookmarks {
		switch {
		case !workflow.KeepsTime(b.CreatedAt):
			return refused(fmt.Sprintf("instance.bookmarks[%d].createdAt, of %s,", i, b.ActivityID), b.CreatedAt)
		case b.DueAt != nil && b.DueAt.UTC().Year() > workflow.LastYear:
			return refused(fmt.Sprintf("instance.bookmarks[%d].dueAt, of %s,", i, b.ActivityID), *b.DueAt)
		}
	}
	return ""
}
