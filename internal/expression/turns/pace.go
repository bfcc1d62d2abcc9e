package turns

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// Pace holds an evaluation that can wait in its midst to its time. A short one
// pays nothing; one that has run for [QuickTime] waits for a turn and goes on with
// it, on a thread of its own. The wait does not count. It is used on the
// goroutine of the evaluation, from [Pace.Begin] to [Pace.End].
type Pace struct {
	definition string
	began      time.Time
	limit      time.Duration
	turn       *Turn // nil until it needs one
	spent      *Stopwatch
	slow       atomic.Bool
}

// Begin starts an evaluation of an expression of a definition.
func (p *Pace) Begin(definition string, limit time.Duration) {
	p.definition, p.began, p.limit = definition, time.Now(), limit
}

// Check ends the evaluation when its time is over: with [evaluation.ErrTime], or
// as its context has ended. It may wait for a turn.
func (p *Pace) Check(ctx context.Context) error {
	if p.turn == nil {
		if time.Since(p.began) < min(QuickTime, p.limit) {
			return nil
		}
		p.slow.Store(true)
		u, err := Take(ctx, p.definition, Long, &p.slow)
		if err != nil {
			return err
		}
		runtime.LockOSThread()
		p.turn, p.spent = u, NewStopwatch()
	}
	if QuickTime+p.spent.Read() >= p.limit {
		return evaluation.ErrTime
	}
	return nil
}

// End gives the turn back, if the evaluation had one.
func (p *Pace) End() {
	if p.turn != nil {
		p.turn.Done(p.spent.Read())
		runtime.UnlockOSThread()
	}
	p.definition, p.turn, p.spent = "", nil, nil
}
