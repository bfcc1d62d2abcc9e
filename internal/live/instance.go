package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// instance follows one instance. A watch tells when to look; a sweep stands behind it.
type instance struct {
	feed *feed
	id   string

	mu   sync.Mutex
	last state // guarded by mu
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

// follow looks until the watch breaks.
func (in *instance) follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hint := in.feed.hub.cfg.Reader.FollowInstance(ctx, in.id)
	for {
		if err := in.look(ctx); err != nil && ctx.Err() == nil {
			in.feed.hub.cfg.Log.DebugContext(ctx, "instance not read for those who look at it", slog.String("instance", in.id), slog.Any("error", err))
		}
		if !pace.Pause(ctx, nextLook) {
			return
		}
		sweep := time.NewTimer(pace.Jitter(in.feed.hub.cfg.Sweep))
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

// look reads the instance as it is, and wakes those who look if it is otherwise.
func (in *instance) look(ctx context.Context) error {
	seen, err := in.feed.hub.cfg.Reader.SeeInstance(ctx, in.id)
	if err == nil && in.keep(seen) {
		in.feed.nudge()
	}
	return err
}

// keep keeps what was seen, unless something newer was, and tells whether it is news.
func (in *instance) keep(seen etcdstore.Sight) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if seen.Revision < in.last.Revision {
		return false // a look that was slower than another
	}
	if r := seen.Record; r != nil { // a viewer is told of the header alone; the rest may be megabytes
		hd := r.Header
		hd.Input, hd.Output = nil, nil
		seen.Record = &store.Record{Header: hd, Seq: r.Seq}
	}
	next := state{seen, seen.Modified}
	if seen.Modified == 0 {
		next.since = seen.Revision
		if in.last.Revision > 0 && in.last.Modified == 0 {
			next.since = in.last.since
		}
	}
	changed := next.since != in.last.since
	in.last = next
	return changed
}

func (in *instance) current() state {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.last
}
