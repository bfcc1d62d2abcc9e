package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
)

// feed follows one instance for all who look at it.
type feed struct {
	hub    *Hub
	id     string
	caller string // for whom it began
	stop   context.CancelFunc
	done   chan struct{} // closed when run has ended

	mu      sync.Mutex
	last    state                // guarded by mu
	viewers map[*Viewer]struct{} // guarded by mu
}

// state is an instance as it was seen last.
type state struct {
	etcdstore.Sight
	// since is from when on it is so: the revision of the last write, or at which it was
	// first seen that there is no such instance.
	since int64
}

// nextLook is how long it is at least between two looks that a watch asks for: of an
// instance that commits a thousand times a second two states are told.
const nextLook = 500 * time.Millisecond

// run looks until ctx ends. The watch tells when; a sweep stands behind it.
func (f *feed) run(ctx context.Context) {
	defer close(f.done)
	ctx = tracing.Quiet(ctx)
	for ctx.Err() == nil {
		f.follow(ctx)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: do not spin
	}
}

// follow looks until the watch breaks.
func (f *feed) follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hint := f.hub.cfg.Reader.FollowInstance(ctx, f.id)
	for {
		if err := f.look(ctx); err != nil && ctx.Err() == nil {
			f.hub.cfg.Log.DebugContext(ctx, "instance not read for those who look at it", slog.String("instance", f.id), slog.Any("error", err))
		}
		if !pace.Pause(ctx, nextLook) {
			return
		}
		sweep := time.NewTimer(pace.Jitter(f.hub.cfg.Sweep))
		select {
		case _, ok := <-hint:
			if !ok {
				sweep.Stop()
				return
			}
		case <-sweep.C:
		case <-ctx.Done():
		}
		sweep.Stop()
	}
}

// look reads the instance as it is.
func (f *feed) look(ctx context.Context) error {
	seen, err := f.hub.cfg.Reader.SeeInstance(ctx, f.id)
	if err == nil {
		f.take(seen)
	}
	return err
}

// take keeps what was seen, unless something newer was, and wakes those who look.
func (f *feed) take(seen etcdstore.Sight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seen.Revision < f.last.Revision {
		return // a look that was slower than another
	}
	if r := seen.Record; r != nil { // a viewer is told of the header alone; the rest may be megabytes
		hd := r.Header
		hd.Input, hd.Output = nil, nil
		seen.Record = &store.Record{Header: hd, Seq: r.Seq}
	}
	next := state{seen, seen.Modified}
	if seen.Modified == 0 {
		next.since = seen.Revision
		if f.last.Revision > 0 && f.last.Modified == 0 {
			next.since = f.last.since
		}
	}
	changed := next.since != f.last.since
	if f.last = next; !changed {
		return
	}
	for v := range f.viewers {
		v.nudge()
	}
}

func (f *feed) current() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
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
