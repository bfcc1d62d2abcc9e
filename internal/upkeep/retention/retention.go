package retention

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// Limits says how long what has ended is kept; zero fields keep everything.
// The limits on number and size of finished instances are shared out evenly over
// the shards, so that small ones are kept about.
type Limits struct {
	Finished                     time.Duration // from their end
	FinishedCount, FinishedBytes int64

	// Live is how long what ended stays in etcd where there is an archive, from its end, unless it faulted or has files: a record
	// that refuses late copies of its start stays behind. 0: as long as Finished.
	Live     time.Duration
	recorded bool            // what leaves for the archive leaves a record
	told     *etcdstore.Told // who tells what ended, and has to before it leaves for that; nil: nobody

	DeadLetters                        time.Duration // from when they came to be
	DeadLettersCount, DeadLettersBytes int64

	// Answers to callers' Idempotency-Keys; how long they are kept is the store's.
	// While etcd is nearly full they are kept to a tenth of its quota in any case.
	IdempotencyCount, IdempotencyBytes int64

	// Versions is how many versions of each definition are kept, the newest, and
	// beside them those that something needs; 0 keeps all.
	Versions int64

	// Archived is how long instances are kept in the archive, from their end.
	Archived time.Duration

	// Grace is how long a finished instance, unless it is in the archive, and the answer to a key stay at least.
	// Default 10 min, the life of the records that refuse a late copy of an
	// instance's start: less is for tests.
	Grace time.Duration
}

// recordLife is longer than anything of a finished instance is under way, see
// docs/keys.md.
const recordLife = 10 * time.Minute

func (r *Limits) keepsFinished() bool {
	return r.Finished == 0 && r.FinishedCount == 0 && r.FinishedBytes == 0
}

func (r *Limits) keepsDead() bool {
	return r.DeadLetters == 0 && r.DeadLettersCount == 0 && r.DeadLettersBytes == 0
}

const (
	purgeEvery   = 5 * time.Second
	purgeRest    = 30 * time.Second // while nothing has ended
	purgesAtOnce = 4                // shards that a node deletes from at a time
	measureEvery = 30 * time.Second // how often some of a shard's sizes are read; purgeEvery while etcd is nearly full
	deadEvery    = 5 * time.Minute

	// etcd counts a whole range for each look at a part of it, with what was deleted there since it compacted, and
	// writes wait for that. So most looks at a shard are at the ends of a purgeWindow, behind those that were
	// deleted, and one in countEvery is at all.
	countEvery    = 30 * time.Second
	purgeWindow   = 30 * time.Second
	passedAfter   = time.Minute
	anywhereEvery = 30 * time.Second // after a look behind the beginning that found nothing
)

// Config is what retention works with.
type Config struct {
	Limits  Limits
	Store   *etcdstore.Upkeep
	Catalog *catalog.Catalog
	Session *cluster.Session
	Locks   *cluster.Locks // nil on a node that is alone
	Intake  *intake.Intake
	Archive *archive.Archive // where finished instances go; nil: nowhere
	Age     func() *store.Age
	Now     func() time.Time
	Log     *slog.Logger
	Metrics *metrics.Metrics

	SizesPage int64 // how many sizes of finished instances are read at a time; default 1000
}

// Retention deletes what has ended and is not to be kept any more, a type for each kind. Make
// it with New.
type Retention struct {
	Finished *Finished
	Dead     *Dead
	Keys     *Keys
	Versions *Versions
	Archived *Archived
}

// New starts nothing. All of the configuration is required but for the locks, and limits
// that are zero.
func New(cfg Config) *Retention {
	cfg.Limits.Grace = cmp.Or(cfg.Limits.Grace, recordLife)
	cfg.SizesPage = cmp.Or(cfg.SizesPage, 1000)
	r := Retaining{&cfg}
	return &Retention{&Finished{r}, &Dead{r}, &Keys{r}, &Versions{r}, &Archived{r}}
}

// Works are the loops, each until its context ends.
func (r *Retention) Works() []func(context.Context) error {
	return []func(context.Context) error{r.Finished.run, r.Dead.run, r.Keys.run, r.Versions.run, r.Archived.run}
}

// Retaining is what the workers of retention share.
type Retaining struct{ Cfg *Config }

func (r Retaining) loop(ctx context.Context, what string, every time.Duration, step func(context.Context) (more bool, err error)) error {
	return loop.Run(ctx, r.Cfg.Log, what, func() time.Duration { return every }, nil, step)
}

