package js

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/turns"
)

const (
	// watchEvery is how often a running script is looked at.
	watchEvery = 5 * time.Millisecond
	// growth is by how much the heap may grow while a script runs before a
	// collection tells how much of that is in use.
	growth = 128 << 20
	// inUse is how much more may be in use than when the script was first looked
	// at.
	inUse = 64 << 20
)

// watcher ends a script that is over its limits or whose context has ended.
type watcher struct {
	ctx     context.Context // it lives as long as the call that it is an argument of
	vm      *goja.Runtime
	turn    *turns.Turn
	spent   *turns.Stopwatch
	limit   time.Duration
	heap    uint64      // at the first look, only used by look
	expired atomic.Bool // for builtins, which the machine cannot interrupt
	mu      sync.Mutex
	timer   *time.Timer // guarded by mu
	over    bool        // guarded by mu
}

// watch begins to watch the script that the calling goroutine is about to run,
// on the thread it is locked to; after stop the machine is not touched any more.
func watch(ctx context.Context, vm *goja.Runtime, u *turns.Turn, limit time.Duration) *watcher {
	w := &watcher{ctx: ctx, vm: vm, turn: u, spent: turns.NewStopwatch(), limit: limit}
	w.mu.Lock()
	w.timer = time.AfterFunc(min(watchEvery, limit), w.check)
	w.mu.Unlock()
	return w
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}

// check interrupts a script that has used up its time or memory. The timer runs it,
// never twice at once.
func (w *watcher) check() {
	err := w.exceeded()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
	case err != nil:
		w.expired.Store(true)
		w.vm.Interrupt(err)
	default:
		w.timer.Reset(max(min(watchEvery, w.limit-w.spent.Read()), time.Millisecond/4))
	}
}

func (w *watcher) exceeded() error {
	spent := w.spent.Read()
	if spent > turns.QuickTime+turns.QuickTime/4 {
		w.turn.TurnsOut()
	}
	switch {
	case w.ctx.Err() != nil:
		return evaluation.Ended(w.ctx)
	case spent >= w.limit:
		return fmt.Errorf("%w (%v)", evaluation.ErrTime, w.limit)
	}
	now := heapBytes()
	switch {
	case w.heap == 0 || now < w.heap:
		w.heap = now
	case now-w.heap > growth:
		if collect(); heapBytes() > w.heap+inUse {
			return evaluation.ErrMemory
		}
	}
	return nil
}

// heapBytes is how much the process has allocated on its heap, garbage included.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

var collecting sync.Mutex

// collect runs the collector, once for all who ask at the same time.
func collect() {
	if collecting.TryLock() {
		defer collecting.Unlock()
		runtime.GC()
		return
	}
	collecting.Lock()   // another's collection has just ended
	collecting.Unlock() //nolint:staticcheck // waiting was all
}
