package live

import (
	"context"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/tracing"
)

// feed follows one thing for all who look at it.
type feed struct {
	hub    *Hub
	key    string
	caller string // for whom it began
	weight int    // how many instances it counts as
	of     followed
	stop   context.CancelFunc
	done   chan struct{} // closed when run has ended

	mu      sync.Mutex
	viewers map[*Viewer]struct{} // guarded by mu
}

// followed is what a feed follows: an [instance] or a [list].
type followed interface {
	// follow looks again and again, until ctx ends or a watch breaks.
	follow(ctx context.Context)
	// look looks once.
	look(ctx context.Context) error
}

// run looks until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	ctx = tracing.Quiet(ctx)
	for ctx.Err() == nil {
		f.of.follow(ctx)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: do not spin
	}
}

// nudge wakes all who look.
func (f *feed) nudge() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for v := range f.viewers {
		v.nudge()
	}
}

func (f *feed) add(v *Viewer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.viewers[v] = struct{}{}
}

func (f *feed) remove(v *Viewer) (left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.viewers, v)
	return len(f.viewers)
}
