package expression

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/pkg/engine"
)

// pace holds an evaluation that can wait in its midst to its time. A short one
// pays nothing; one that has run for quickTime waits for a turn and goes on with
// it, on a thread of its own. The wait does not count. It is used on the
// goroutine of the evaluation, from begin to end.
type pace struct {
	scope engine.Scope
	began time.Time
	limit time.Duration
	turn  *turn // nil until it needs one
	spent *stopwatch
	slow  atomic.Bool
}

func (p *pace) begin(s engine.Scope, limit time.Duration) {
	p.scope, p.began, p.limit = s, time.Now(), limit
}

func (p *pace) check(ctx context.Context) error {
	if p.turn == nil {
		if time.Since(p.began) < min(quickTime, p.limit) {
			return nil
		}
		p.slow.Store(true)
		u, err := scripts.take(ctx, p.scope.DefinitionID(), long, &p.slow)
		if err != nil {
			return err
		}
		runtime.LockOSThread()
		p.turn, p.spent = u, begin()
	}
	if quickTime+p.spent.read() >= p.limit {
		return ErrTime
	}
	return nil
}

func (p *pace) end() {
	if p.turn != nil {
		p.turn.done(p.spent.read())
		runtime.UnlockOSThread()
	}
	p.scope, p.turn, p.spent = nil, nil, nil
}