// here tells whether this node looks after a part of what is kept.
func (r Retaining) here(part string) bool {
	return r.Cfg.Session.PreferredNode("retention/"+part) == r.Cfg.Session.NodeID()
}

// Keep is what is kept. Limits on bytes are no more than a part of etcd's quota, so
// that what has ended never fills the store.
func (r *Retaining) Keep() Limits {
	keep := r.Cfg.Limits
	keep.recorded = r.Cfg.Archive != nil && r.Cfg.Intake.Level() != intake.Full // etcd may take no more records
	// A node of before would start again what only the archive has.
	if !keep.recorded || !r.Cfg.Session.AllRead(etcdstore.FormLeft) {
		keep.Live = 0
	}
	sp := r.Cfg.Intake.Space()
	if sp == nil {
		return keep
	}
	if keep.FinishedBytes > 0 {
		keep.FinishedBytes = min(keep.FinishedBytes, sp.Quota/100*finishedPercent)
	}
	if keep.DeadLettersBytes > 0 {
		keep.DeadLettersBytes = min(keep.DeadLettersBytes, sp.Quota/100*deadPercent)
	}
	if keys := sp.Quota / 100 * keysPercent; r.Cfg.Intake.Level() != intake.Roomy && (keep.IdempotencyBytes == 0 || keep.IdempotencyBytes > keys) {
		keep.IdempotencyBytes = keys // as long as there is room callers get what they were promised
	}
	return keep
}

// Finished keeps finished instances within their limits.
type Finished struct{ Retaining }

// run deletes finished instances that were kept long enough or of which
// there are too many, the first to end first. Each shard is looked after by the
// node that is preferred for it; two at once delete nothing that may not go, but each may take it for the one that was too many.
func (f *Finished) run(ctx context.Context) error {
	if f.Cfg.Limits.keepsFinished() && (f.Cfg.Archive == nil || f.Cfg.Limits.Live == 0) {
		<-ctx.Done()
		return nil
	}
	shards := make([]Shard, etcdstore.FinishedShards)
	some := true // has ended, at the last look
	every := func() time.Duration {
		if some {
			return purgeEvery
		}
		return purgeRest
	}
	return loop.Run(ctx, f.Cfg.Log, "retention", every, nil, func(ctx context.Context) (more bool, err error) {
		some, more, err = f.Pass(ctx, shards)
		return more, err
	})
}

// Pass deletes a slice of each shard that this node looks after. seen: there is
// something in them; more: there may be other slices to delete.
func (f *Finished) Pass(ctx context.Context, shards []Shard) (seen, more bool, err error) {
	var mine []int
	for i := range shards {
		if f.here(strconv.Itoa(i)) {
			mine = append(mine, i)
		} else {
			shards[i] = Shard{} // what is known of it becomes old
		}
	}
	some, err := f.some(ctx, mine, shards)
	if err != nil {
		return true, false, err
	}
	// A slice is three requests, one after the other, and a pause: one shard at a time would delete
	// a few hundred a second at an etcd that is busy, and more may end.
	var mu sync.Mutex
	err = loop.SideBySide(purgesAtOnce, len(some), func(i int) error {
		if f.Cfg.Intake.Draining() {
			return nil
		}
		full, err := f.PurgeShard(ctx, some[i], &shards[some[i]])
		mu.Lock()
		defer mu.Unlock()
		more = more || full
		return err
	})
	return len(some) > 0, more && !f.Cfg.Intake.Draining(), err
}

// some are those of mine that have finished instances. Only shards in which there were none are asked for.
func (f *Finished) some(ctx context.Context, mine []int, shards []Shard) ([]int, error) {
	var some, ask []int
	for _, i := range mine {
		if shards[i].total > 0 {
			some = append(some, i)
		} else {
			ask = append(ask, i)
		}
	}
	found, err := f.Cfg.Store.SomeFinished(ctx, ask)
	return append(some, found...), err
}

// Shard is what the node that looks after a shard knows of it.
type Shard struct {
	measured time.Time
	Mean     float64 // bytes of an instance, about
	Sizes    sizes

	counted time.Time
	total   int64     // so many were in it then, less what was deleted since
	from    string    // the looks until the next count begin behind this place; "": at the beginning
	until   time.Time // and are at what ended before; zero: at all

	stays string // what lies up to this place stays, and is passed over

	cursor    string    // where the look at all of them is
	fruitless time.Time // when that found nothing; zero if it did
}

// Sizes adds up those that were read; those of the last time that all were read, and of before, count half.
type sizes struct {
	Cursor   string
	n, bytes float64
}

