package answers

import (
	"context"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// Waiter reads the records that commands and requests leave. Make it with [NewWaiter].
type Waiter struct {
	stimuli *etcdstore.Stimuli
	wait    time.Duration
}

// NewWaiter makes a waiter that waits up to wait for what became of commands.
func NewWaiter(stimuli *etcdstore.Stimuli, wait time.Duration) *Waiter {
	return &Waiter{stimuli: stimuli, wait: wait}
}

const (
	// maxAwaited bounds the commands that one call waits for.
	maxAwaited = 500
	// How often it looks at those of several, at first and at most: a watch for each
	// would be hundreds for one call, and the same requests behind them.
	awaitFirst, awaitMost = 10 * time.Millisecond, 200 * time.Millisecond
	// relayMost is how long it is at most between two looks for an answer.
	relayMost = time.Second
)

// Used gives the answer of an earlier call with this key; nil if there is
// none, an error if its body was another.
func (w *Waiter) Used(ctx context.Context, k *workflow.CommandKey) (*store.Answer, error) {
	a, err := w.stimuli.Answer(ctx, k.Name)
	if err != nil {
		return nil, etcdstore.Unavailable("the Idempotency-Key could not be looked up", err)
	}
	return a, Check(a, k)
}

// Check holds that an answer is for the request with this key: that the body was the
// same, and that the answer of an HTTP endpoint goes only to callers that were asked
// what its callers are asked.
func Check(a *store.Answer, k *workflow.CommandKey) error {
	switch {
	case a == nil || k == nil:
		return nil
	case a.BodyHash != k.BodyHash:
		return workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key was used with another request before; use a new key for a new request")
	case a.Guard != nil && (k.Guard == nil || *a.Guard != *k.Guard):
		return workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key was used for another endpoint before; use a new key for a new request")
	}
	return nil
}

// Effect waits a little for the record of a command; nil: there is none yet.
func (w *Waiter) Effect(ctx context.Context, instance, command string) *store.Effect {
	ctx, cancel := context.WithTimeout(tracing.Quiet(ctx), w.wait)
	defer cancel()
	return w.effect(ctx, instance, command)
}

// effect waits until ctx ends.
func (w *Waiter) effect(ctx context.Context, instance, command string) *store.Effect {
	hint := w.stimuli.WatchEffect(ctx, instance, command)
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for {
		if e, err := w.stimuli.Effect(ctx, instance, command); err == nil && e != nil {
			return e
		}
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-hint:
			if !ok {
				hint = nil // the poll goes on
			}
		case <-poll.C:
		}
	}
}

// Effects waits a little for what became of those of effects that were only accepted,
// and gives all as they are known then.
func (w *Waiter) Effects(ctx context.Context, effects []store.Effect) []store.Effect {
	ctx, cancel := context.WithTimeout(tracing.Quiet(ctx), w.wait)
	defer cancel()
	known, open := split(effects)
	if len(open) == 1 {
		e := &known[open[0]]
		became(e, w.effect(ctx, e.InstanceID, e.Command))
		return known
	}
	for every := awaitFirst; len(open) > 0; every = min(2*every, awaitMost) {
		if open = w.ask(ctx, known, open); len(open) > 0 && !pace.Pause(ctx, pace.Jitter(every)) {
			break
		}
	}
	return known
}

// EffectsNow is [Waiter.Effects] without waiting.
func (w *Waiter) EffectsNow(ctx context.Context, effects []store.Effect) []store.Effect {
	known, open := split(effects)
	w.ask(ctx, known, open)
	return known
}

// split copies effects, and says which of them may become known better.
func split(effects []store.Effect) (known []store.Effect, open []int) {
	known = slices.Clone(effects)
	for i := range known {
		if e := &known[i]; e.Outcome == workflow.OutcomeAccepted && e.Command != "" && i < maxAwaited {
			open = append(open, i)
		}
	}
	return known, open
}

// became puts what is known of a command, if anything, in the place of what was.
func became(e, known *store.Effect) bool {
	if known == nil {
		return false
	}
	instance := e.InstanceID
	*e = *known
	e.InstanceID = instance
	return true
}

// ask asks once what became of the open ones, and tells which still are.
func (w *Waiter) ask(ctx context.Context, effects []store.Effect, open []int) (left []int) {
	asked := make([]store.Effect, len(open))
	for n, i := range open {
		asked[n] = effects[i]
	}
	records, err := w.stimuli.Effects(ctx, asked)
	if err != nil {
		return open
	}
	for n, i := range open {
		if !became(&effects[i], records[n]) {
			left = append(left, i)
		}
	}
	return left
}

// Answer waits for the answer of a burst that runs late or elsewhere, until take wants
// no other or ctx ends, which it must in the end. The commit of that burst writes the
// key's record, so one watch tells; the looks behind it become seldom.
func (w *Waiter) Answer(ctx context.Context, key string, take func(context.Context, *store.Answer) bool) {
	ctx = tracing.Quiet(ctx)
	hint := w.stimuli.WatchAnswer(ctx, key)
	for every := awaitFirst; ; every = min(2*every, relayMost) {
		if a, err := w.stimuli.Answer(ctx, key); err == nil && a != nil && take(ctx, a) {
			return
		}
		next := time.NewTimer(every)
		select {
		case <-ctx.Done():
		case _, ok := <-hint:
			if !ok {
				hint = nil // the looks go on
			}
		case <-next.C:
		}
		next.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}
