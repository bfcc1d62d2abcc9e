package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/apiclient"
)

const (
	firstRest, longestRest = 500 * time.Millisecond, 30 * time.Second
	lastReport             = 20 * time.Second // for a report when the worker has to end: the end of the lease gives the task back as well
	mostMessage            = 8000             // bytes of why a task failed
)

func (l *loop) complete(ctx context.Context, t *Task, result any) {
	key := apiclient.Key(apiclient.NewKey())
	err := l.report(ctx, t, func(ctx context.Context) error {
		_, err := l.client.CompleteTask(ctx, t.TaskID, apiclient.TaskRequest{Claim: t.Claim, Result: result}, key)
		return err
	})
	var refused *apiclient.ProblemError
	if err != nil && (!errors.As(err, &refused) && !passing(err) || refused != nil && slices.Contains([]int64{400, 413, 422}, refused.Status)) {
		l.fail(ctx, t, &FailureError{Kind: "bad-result", Message: err.Error()})
	}
}

func (l *loop) fail(ctx context.Context, t *Task, f *FailureError) {
	l.say(ctx, "a task failed", t, f)
	_ = l.report(ctx, t, func(ctx context.Context) error {
		_, err := l.client.FailTask(ctx, t.TaskID, apiclient.TaskFailRequest{Claim: t.Claim, Kind: f.Kind, Message: cut(f.Message), Retry: f.Retry})
		return err
	})
}

func (l *loop) release(ctx context.Context, t *Task) {
	_ = l.report(ctx, t, func(ctx context.Context) error {
		_, err := l.client.ReleaseTask(ctx, t.TaskID, apiclient.ReleaseRequest{Claim: t.Claim})
		return err
	})
}

// report sends until there is an answer that stays, and once more when the worker has to end.
func (l *loop) report(ctx context.Context, t *Task, send func(context.Context) error) error {
	for failed := 0; ; failed++ {
		once, end := context.WithTimeout(context.WithoutCancel(ctx), lastReport)
		err := send(once)
		end()
		if err != nil {
			l.say(ctx, "what came of a task is not taken", t, err)
		}
		if err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
		rest(ctx, failed)
	}
}

func (l *loop) say(ctx context.Context, what string, t *Task, err error) {
	log := l.Log
	if log == nil {
		log = slog.Default()
	}
	if t != nil {
		log = log.With("task", t.TaskID, "name", t.Name, "attempt", t.Attempt)
	}
	log.WarnContext(ctx, "worker of tasks", "what", what, "error", err)
}

// rest is the pause before the next try: twice as long each time, and not the same for two workers. It ends with ctx.
func rest(ctx context.Context, failed int) {
	d := min(firstRest<<min(failed, 10), longestRest)
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// passing tells that the same request may be answered otherwise later.
func passing(err error) bool {
	var p *apiclient.ProblemError
	if errors.As(err, &p) {
		return p.Status >= 500 || p.Status == 429 || p.Status == 408
	}
	var none *apiclient.NoAnswerError
	return errors.As(err, &none)
}

// lost tells that a report is of no use any more: another has the task, or nobody waits for it.
func lost(err error) bool {
	var p *apiclient.ProblemError
	return errors.As(err, &p) && slices.Contains([]string{"task-claim-lost", "task-not-found", "instance-finished", "instance-not-found"}, p.Code)
}

// cut takes of a message what a request may have.
func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), mostMessage)], "") }
