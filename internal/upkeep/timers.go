package upkeep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/catalog/schedule"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// timers fires what is due: timers of instances, and schedules of definitions.
type timers struct {
	worker
	clock clockState
}

const (
	maxSkew    = 2 * time.Second  // a clock further off the median fires nothing
	skewSaid   = 30 * time.Second // so often the log says that it does
	maxCatchUp = 100              // missed occurrences started in one go
)

// clockState is what was said about this node's clock.
type clockState struct {
	mu   sync.Mutex
	said time.Time // when it was, last, that it is off; zero: it is right; guarded by mu
}

// mayFire tells whether this node's clock may be trusted with firing.
func (t *timers) mayFire() bool {
	if t.intake.HoldsBack() || !t.cfg.Session.ClockCompared() {
		return false
	}
	skew := t.cfg.Skew()
	off := skew > maxSkew || skew < -maxSkew
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	switch {
	case off && time.Since(t.clock.said) > skewSaid:
		t.clock.said = time.Now()
		t.cfg.Log.Error("this node's clock is off; it fires no timers", "skew", skew)
	case !off && !t.clock.said.IsZero():
		t.clock.said = time.Time{}
		t.cfg.Log.Info("this node's clock is right again; it fires timers", "skew", skew)
	}
	return !off
}

// fireTimers turns due timers into commands.
func (t *timers) fireTimers(ctx context.Context) error {
	w := dueWorker{t: t, of: etcdstore.Timers, may: t.mayFire, fire: t.fireResumes}
	return w.run(ctx)
}

func (t *timers) fireResumes(ctx context.Context, due []etcdstore.Due, now time.Time) (failed []etcdstore.Due, err error) {
	return inChunks(due, etcdstore.MaxFire, func(chunk []etcdstore.Due) error {
		fired, err := t.fireChunk(ctx, chunk, now)
		t.cfg.Wakeups.Hint(fired, false)
		return err
	})
}

// inChunks does up to most at once, and gives those that failed.
func inChunks(due []etcdstore.Due, most int, do func([]etcdstore.Due) error) (failed []etcdstore.Due, err error) {
	var errs []error
	for chunk := range slices.Chunk(due, most) {
		if err := do(chunk); err != nil {
			errs, failed = append(errs, err), append(failed, chunk...)
		}
	}
	return failed, errors.Join(errs...)
}

// fireChunk fires timers. Each that was set in a trace has a span of its own in
// it; the transaction that they share is below the first.
func (t *timers) fireChunk(ctx context.Context, chunk []etcdstore.Due, now time.Time) ([]string, error) {
	shared := ctx
	for i := range chunk {
		d := &chunk[i]
		trace, set := d.Origin()
		tctx, span := t.cfg.Tracer.Timer(ctx, d.Instance(), now.Sub(d.At), tracing.Origin{Trace: trace, Sent: set})
		defer span.End()
		d.Trace = tracing.Traceparent(tctx)
		if !tracing.Recorded(shared) {
			shared = tctx //nolint:fatcontext // one of them, not one in the other
		}
	}
	return t.cfg.Store.FireTimers(shared, chunk, now)
}

// misplacedEvery is how often a node looks for misplaced timers in its shards, wherever they lie.
const misplacedEvery = time.Hour

// placeTimers moves the timers that a program of before put between sooner ones. Those that are in the way of looks these
// move; the others stand wrong in the list.
func (t *timers) placeTimers(ctx context.Context) error {
	every := t.cfg.Rest
	return t.pacedLoop(ctx, "misplaced timers", func() time.Duration { return every }, nil, func(ctx context.Context) (bool, error) {
		var errs []error
		for shard := range etcdstore.TimerShards {
			if !prefers(t.cfg.Session, shard) || t.intake.Level() >= intake.Full {
				continue
			}
			every = misplacedEvery
			places, err := t.cfg.Store.Misplaced(ctx, shard)
			if err == nil {
				err = t.moveMisplaced(ctx, shard, places)
			}
			errs = append(errs, err)
			if shard == 0 {
				errs = append(errs, t.listForPeople(ctx))
			}
		}
		return false, errors.Join(errs...)
	})
}

// listForPeople puts user tasks that a program of before made into the lists of who may complete them.
func (t *timers) listForPeople(ctx context.Context) error {
	listed, err := etcdstore.ListForPeople(ctx, t.cfg.Store)
	if listed > 0 {
		t.cfg.Log.InfoContext(ctx, "user tasks of a node of before are in the lists of who may complete them", "tasks", listed)
	}
	return err
}

func (t *timers) moveMisplaced(ctx context.Context, shard int, places []string) error {
	moved, err := t.cfg.Store.MoveMisplaced(ctx, shard, places)
	if moved > 0 {
		t.cfg.Log.InfoContext(ctx, "timers that a node of before had put between sooner ones are put where they belong", "shard", shard, "timers", moved)
	}
	return err
}

// endLeases ends the claims of workers that say nothing any more.
func (t *timers) endLeases(ctx context.Context) error {
	w := dueWorker{t: t, of: etcdstore.TaskLeases, may: t.mayFire, fire: t.endClaims}
	return w.run(ctx)
}

