package expression

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// watchEvery is how often a running script is looked at.
const watchEvery = 5 * time.Millisecond

// watcher ends a script that is over its limits or whose context has ended.
type watcher struct {
	ctx      context.Context //nolint:containedctx // it lives as long as the call that it is an argument of
	vm       *goja.Runtime
	deadline time.Time
	limit    time.Duration
	mu       sync.Mutex
	timer    *time.Timer // guarded by mu
	over     bool        // guarded by mu
}

// watch begins to watch; stop ends it, after which the machine is not touched
// any more.
func watch(ctx context.Context, vm *goja.Runtime, limit time.Duration) (stop func()) {
	w := &watcher{ctx: ctx, vm: vm, deadline: time.Now().Add(limit), limit: limit}
	w.mu.Lock()
	w.timer = time.AfterFunc(min(watchEvery, limit), w.look)
	w.mu.Unlock()
	return w.stop
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}

func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	switch {
	case w.ctx.Err() != nil:
		w.vm.Interrupt(ended(w.ctx))
	case !time.Now().Before(w.deadline):
		w.vm.Interrupt(fmt.Errorf("%w (%v)", ErrTime, w.limit))
	default:
		w.timer.Reset(min(watchEvery, time.Until(w.deadline)))
	}
}
