package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Commander gives instances the commands that are not for a bookmark.
type Commander struct {
	cfg       *front.Config
	intake    *intake.Intake
	inspector *inspect.Inspector
	mailer    *front.Mailer
	answers   *answers.Waiter
}

// New makes the part for commands to one instance.
func New(cfg *front.Config, in *intake.Intake, inspector *inspect.Inspector, mail *front.Mailer, waiter *answers.Waiter) *Commander {
	return &Commander{cfg, in, inspector, mail, waiter}
}

// Cancelled is what is known of a cancel when its caller is answered.
type Cancelled struct {
	Accepted    bool   // it is durable, not applied yet: what runs goes on until its next activity
	Interrupted string // the activity whose call it ended; "": none is known
}

// Cancel ends an instance, and the call that the instance waits for outside. It waits a
// little until that is done.
func (c *Commander) Cancel(ctx context.Context, id string, key *front.Key) (Cancelled, error) {
	res, err := c.commanded(ctx, id, workflow.Command{Kind: workflow.CommandCancel, Key: key.Command()})
	if err != nil {
		return Cancelled{}, err
	}
	accepted, err := c.told(ctx, id, workflow.CommandCancel, res)
	did := Cancelled{Accepted: accepted}
	if len(res.Outcomes) > 0 {
		did.Interrupted = res.Outcomes[0].Interrupted
	}
	return did, err
}

// Delete ends an instance and removes it with its journal, and from the archive. While etcd has raised its alarm, one that has ended is removed
// without a record of that.
func (c *Commander) Delete(ctx context.Context, id string) (accepted bool, err error) {
	accepted, err = c.remove(ctx, id)
	if c.cfg.Archive == nil || err != nil && workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
		return accepted, err
	}
	// Also one that is in etcd may be in the archive, if something came for it before it was purged.
	switch archived, failed := c.cfg.Archive.Delete(ctx, id); {
	case failed != nil:
		return accepted, failed
	case archived:
		return accepted, nil
	}
	return accepted, err
}

// remove is Delete, in etcd.
func (c *Commander) remove(ctx context.Context, id string) (accepted bool, err error) {
	if c.intake.Alarmed() && c.cfg.Purge != nil {
		removed := false
		err := front.RetryUnknown(ctx, func() (err error) { removed, err = c.cfg.Purge(ctx, id); return err })
		if err != nil || removed {
			return false, err
		}
		if _, err := inspect.Brief(ctx, c.cfg.Reader, id); err != nil { // it is not there
			return false, err
		}
	}
	return c.command(ctx, id, workflow.Command{Kind: workflow.CommandDelete})
}

// Retry runs a faulted instance again: what failed, or the activity from which a Fault
// activity was reached.
func (c *Commander) Retry(ctx context.Context, id string) (accepted bool, err error) {
	return c.command(ctx, id, workflow.Command{Kind: workflow.CommandRetry})
}