// sizesMost is how many sizes are added up at most before they count half: in a shard in which so many end that a
// reader never comes to its end.
const sizesMost = 20_000

// Parts of etcd's quota for what has ended, under any configuration.
const (
	finishedPercent = 40
	deadPercent     = 10
	keysPercent     = 10
)

// PurgeShard deletes one slice of a shard; more tells whether there may be
// another.
func (f *Finished) PurgeShard(ctx context.Context, shard int, s *Shard) (more bool, err error) {
	keep := f.Keep()
	often := measureEvery
	if f.Cfg.Intake.Level() != intake.Roomy {
		often = purgeEvery
	}
	if keep.FinishedBytes > 0 && (s.Mean == 0 || time.Since(s.measured) > often) {
		if err := f.MeasureShard(ctx, shard, s); err != nil {
			return false, err
		}
		s.measured = time.Now()
	}
	at, err := f.beginning(ctx, shard, s)
	if err != nil {
		return false, err
	}
	if keep.Live > 0 && len(at.page) > 0 {
		if keep.told, err = etcdstore.ReadTold(ctx, f.Cfg.Store); err != nil {
			return false, err
		}
	}
	if at.isAll() && len(ripe(at.page, excess(s.total, s.Mean, &keep), &keep, f.Cfg.Age())) == 0 {
		return false, nil
	}
	return f.purgeFrom(ctx, shard, s, &keep, at)
}

// finishedPage is a page of a shard's finished instances.
type finishedPage struct {
	page  []etcdstore.Finished
	from  string    // it begins behind this place; "": at the beginning
	next  string    // where the next one begins; "": there is none before until
	until time.Time // the pages are of what ended before; zero: of all
}

func (p *finishedPage) isAll() bool { return p.next == "" && p.until.IsZero() }

// endsEarly tells whether there may be more behind the last of these pages.
func (p *finishedPage) endsEarly() bool { return p.next == "" && !p.until.IsZero() }

// purgeFrom deletes what may go of the first page, from at on, of which any may.
func (f *Finished) purgeFrom(ctx context.Context, shard int, s *Shard, keep *Limits, at finishedPage) (more bool, err error) {
	for {
		leaving, looked := Overdue(at.page, s.total, s.Mean, keep, f.Cfg.Age())
		if looked == 0 {
			return f.purgeAnywhere(ctx, shard, s, keep, excess(s.total, s.Mean, keep))
		}
		purged, err := f.leave(ctx, shard, s, leaving)
		if err != nil {
			return false, err
		}
		whole := looked == len(at.page)
		if len(leaving) == 0 && at.from <= s.stays {
			s.passOver(at.page, f.Cfg.Age(), keep.Live)
		}
		switch {
		case purged > 0: // the other shards get their turn
			s.from = at.page[looked-1].Cursor // those that stayed are tried again after the next count
			if at.until.IsZero() && at.next != "" {
				s.until = at.page[len(at.page)-1].At.Add(purgeWindow)
			}
			return looked >= etcdstore.MaxPurge || whole && at.endsEarly(), nil
		// All of this page may not go now: look behind it, and behind what is known to stay.
		case whole && s.stays > at.from && s.stays >= at.page[looked-1].Cursor:
			at = finishedPage{from: s.stays}
			at.page, _, at.next, err = f.Cfg.Store.Finished(ctx, shard, at.from, time.Time{}, anywherePage)
		case whole && at.endsEarly():
			s.counted = time.Time{}
			at, err = f.beginning(ctx, shard, s)
		case whole && at.next != "":
			at.from = at.next
			at.page, _, at.next, err = f.Cfg.Store.Finished(ctx, shard, at.from, at.until, anywherePage)
		default:
			return f.purgeAnywhere(ctx, shard, s, keep, 0)
		}
		if err != nil {
			return false, err
		}
	}
}

// passOver notes that the first ones of a page stay, behind others that do. Those of the last minutes are looked at again: what
// a clock that is a little behind writes in front of them is not to wait for the look at all.
func (s *Shard) passOver(page []etcdstore.Finished, age *store.Age, live time.Duration) {
	for i := range page {
		if !page[i].Stays || age.Of(page[i].Created) <= live+passedAfter {
			return
		}
		s.stays = max(s.stays, page[i].Cursor)
	}
}

