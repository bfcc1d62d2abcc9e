package runtime

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// level says how full etcd is.
type level int32

const (
	roomy      level = iota
	nearlyFull       // starts are refused
	full             // only what ends or deletes instances runs
)

// Parts of the quota from which on a level holds; it is left leave below, so that
// it does not come and go. What is in use can be helped by deletes; what is
// allocated, by nothing but a defragmentation, and as free pages are used again
// first, it does no harm before it is near the quota.
const (
	inUseNearlyFull, inUseFull         = 0.70, 0.85
	allocatedNearlyFull, allocatedFull = 0.95, 0.98
	leave                              = 0.05
	leaveAllocated                     = 0.02
)

// next is the level that follows on l.
func (l level) next(sp etcdstore.Space) level {
	quota := float64(max(1, sp.Quota))
	at := func(bound level, inUse, allocated float64) bool {
		if l >= bound {
			inUse, allocated = inUse-leave, allocated-leaveAllocated
		}
		return float64(sp.InUse)/quota >= inUse || float64(sp.Allocated)/quota >= allocated
	}
	switch {
	case sp.NoSpace || at(full, inUseFull, allocatedFull):
		return full
	case at(nearlyFull, inUseNearlyFull, allocatedNearlyFull):
		return nearlyFull
	}
	return roomy
}

// fill is what this node knows of how full etcd is.
type fill struct {
	level atomic.Int32
	space atomic.Pointer[etcdstore.Space]
}

func (f *fill) get() level { return level(f.level.Load()) }
func (f *fill) full() bool { return f.get() == full }

// holdsBack reports whether workers must not take up what goes on or starts.
func (r *Runtime) holdsBack() bool { return r.suspended() || r.space.full() }

// want is what a call wants of the store.
type want int

const (
	ends   want = iota // ends or deletes an instance
	goesOn             // an instance that exists goes on
	starts             // something new
)

// Room is the error for a caller who brings something new when etcd is nearly
// full.
func (r *Runtime) Room() error { return r.room(starts) }

func (r *Runtime) room(w want) error {
	l := r.space.get()
	if l == roomy || w == ends || l == nearlyFull && w == goesOn {
		return nil
	}
	wanted, what := metrics.ShedStart, "starts and new definitions are refused"
	if l == full {
		what = "only what ends or deletes instances is taken"
	}
	if w == goesOn {
		wanted = metrics.ShedResume
	}
	r.cfg.Metrics.Shed(wanted, metrics.ShedSpace)
	return &workflow.Error{Code: workflow.CodeStoreNearlyFull, RetryAfter: 10 * time.Second,
		Detail: "etcd is nearly full: " + what + " until there is room (" + r.space.space.Load().String() + ")"}
}

const (
	spaceEvery = time.Second
	// Kept of the history when this node makes room in its own etcd: lists and
	// watches of this age go on.
	keepHistory     = 10 * time.Second
	keepHistoryFull = 5 * time.Second
	relieveTimeout  = 5 * time.Minute
	compactRest     = 9 // times as long as a compaction took
	// While it runs etcd does not answer; while etcd is full it may as well.
	defragmentEvery = 10 * time.Second
	defragmentRest  = 30 // times as long as it took, at the least, unless etcd is full
)

// watchSpace looks how full etcd is, sheds by it, and makes room in an etcd that
// this node runs itself.
func (r *Runtime) watchSpace(ctx context.Context) error {
	relief := relief{r: r}
	look := func(ctx context.Context) (bool, error) {
		sp, err := r.cfg.Upkeep.Space(ctx)
		if err != nil {
			return false, err // what is known holds until there is an answer
		}
		sp.Quota = cmp.Or(sp.Quota, r.cfg.EtcdQuota)
		r.noteSpace(ctx, sp)
		return false, relief.step(ctx, sp)
	}
	if _, err := look(ctx); err != nil && ctx.Err() == nil {
		r.cfg.Log.WarnContext(ctx, "it is not known how full etcd is; it is asked again", "error", err)
	}
	return r.loop(ctx, "etcd's size", spaceEvery, nil, look)
}