// Import replaces the state of an instance, if it is at sequence ifSeq (0: any), and brings its files.
func (c *Commander) Import(ctx context.Context, id string, in front.StateExport, ifSeq int64) (front.StateExport, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return front.StateExport{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	switch leaving, err := c.cfg.Catalog.Leaving(ctx, in.Instance.DefinitionID, in.Instance.Version); {
	case err != nil:
		return front.StateExport{}, err
	case leaving:
		return front.StateExport{}, workflow.Fail(workflow.CodeDefinitionNotFound,
			fmt.Sprintf("instance %q refused to import: definition %s has no version %d", id, in.Instance.DefinitionID, in.Instance.Version))
	}
	if err := c.importable(ctx, &in); err != nil {
		return front.StateExport{}, err
	}
	kept, err := c.bring(ctx, id, &in, raw)
	if err != nil {
		return front.StateExport{}, err
	}
	accepted, err := c.command(ctx, id, workflow.Command{Kind: workflow.CommandImport, State: raw, IfSeq: ifSeq, Contents: kept})
	if err != nil {
		return front.StateExport{}, err
	}
	if accepted {
		return front.StateExport{}, front.Busy(id)
	}
	return c.inspector.Export(ctx, id)
}

// importable refuses a state that no live node can read or run. In the mailbox it
// would be in the way of all that comes behind it.
func (c *Commander) importable(ctx context.Context, in *front.StateExport) error {
	err := engine.Readable(in.State)
	if err == nil {
		_, _, err = c.cfg.Catalog.Program(ctx, in.Instance.DefinitionID, in.Instance.Version)
	}
	if workflow.CodeOf(err) != workflow.CodeNotRunnable {
		return nil // the command is refused for what else is wrong
	}
	return front.Elsewhere(ctx, c.cfg.Session, err)
}

// command gives an existing instance a command that is not for a bookmark.
func (c *Commander) command(ctx context.Context, id string, cmd workflow.Command) (accepted bool, err error) {
	res, err := c.commanded(ctx, id, cmd)
	if err != nil {
		return false, err
	}
	return c.told(ctx, id, cmd.Kind, res)
}

// commanded is command, and gives what the command did as it is recorded.
func (c *Commander) commanded(ctx context.Context, id string, cmd workflow.Command) (front.SendResult, error) {
	wants := intake.GoesOn
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		wants = intake.Ends
	}
	if err := c.intake.Accepts(wants); err != nil {
		return front.SendResult{}, err
	}
	cmd.ID = front.CommandID(cmd.Key)
	for range front.MaxLooks {
		cmd.CreatedAt = c.cfg.Now().UTC() // each look is an attempt of its own, as what was refused stays so
		if cmd.Key != nil {
			if a, err := c.answers.Used(ctx, cmd.Key); err != nil || a != nil {
				if err != nil {
					return front.SendResult{}, err
				}
				return front.Answered(ctx, a, cmd.Key, c.answers.Effects)
			}
		}
		if _, err := inspect.Brief(ctx, c.cfg.Reader, id); err != nil && !(cmd.Kind == workflow.CommandImport && workflow.CodeOf(err) == workflow.CodeInstanceNotFound) {
			return removed(id), c.unlessRemoved(ctx, id, cmd.Kind, err)
		}
		res, done, err := c.give(ctx, id, cmd)
		switch {
		case err != nil:
			return removed(id), c.unlessRemoved(ctx, id, cmd.Kind, err)
		case done:
			return res, nil
		case cmd.Kind == workflow.CommandImport: // somebody works a last command of an instance that is gone
		case cmd.Key == nil:
			return front.SendResult{}, workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
		}
	}
	return front.SendResult{}, front.Busy(id)
}

// removed is what a delete did that [commander.unlessRemoved] made.
func removed(id string) front.SendResult {
	return front.SendResult{Outcomes: []front.TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeResumed}}}
}

// give gives a command to an instance: in hand if it is idle, through the mailbox if it
// is busy. It is not done if the instance is gone, or the command's key was used.
func (c *Commander) give(ctx context.Context, id string, cmd workflow.Command) (res front.SendResult, done bool, err error) {
	instance := c.cfg.Client(id)
	isBusy, err := instance.Busy(ctx)
	if err != nil {
		return res, false, etcdstore.Unavailable("the lock of instance "+id+" could not be read", err)
	}
	interrupts := cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete
	if !isBusy && !(interrupts && c.cfg.Node.Holds(id)) {
		did, err := instance.Do(ctx, cmd)
		switch {
		case err == nil && did.Answer != nil:
			res, err := front.Answered(ctx, did.Answer, cmd.Key, c.answers.Effects)
			return res, true, err
		case err == nil && did.Accepted:
			return front.SendResult{Outcomes: []front.TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeAccepted}}}, true, nil
		case err == nil:
			return front.SendResult{Outcomes: []front.TargetOutcome{front.OutcomeOf(id, &did.Effect)}}, true, nil
		}
		if err := front.Elsewhere(ctx, c.cfg.Session, err); err != nil {
			return res, false, err
		}
	}
	return c.mailer.Mail(ctx, id, cmd, nil)
}

// told is what a caller hears of what a command did.
func (c *Commander) told(ctx context.Context, id string, kind workflow.CommandKind, res front.SendResult) (accepted bool, err error) {
	if len(res.Outcomes) == 0 || res.Outcomes[0].Outcome == workflow.OutcomeAccepted {
		return true, nil
	}
	return false, front.Refused(ctx, c.cfg.Reader, id, kind, res.Outcomes[0])
}

// unlessRemoved is the error of a command for an instance, nil if it was to delete it
// and that was done without reading what cannot be read or run here or elsewhere.
func (c *Commander) unlessRemoved(ctx context.Context, id string, kind workflow.CommandKind, cause error) error {
	if code := workflow.CodeOf(cause); kind != workflow.CommandDelete || code != workflow.CodeDamaged && code != workflow.CodeNotRunnable {
		return cause
	}
	instance := c.cfg.Client(id)
	err := front.RetryUnknown(ctx, func() error { return instance.Remove(ctx) })
	if errors.Is(err, client.ErrBusy) || errors.Is(err, store.ErrFenced) {
		return front.Busy(id)
	}
	if err == nil {
		c.cfg.Log.WarnContext(ctx, "an instance was deleted unread", "instanceId", id, "reason", cause)
		c.cfg.Wakeups.Hint(nil, true)
	}
	return err
}
