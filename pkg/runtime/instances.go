package runtime

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
	"github.com/weft-run/weft/pkg/workflow"
)

// commander gives instances the commands that are not for a bookmark.
type commander struct {
	cfg       *Config
	intake    *intake.Intake
	inspector *inspect.Inspector
	mailer    *mailer
	answers   *answers.Waiter
}

// Cancelled is what is known of a cancel when its caller is answered.
type Cancelled struct {
	Accepted    bool   // it is durable, not applied yet: what runs goes on until its next activity
	Interrupted string // the activity whose call it ended; "": none is known
}

// Cancel ends an instance, and the call that the instance waits for outside. It waits a
// little until that is done.
func (c *commander) Cancel(ctx context.Context, id string) (Cancelled, error) {
	res, err := c.commanded(ctx, id, workflow.Command{Kind: workflow.CommandCancel})
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

// Delete ends an instance and removes it with its journal.
func (c *commander) Delete(ctx context.Context, id string) (accepted bool, err error) {
	return c.command(ctx, id, workflow.Command{Kind: workflow.CommandDelete})
}

// Retry runs a faulted instance again: what failed, or the activity from which a Fault
// activity was reached.
func (c *commander) Retry(ctx context.Context, id string) (accepted bool, err error) {
	return c.command(ctx, id, workflow.Command{Kind: workflow.CommandRetry})
}

// Import replaces the state of an instance, if it is at sequence ifSeq (0: any).
func (c *commander) Import(ctx context.Context, id string, in StateExport, ifSeq int64) (StateExport, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return StateExport{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	switch leaving, err := c.cfg.Catalog.Leaving(ctx, in.Instance.DefinitionID, in.Instance.Version); {
	case err != nil:
		return StateExport{}, err
	case leaving:
		return StateExport{}, workflow.Fail(workflow.CodeDefinitionNotFound,
			fmt.Sprintf("instance %q refused to import: definition %s has no version %d", id, in.Instance.DefinitionID, in.Instance.Version))
	}
	if err := c.importable(ctx, &in); err != nil {
		return StateExport{}, err
	}
	accepted, err := c.command(ctx, id, workflow.Command{Kind: workflow.CommandImport, State: raw, IfSeq: ifSeq})
	if err != nil {
		return StateExport{}, err
	}
	if accepted {
		return StateExport{}, busy(id)
	}
	return c.inspector.Export(ctx, id)
}

// importable refuses a state that no live node can read or run. In the mailbox it
// would be in the way of all that comes behind it.
func (c *commander) importable(ctx context.Context, in *StateExport) error {
	err := engine.Readable(in.State)
	if err == nil {
		_, _, err = c.cfg.Catalog.Program(ctx, in.Instance.DefinitionID, in.Instance.Version)
	}
	if workflow.CodeOf(err) != workflow.CodeNotRunnable {
		return nil // the command is refused for what else is wrong
	}
	return elsewhere(ctx, c.cfg.Session, err)
}

// command gives an existing instance a command that is not for a bookmark.
func (c *commander) command(ctx context.Context, id string, cmd workflow.Command) (accepted bool, err error) {
	res, err := c.commanded(ctx, id, cmd)
	if err != nil {
		return false, err
	}
	return c.told(ctx, id, cmd.Kind, res)
}

// commanded is command, and gives what the command did as it is recorded.
func (c *commander) commanded(ctx context.Context, id string, cmd workflow.Command) (SendResult, error) {
	wants := intake.GoesOn
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		wants = intake.Ends
	}
	if err := c.intake.Accepts(wants); err != nil {
		return SendResult{}, err
	}
	cmd.ID = commandID(cmd.Key)
	for range maxLooks {
		cmd.CreatedAt = c.cfg.Now().UTC() // each look is an attempt of its own, as what was refused stays so
		if cmd.Key != nil {
			if a, err := c.answers.Used(ctx, cmd.Key); err != nil || a != nil {
				if err != nil {
					return SendResult{}, err
				}
				return answered(ctx, a, cmd.Key, c.answers.Effects)
			}
		}
		if _, err := inspect.Record(ctx, c.cfg.Reader, id); err != nil && !(cmd.Kind == workflow.CommandImport && workflow.CodeOf(err) == workflow.CodeInstanceNotFound) {
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
			return SendResult{}, workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
		}
	}
	return SendResult{}, busy(id)
}

// removed is what a delete did that [commander.unlessRemoved] made.
func removed(id string) SendResult {
	return SendResult{Outcomes: []TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeResumed}}}
}

// give gives a command to an instance: in hand if it is idle, through the mailbox if it
// is busy. It is not done if the instance is gone, or the command's key was used.
func (c *commander) give(ctx context.Context, id string, cmd workflow.Command) (res SendResult, done bool, err error) {
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
			res, err := answered(ctx, did.Answer, cmd.Key, c.answers.Effects)
			return res, true, err
		case err == nil && did.Accepted:
			return SendResult{Outcomes: []TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeAccepted}}}, true, nil
		case err == nil:
			return SendResult{Outcomes: []TargetOutcome{outcomeOf(id, &did.Effect)}}, true, nil
		}
		if err := elsewhere(ctx, c.cfg.Session, err); err != nil {
			return res, false, err
		}
	}
	return c.mailer.mail(ctx, id, cmd, nil)
}

// told is what a caller hears of what a command did.
func (c *commander) told(ctx context.Context, id string, kind workflow.CommandKind, res SendResult) (accepted bool, err error) {
	if len(res.Outcomes) == 0 || res.Outcomes[0].Outcome == workflow.OutcomeAccepted {
		return true, nil
	}
	return false, refused(ctx, c.cfg.Reader, id, kind, res.Outcomes[0])
}

// unlessRemoved is the error of a command for an instance, nil if it was to delete it
// and that was done without reading what cannot be read or run here or elsewhere.
func (c *commander) unlessRemoved(ctx context.Context, id string, kind workflow.CommandKind, cause error) error {
	if code := workflow.CodeOf(cause); kind != workflow.CommandDelete || code != workflow.CodeDamaged && code != workflow.CodeNotRunnable {
		return cause
	}
	instance := c.cfg.Client(id)
	err := retryUnknown(ctx, func() error { return instance.Remove(ctx) })
	if errors.Is(err, client.ErrBusy) || errors.Is(err, store.ErrFenced) {
		return busy(id)
	}
	if err == nil {
		c.cfg.Log.WarnContext(ctx, "an instance was deleted unread", "instanceId", id, "reason", cause)
		c.cfg.Hint(nil, true)
	}
	return err
}