// beginning is the first page of a shard, of what ended before s.until or of all. It counts the shard if it has not
// for a while, or if what it looked at since is gone.
func (f *Finished) beginning(ctx context.Context, shard int, s *Shard) (at finishedPage, err error) {
	if !s.until.IsZero() && time.Since(s.counted) < countEvery {
		at.until, at.from = s.until, s.from
		at.page, _, at.next, err = f.Cfg.Store.Finished(ctx, shard, s.from, s.until, etcdstore.MaxPurge)
		if err != nil || len(at.page) > 0 {
			return at, err
		}
	}
	at.until, at.from = time.Time{}, ""
	at.page, s.total, at.next, err = f.Cfg.Store.Finished(ctx, shard, "", time.Time{}, etcdstore.MaxPurge)
	if err != nil {
		return at, err
	}
	s.counted, s.from, s.until = time.Now(), "", time.Time{}
	if at.next != "" {
		s.until = at.page[len(at.page)-1].At.Add(purgeWindow)
	}
	return at, nil
}

// purgeAnywhere looks at one page after the other of all that a shard has, and
// deletes what is old, and, if there are too many, so many of those that may go.
// The order of the ends is by the clocks of those who wrote them: behind those of a
// clock that was behind, and behind all others, lies what the look at the beginning
// does not see. What a clock that is behind still writes there may not go yet, and
// the look at the beginning ends at it.
func (f *Finished) purgeAnywhere(ctx context.Context, shard int, s *Shard, keep *Limits, excess int64) (more bool, err error) {
	if keep.Finished == 0 && keep.Live == 0 && excess == 0 || time.Since(s.fruitless) < anywhereEvery {
		return false, nil
	}
	page, _, next, err := f.Cfg.Store.Finished(ctx, shard, s.cursor, time.Time{}, anywherePage)
	if err != nil {
		return false, err
	}
	s.cursor = next
	leaving := ripe(page, excess, keep, f.Cfg.Age())
	s.fruitless = time.Time{}
	if len(leaving) == 0 {
		s.fruitless = time.Now()
	}
	_, err = f.leave(ctx, shard, s, leaving)
	return len(leaving) > 0 && next != "", err
}

// ripe are those of a page that may go, in any order: what is old, and as many
// others as there are too many.
func ripe(page []etcdstore.Finished, excess int64, keep *Limits, age *store.Age) []etcdstore.Leaving {
	var leaving []etcdstore.Leaving
	for i := range page {
		if l := keep.leaves(&page[i], age, excess > 0); l != nil {
			leaving = append(leaving, *l)
			excess--
		}
	}
	return leaving
}

// leaves tells how an instance is to leave the store now; nil: not yet. tooMany: it goes for its number, as soon as it may.
func (r *Limits) leaves(f *etcdstore.Finished, age *store.Age, tooMany bool) *etcdstore.Leaving {
	is := age.Of(f.Created)
	switch {
	case is >= r.Grace && (tooMany || r.Finished > 0 && is > r.Finished):
		return &etcdstore.Leaving{ID: f.ID, Recorded: r.recorded}
	case r.Live > 0 && is > r.Live && !f.Stays && f.Created <= r.told.UpTo():
		return &etcdstore.Leaving{ID: f.ID, Early: is < r.Grace, Recorded: true, Told: r.told}
	}
	return nil
}

// anywherePage is how many of a shard's finished instances are looked at beside the
// first ones, each time.
const anywherePage = 1000

