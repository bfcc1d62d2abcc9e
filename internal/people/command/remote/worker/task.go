package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	mostResult = 1 << 20 // bytes of standard output: a request takes no more
	mostLines  = 20      // of standard error that are reported
	mostFinal  = 4096    // bytes of them, of the last attempt
	mostTried  = 768     // of an attempt that is followed by another: the list of tasks shows no more than 1 KiB

	releaseFor = 10 * time.Second // for one release: the end of the lease does the same later
)

// inVainError says why nobody waits for a task, or who else has it.
type inVainError struct{ reason string }

func (e *inVainError) Error() string { return e.reason }

// do does a task and reports what came of it, with heartbeats until then.
func (c *crew) do(ctx context.Context, t *apiclient.ClaimedTask) {
	process, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	beats, reported := context.WithCancel(context.WithoutCancel(ctx))
	var beating sync.WaitGroup
	defer beating.Wait()
	defer reported()
	beating.Go(func() { c.beat(beats, t, stop) })

	p := newProcess(c, t)
	err := p.run(process)
	why := context.Cause(process)
	var inVain *inVainError
	var ended *exec.ExitError
	switch {
	case errors.Is(err, errTooMuch):
		c.fail(ctx, t, "too-large", err.Error(), false)
	case err == nil && !p.asked: // one that was asked to end may say 0, and not have done it
		c.complete(ctx, t, p.out.kept())
	case errors.As(why, &inVain):
		c.say("task %s: the program was ended: %s", t.TaskID, inVain.reason)
	case why != nil:
		c.release(t, why)
	case errors.As(err, &ended):
		again := t.Retried || t.Attempt < int64(c.attempts)
		most := mostFinal
		if again {
			most = mostTried
		}
		c.fail(ctx, t, ended.String(), cmp.Or(lastLines(p.errs.kept(), most), "it wrote nothing to standard error"), again)
	default:
		c.release(t, err)
		select {
		case c.broken <- ask.Usage("the command %s cannot be run: %w", c.program[0], err):
		default:
		}
	}
}

// beat sends heartbeats until ctx ends. stop is told when one says that the task is done in vain.
func (c *crew) beat(ctx context.Context, t *apiclient.ClaimedTask, stop context.CancelCauseFunc) {
	each := c.lease / 3
	for {
		if pause(ctx, each); ctx.Err() != nil {
			return
		}
		once, cancel := context.WithTimeout(ctx, max(each, time.Second))
		heard, err := c.api.HeartbeatTask(once, t.TaskID, apiclient.HeartbeatRequest{Claim: t.Claim})
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && heard.Body.Stop:
			stop(&inVainError{cmp.Or(heard.Body.Reason, "nobody waits for it any more")})
			return
		case lost(err):
			stop(&inVainError{c.ask.Explained(err)})
			return
		case err != nil:
			c.say("task %s: no heartbeat: %s", t.TaskID, c.ask.Explained(err))
		}
	}
}

// complete reports a result until there is an answer, or ctx ends.
func (c *crew) complete(ctx context.Context, t *apiclient.ClaimedTask, out []byte) {
	result, err := resultOf(out)
	if err != nil {
		c.fail(ctx, t, "bad-result", err.Error(), false)
		return
	}
	key := apiclient.Key(apiclient.NewKey())
	err = c.report(ctx, t, func(ctx context.Context) error {
		_, err := c.api.CompleteTask(ctx, t.TaskID, apiclient.TaskRequest{Claim: t.Claim, Result: result}, key)
		return err
	})
	var refused *apiclient.ProblemError
	switch {
	case err == nil:
		c.say("task %s: done", t.TaskID)
	case errors.As(err, &refused) && (refused.Status == 413 || refused.Status == 422 || refused.Status == 400):
		c.fail(ctx, t, "bad-result", "the result is refused: "+workflow.CutBytes(c.ask.Explained(err), mostFinal), false)
	default:
		c.say("task %s: its result is not taken: %s", t.TaskID, c.ask.Explained(err))
	}
}

// fail reports why an attempt failed, and whether there is to be another one.
func (c *crew) fail(ctx context.Context, t *apiclient.ClaimedTask, kind, why string, again bool) {
	err := c.report(ctx, t, func(ctx context.Context) error {
		_, err := c.api.FailTask(ctx, t.TaskID, apiclient.TaskFailRequest{Claim: t.Claim, Kind: kind, Message: why, Retry: again})
		return err
	})
	end := fmt.Sprintf("it is tried again (%d of %d)", t.Attempt, c.attempts)
	switch {
	case !again:
		end = "its activity faults"
	case t.Retried:
		end = "the retry of its activity decides what follows"
	}
	if err != nil {
		end = "that is not taken: " + c.ask.Explained(err)
	}
	c.say("task %s: attempt %d failed: %s: %s; %s", t.TaskID, t.Attempt, kind, ask.OneLine(why), end)
}

// release gives a task back, undone.
func (c *crew) release(t *apiclient.ClaimedTask, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), releaseFor)
	defer cancel()
	_, err := c.api.ReleaseTask(ctx, t.TaskID, apiclient.ReleaseRequest{Claim: t.Claim})
	if err != nil {
		c.say("task %s: not given back, so it is free when its lease ends: %s", t.TaskID, c.ask.Explained(err))
		return
	}
	c.say("task %s: given back: %v", t.TaskID, why)
}

// report sends until there is an answer that stays, or ctx ends.
func (c *crew) report(ctx context.Context, t *apiclient.ClaimedTask, send func(context.Context) error) error {
	for failed := 0; ; failed++ {
		err := send(ctx)
		if err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
		wait := backOff(failed)
		c.say("task %s: %s; reports again in %v", t.TaskID, c.ask.Explained(err), wait)
		pause(ctx, wait)
	}
}

// resultOf is what a process wrote, as JSON or else as a text; nil: nothing.
func resultOf(out []byte) (any, error) {
	trimmed := bytes.TrimSpace(out)
	switch {
	case len(trimmed) == 0:
		return nil, nil
	case json.Valid(trimmed):
		return json.RawMessage(trimmed), nil
	case !utf8.Valid(out):
		return nil, errors.New("what the program wrote to standard output is neither JSON nor text in UTF-8")
	}
	return strings.TrimRight(string(out), "\r\n"), nil
}

// lastLines are the last lines of a text, up to most bytes, as they can be shown.
func lastLines(raw []byte, most int) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(raw), "?")), "\n")
	text := ask.Printable(strings.Join(lines[max(0, len(lines)-mostLines):], "\n"))
	if len(text) > most {
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return strings.TrimSpace(text)
}