func (t *timers) endClaims(ctx context.Context, due []etcdstore.Due, now time.Time) (failed []etcdstore.Due, err error) {
	return inChunks(due, etcdstore.MostClaims, func(chunk []etcdstore.Due) error {
		ended, err := t.cfg.Store.EndLeases(ctx, chunk, now)
		if ended.Freed > 0 || len(ended.Failed) > 0 {
			t.cfg.Log.InfoContext(ctx, "leases of workers ended", "free", ended.Freed, "failed", len(ended.Failed))
		}
		t.cfg.Wakeups.Hint(ended.Failed, false)
		return err
	})
}

// fireSchedules starts what cron, timer and startAt triggers have due.
func (t *timers) fireSchedules(ctx context.Context) error {
	w := dueWorker{t: t, of: etcdstore.Schedules, fire: t.fireDueSchedules, may: func() bool {
		return t.mayFire() && t.intake.Level() == intake.Roomy // the catch-up policy says what becomes of what was missed
	}}
	return w.run(ctx)
}

// fireDueSchedules fires occurrences.
func (t *timers) fireDueSchedules(ctx context.Context, due []etcdstore.Due, now time.Time) (failed []etcdstore.Due, err error) {
	var errs []error
	for _, d := range due {
		if err := t.fireSchedule(ctx, d.Schedule, now); err != nil {
			errs, failed = append(errs, err), append(failed, d) // one bad schedule never stops the others
		}
	}
	return failed, errors.Join(errs...)
}

// fireSchedule fires one occurrence. What it starts has an id from definition,
// activity and due time, so it starts once.
func (t *timers) fireSchedule(ctx context.Context, e *store.CronEntry, now time.Time) error {
	head, err := t.cfg.Store.Head(ctx, e.DefinitionID)
	if err != nil {
		return err
	}
	if !head.Fires(e) {
		// Left over from an older version: nothing starts, nothing follows.
		_, _, err := t.cfg.Store.FireSchedule(ctx, e, nil, nil, nil)
		return err
	}
	dues, next := occurrences(e, now)
	if len(dues) > 0 {
		var span tracing.Span
		ctx, span = t.cfg.Tracer.Schedule(ctx, e.DefinitionID, now.Sub(e.Due))
		defer span.End()
	}
	starts := make([]etcdstore.NewInstance, 0, len(dues))
	var ids []string
	for _, due := range dues {
		n := t.scheduled(e, due, now)
		n.Command.Trace = tracing.Traceparent(ctx)
		starts = append(starts, n)
		ids = append(ids, n.Header.ID)
	}
	ok, gated, err := t.cfg.Store.FireSchedule(ctx, e, head, next, starts)
	if err != nil || !ok {
		return err
	}
	if gated > 0 {
		t.cfg.Metrics.Gated(metrics.GatedSchedule, gated)
		t.cfg.Log.WarnContext(ctx, "a schedule was due and started nothing, as an instance holds the gate of its definition",
			"definitionId", e.DefinitionID, "activityId", e.ActivityID, "occurrences", gated, "due", dues[len(dues)-1])
	}
	t.cfg.Wakeups.Hint(ids, false)
	return nil
}

// occurrences gives the due times to start for at now and the occurrence that
// follows, by the catch-up policy: skip starts none for what was missed, one starts one for all that were missed, all
// starts each. Without a policy the latest starts if it is fresh.
func occurrences(e *store.CronEntry, now time.Time) (dues []time.Time, next *store.CronEntry) {
	dues, due, more := schedule.Missed(e, now, maxCatchUp)
	if more {
		n := *e
		n.Due = due
		next = &n
	}
	switch e.CatchUp {
	case "all":
	case "one":
		dues = dues[len(dues)-1:]
	case "skip":
		missed := now.Sub(dues[0]) > takeover
		if dues = dues[len(dues)-1:]; missed {
			dues = nil
		}
	default:
		last := dues[len(dues)-1]
		if dues = dues[len(dues)-1:]; now.Sub(last) > freshness && e.Kind != store.ScheduleStartAt {
			dues = nil
		}
	}
	return dues, next
}

const (
	// freshness is how late an occurrence may start without a catch-up policy: long enough for a node that is
	// started again.
	freshness = time.Minute
	// takeover is how late an occurrence may be that was not missed: another node took over, or this one is busy.
	takeover = 15 * time.Second
)

func (t *timers) scheduled(e *store.CronEntry, due, now time.Time) etcdstore.NewInstance {
	id := store.ScheduledInstance(e.DefinitionID, e.ActivityID, due)
	cmd := workflow.Command{ID: "start-" + id, Kind: workflow.CommandStart, CreatedAt: now, Due: &due, Start: &workflow.Start{
		DefinitionID: e.DefinitionID, Version: e.Version, Trigger: e.ActivityID, TriggerInput: map[string]any{"dueAt": due.UTC().Format(time.RFC3339Nano)}}}
	return etcdstore.NewInstance{Header: etcdstore.NewHeader(id, cmd, now), Command: cmd, Gate: store.GateOf(e.Activation, cmd.Start)}
}