// leave deletes finished instances, a slice at a time, and tells how many went.
func (f *Finished) leave(ctx context.Context, shard int, s *Shard, leaving []etcdstore.Leaving) (n int, err error) {
	for chunk := range slices.Chunk(leaving, etcdstore.MaxPurge) {
		purged, err := f.purge(ctx, chunk)
		n += len(purged)
		s.total -= int64(len(purged))
		f.Cfg.Metrics.Purged(metrics.PurgedInstance, len(purged))
		if len(purged) > 0 {
			f.Cfg.Log.DebugContext(ctx, "finished instances purged", "shard", shard, "instances", len(purged))
		}
		if err != nil {
			return n, err
		}
		if err := loop.Pause(ctx); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Overdue are the instances at the beginning of a page, of total in the shard,
// that are not to be kept. It looked at so many: what stays for longer than those behind it is in nobody's way.
func Overdue(page []etcdstore.Finished, total int64, mean float64, keep *Limits, age *store.Age) (leaving []etcdstore.Leaving, looked int) {
	tooMany := excess(total, mean, keep)
	for i := range page {
		l := keep.leaves(&page[i], age, int64(i) < tooMany)
		if l == nil && !(keep.Live > 0 && page[i].Stays) {
			return leaving, i
		}
		if l != nil {
			leaving = append(leaving, *l)
		}
	}
	return leaving, len(page)
}

// excess is how many of total in a shard are above what is kept.
func excess(total int64, mean float64, keep *Limits) int64 {
	most := total
	if keep.FinishedCount > 0 {
		most = min(most, share(keep.FinishedCount))
	}
	if keep.FinishedBytes > 0 && mean > 0 {
		most = min(most, int64(float64(share(keep.FinishedBytes))/mean))
	}
	return total - most
}

// share is a shard's part of a limit, rounded up.
func share(limit int64) int64 {
	return (limit + etcdstore.FinishedShards - 1) / etcdstore.FinishedShards
}

// MeasureShard reads some of the sizes of a shard: to read all at once would take what etcd can do for as long.
func (f *Finished) MeasureShard(ctx context.Context, shard int, s *Shard) error {
	page, _, next, err := f.Cfg.Store.Finished(ctx, shard, s.Sizes.Cursor, time.Time{}, f.Cfg.SizesPage)
	if err != nil {
		return err
	}
	for _, f := range page {
		s.Sizes.n, s.Sizes.bytes = s.Sizes.n+1, s.Sizes.bytes+float64(f.Bytes)
	}
	s.Mean = s.Sizes.bytes / max(1, s.Sizes.n)
	if s.Sizes.Cursor = next; next == "" || s.Sizes.n > sizesMost {
		s.Sizes.n, s.Sizes.bytes = s.Sizes.n/2, s.Sizes.bytes/2
	}
	return nil
}

// lockPrefixes tells where an instance's lock lies; nil where there are none.
func (f *Finished) lockPrefixes() func(string) string {
	if f.Cfg.Locks == nil {
		return nil
	}
	return func(id string) string { return f.Cfg.Session.LockPrefix(cluster.InstanceLock(id)) }
}

// Dead keeps dead letters within their limits.
type Dead struct{ Retaining }

// run deletes dead letters that were kept long enough or of which there are
// too many, the oldest first. One node does it; two at once do no harm.
func (d *Dead) run(ctx context.Context) error {
	if d.Cfg.Limits.keepsDead() {
		<-ctx.Done()
		return nil
	}
	return d.loop(ctx, "retention of dead letters", deadEvery, func(ctx context.Context) (bool, error) {
		if d.Cfg.Intake.Draining() || !d.here("dead") {
			return false, nil
		}
		return false, d.Once(ctx)
	})
}

// Once is one round.
func (d *Dead) Once(ctx context.Context) error {
	var all []etcdstore.DeadSize
	for cursor := ""; ; {
		page, next, err := d.Cfg.Store.DeadSizes(ctx, cursor, 200)
		if err != nil {
			return err
		}
		all = append(all, page...)
		if cursor = next; next == "" {
			break
		}
		if err := loop.Pause(ctx); err != nil {
			return err
		}
	}
	purged, keep := 0, d.Keep()
	for chunk := range slices.Chunk(overdueDead(all, &keep, d.Cfg.Age()), etcdstore.MaxPurgeDead) {
		n, err := d.Cfg.Store.PurgeDead(ctx, chunk)
		if err != nil {
			return err
		}
		d.Cfg.Metrics.Purged(metrics.PurgedDeadLetter, n)
		purged += n
		if err := loop.Pause(ctx); err != nil {
			return err
		}
	}
	if purged > 0 {
		d.Cfg.Log.DebugContext(ctx, "dead letters purged", "deadLetters", purged, "kept", len(all)-purged)
	}
	return nil
}

// overdueDead are the dead letters that are not to be kept, the oldest first.
func overdueDead(all []etcdstore.DeadSize, keep *Limits, age *store.Age) []etcdstore.DeadSize {
	slices.SortFunc(all, func(a, b etcdstore.DeadSize) int { return cmp.Compare(a.Created, b.Created) })
	var bytes int64
	for _, d := range all {
		bytes += d.Bytes
	}
	n := 0
	for left := int64(len(all)); n < len(all); n++ {
		old := keep.DeadLetters > 0 && age.Of(all[n].Created) > keep.DeadLetters
		many := keep.DeadLettersCount > 0 && left > keep.DeadLettersCount
		large := keep.DeadLettersBytes > 0 && bytes > keep.DeadLettersBytes
		if !old && !many && !large {
			break
		}
		left, bytes = left-1, bytes-all[n].Bytes
	}
	return all[:n]
}