func (r *Runtime) noteSpace(ctx context.Context, sp etcdstore.Space) {
	was := r.space.get()
	now := was.next(sp)
	r.space.space.Store(&sp)
	r.space.level.Store(int32(now))
	r.cfg.Metrics.SetStore(sp.InUse, sp.Allocated, sp.Quota, int(now))
	if now == was {
		return
	}
	log := r.cfg.Log.With("inUse", sp.InUse, "allocated", sp.Allocated, "quota", sp.Quota, "noSpaceAlarm", sp.NoSpace)
	switch now {
	case roomy:
		log.InfoContext(ctx, "etcd has room again; everything is taken")
	case nearlyFull:
		log.WarnContext(ctx, "etcd is nearly full; starts and new definitions are refused: see docs/runbooks/etcd-near-quota.md")
	case full:
		log.ErrorContext(ctx, "etcd is full; only what ends or deletes instances runs: see docs/runbooks/etcd-near-quota.md")
	}
}

// relief makes room in an etcd that this node runs. One elsewhere is its
// operator's, and may be used by others too.
type relief struct {
	r           *Runtime
	seen        []sight
	compacted   int64
	rest        time.Time // until when it is not compacted again
	defragments time.Time // when it was done last,
	took        time.Duration
	defragged   int64 // and what was compacted then
}

// sight is a revision and when it was seen.
type sight struct {
	revision int64
	at       time.Time
}

func (f *relief) step(ctx context.Context, sp etcdstore.Space) error {
	if f.r.cfg.Defragment == nil {
		return nil
	}
	now := time.Now()
	f.seen = append(f.seen, sight{sp.Revision, now})
	keep, every, l := keepHistory, max(defragmentEvery, defragmentRest*f.took), f.r.space.get()
	if l == full {
		keep, every = keepHistoryFull, defragmentEvery
	}
	past := int64(0)
	for len(f.seen) > 0 && now.Sub(f.seen[0].at) > keep {
		past, f.seen = f.seen[0].revision, f.seen[1:]
	}
	if l == roomy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, relieveTimeout)
	defer cancel()
	if sp.NoSpace {
		past = sp.Revision
	}
	var errs []error
	if past > f.compacted && now.After(f.rest) {
		if err := f.r.cfg.Upkeep.Compact(ctx, past); err != nil {
			errs = append(errs, err)
		} else {
			f.compacted = past // or later, by etcd's own compaction: then there was nothing to do
		}
		// A compaction goes over all that is kept, and the revision moves all the time.
		f.rest = time.Now().Add(compactRest * time.Since(now))
	}
	// Little would come of a defragmentation while most is in use.
	quota := float64(sp.Quota)
	scattered := float64(sp.Allocated) > (allocatedNearlyFull-leaveAllocated)*quota && float64(sp.InUse) < (inUseFull-leave)*quota
	// etcd counts what a compaction gives back with the next writes or two. There are
	// always some, as each node renews its record every few seconds, but while the
	// alarm is raised there are none.
	unseen := sp.NoSpace && f.compacted > f.defragged
	if (scattered || unseen) && now.Sub(f.defragments) > every {
		f.defragments, f.defragged = time.Now(), f.compacted
		f.r.cfg.Log.WarnContext(ctx, "defragmenting the embedded etcd; it does not answer meanwhile", "allocated", sp.Allocated, "inUse", sp.InUse)
		errs = append(errs, f.r.cfg.Defragment())
		f.took = time.Since(f.defragments)
	}
	// Some space is enough: deletes write a little too, and while the alarm is raised
	// they are refused with the rest.
	if sp.NoSpace && float64(sp.Allocated) < allocatedFull*quota {
		f.r.cfg.Log.WarnContext(ctx, "there is space again; disarming etcd's alarm")
		errs = append(errs, f.r.cfg.Upkeep.Disarm(ctx))
	}
	return errors.Join(errs...)
}
