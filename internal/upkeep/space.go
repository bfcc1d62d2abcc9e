package upkeep

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
)

// Parts of the quota from which on a level holds; it is left leave below, so that
// it does not come and go. What is in use can be helped by deletes; what is
// allocated, by nothing but a defragmentation, and as free pages are used again
// first, it does no harm before it is near the quota.
const (
	inUseNearlyFull, inUseFull         = intake.NearlyFullAt, 0.85
	allocatedNearlyFull, allocatedFull = 0.95, 0.98
	leave                              = 0.05
	leaveAllocated                     = 0.02
)

// levelAfter is the level that follows on l.
func levelAfter(l intake.Level, sp etcdstore.Space) intake.Level {
	quota := float64(max(1, sp.Quota))
	at := func(bound intake.Level, inUse, allocated float64) bool {
		if l >= bound {
			inUse, allocated = inUse-leave, allocated-leaveAllocated
		}
		return float64(sp.InUse)/quota >= inUse || float64(sp.Allocated)/quota >= allocated
	}
	short := func(bound intake.Level, least int64) bool {
		if l >= bound {
			least += least / 4
		}
		return sp.Disk.Below(least)
	}
	switch {
	case short(intake.OutOfDisk, sp.Disk.Least()):
		return intake.OutOfDisk
	case sp.NoSpace || at(intake.Full, inUseFull, allocatedFull) || short(intake.Full, sp.Disk.Full()):
		return intake.Full
	case at(intake.NearlyFull, inUseNearlyFull, allocatedNearlyFull) || short(intake.NearlyFull, sp.Disk.NearlyFull()):
		return intake.NearlyFull
	}
	return intake.Roomy
}

const (
	spaceEvery = time.Second // and more seldom while a level is far
	spaceMost  = 10 * time.Second
	fillRate   = 128 << 20 // bytes a second, more than an etcd takes
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

// spaceRest is how long it takes at least until etcd can be nearly full.
func spaceRest(l intake.Level, sp *etcdstore.Space) time.Duration {
	if sp == nil || l != intake.Roomy {
		return spaceEvery
	}
	quota := float64(sp.Quota)
	room := min(inUseNearlyFull*quota-float64(sp.InUse), allocatedNearlyFull*quota-float64(sp.Allocated))
	if sp.Disk.Known() { // others write there too
		room = min(room, float64(sp.Disk.Free-sp.Disk.NearlyFull())/4)
	}
	return max(spaceEvery, min(spaceMost, time.Duration(room/fillRate*float64(time.Second))))
}

// spaceWatch looks how full etcd is, sheds by it, and makes room in an etcd of this node.
type spaceWatch struct{ worker }

// watchSpace looks how full etcd is, sheds by it, and makes room in an etcd that
// this node runs itself.
func (s *spaceWatch) watchSpace(ctx context.Context) error {
	relief := relief{s: s}
	look := func(ctx context.Context) (again bool, err error) {
		sp, err := s.cfg.Store.Space(ctx)
		if err != nil {
			return false, err // what is known holds until there is an answer
		}
		sp.Quota = cmp.Or(sp.Quota, s.cfg.EtcdQuota)
		if s.cfg.Disk != nil {
			var told error
			if sp.Disk, told = s.cfg.Disk(); told != nil {
				defer func() { err = errors.Join(err, told) }() // it is looked at again; the rest holds
			}
		}
		s.noteSpace(ctx, sp)
		return false, relief.step(ctx, sp)
	}
	if _, err := look(ctx); err != nil && ctx.Err() == nil {
		s.cfg.Log.WarnContext(ctx, "it is not known how full etcd is; it is asked again", "error", err)
	}
	every := func() time.Duration { return spaceRest(s.intake.Level(), s.intake.Space()) }
	return s.pacedLoop(ctx, "etcd's size", every, nil, look)
}

func (s *spaceWatch) noteSpace(ctx context.Context, sp etcdstore.Space) {
	was := s.intake.Level()
	now := levelAfter(was, sp)
	before := s.intake.Space()
	alarm := before != nil && before.NoSpace
	s.intake.SetSpace(now, sp)
	s.cfg.Metrics.SetStore(sp.InUse, sp.Allocated, sp.Quota, int(now))
	metrics.DiskSpace(s.cfg.Metrics, sp.Disk.Free, sp.Disk.Size)
	if now == was && alarm == sp.NoSpace {
		return
	}
	log := s.cfg.Log.With("inUse", sp.InUse, "allocated", sp.Allocated, "quota", sp.Quota, "noSpaceAlarm", sp.NoSpace)
	if sp.Disk.Known() {
		log = log.With("diskFree", sp.Disk.Free, "diskSize", sp.Disk.Size)
	}
	switch told := s.intake.Fullness().Line(); now {
	case intake.Roomy:
		log.InfoContext(ctx, "etcd has room again; everything is taken")
	case intake.NearlyFull:
		log.WarnContext(ctx, "etcd, or its disk, is nearly full", "detail", told)
	case intake.Full, intake.OutOfDisk:
		log.ErrorContext(ctx, "etcd, or its disk, is full", "detail", told)
	}
}

// relief makes room in an etcd that this node runs. One elsewhere is its
// operator's, and may be used by others too.
type relief struct {
	s           *spaceWatch
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
	if f.s.cfg.Defragment == nil {
		return nil
	}
	now := time.Now()
	f.seen = append(f.seen, sight{sp.Revision, now})
	keep, every, l := keepHistory, max(defragmentEvery, defragmentRest*f.took), f.s.intake.Level()
	if l >= intake.Full {
		keep, every = keepHistoryFull, defragmentEvery
	}
	past := int64(0)
	for len(f.seen) > 0 && now.Sub(f.seen[0].at) > keep {
		past, f.seen = f.seen[0].revision, f.seen[1:]
	}
	if l == intake.Roomy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, relieveTimeout)
	defer cancel()
	if sp.NoSpace {
		past = sp.Revision
	}
	var errs []error
	if past > f.compacted && now.After(f.rest) {
		if err := f.s.cfg.Store.Compact(ctx, past); err != nil {
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
	roomy := !sp.Disk.Below(sp.InUse + sp.Disk.Least()) // the new file stands beside the old one
	if (scattered || unseen) && roomy && now.Sub(f.defragments) > every {
		f.defragments, f.defragged = time.Now(), f.compacted
		f.s.cfg.Log.WarnContext(ctx, "defragmenting the embedded etcd; it does not answer until that is done", "allocated", sp.Allocated, "inUse", sp.InUse)
		errs = append(errs, f.s.cfg.Defragment())
		f.took = time.Since(f.defragments)
	}
	// Some space is enough: deletes write a little too, and while the alarm is raised
	// they are refused with the rest.
	if sp.NoSpace && float64(sp.Allocated) < allocatedFull*quota {
		f.s.cfg.Log.WarnContext(ctx, "there is space again; disarming etcd's alarm")
		errs = append(errs, f.s.cfg.Store.Disarm(ctx))
	}
	return errors.Join(errs...)
}
