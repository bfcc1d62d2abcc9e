package upkeep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store"
)

// jobs works commands for all instances of a filter, a page at a time.
type jobs struct{ worker }

const (
	jobsEvery  = time.Second // while there are some
	jobsAtOnce = 4
	// How long those that ended are kept, and how many.
	keepJobs     = 7 * 24 * time.Hour
	mostJobs     = 1000
	jobsPageSize = 200
)

// workJobs works the jobs that this node is preferred for. When a node is gone, its jobs
// are others'.
func (j *jobs) workJobs(ctx context.Context) error {
	some := false
	every := func() time.Duration {
		if some {
			return jobsEvery
		}
		return j.rest(jobsEvery)
	}
	return j.pacedLoop(ctx, "jobs", every, nil, func(ctx context.Context) (bool, error) {
		if j.intake.Suspended() {
			return false, nil
		}
		ids, err := j.cfg.Jobs.Open(ctx)
		if some = len(ids) > 0; err != nil {
			return false, err
		}
		var again atomic.Bool
		err = sideBySide(jobsAtOnce, len(ids), func(i int) error {
			if j.cfg.Session.PreferredNode("job/"+ids[i]) != j.cfg.Session.NodeID() {
				return nil
			}
			more, err := j.cfg.Runtime.WorkJob(ctx, ids[i])
			if more {
				again.Store(true)
			}
			return err
		})
		return again.Load() && err == nil, err
	})
}

// purgeJobs forgets jobs that ended long ago, or are too many.
func (j *jobs) purgeJobs(ctx context.Context) error {
	return j.loop(ctx, "retention of jobs", time.Hour, nil, func(ctx context.Context) (bool, error) {
		if j.cfg.Session.PreferredNode("job-retention") != j.cfg.Session.NodeID() {
			return false, nil
		}
		return false, j.purge(ctx, keepJobs, mostJobs)
	})
}

func (j *jobs) purge(ctx context.Context, keep time.Duration, most int) error {
	var ended []store.Job
	var errs []error
	age := j.cfg.Age.Now()
	for cursor := ""; ; {
		page, end, err := j.cfg.Jobs.List(ctx, cursor, jobsPageSize)
		if err != nil {
			return err
		}
		for i := range page {
			if page[i].Damaged != "" || page[i].Open() {
				continue
			}
			if age.Of(page[i].Modified) > keep {
				_, err := j.cfg.Jobs.Delete(ctx, &page[i])
				errs = append(errs, err)
				continue
			}
			ended = append(ended, store.Job{ID: page[i].ID, Modified: page[i].Modified})
		}
		if cursor = end.Next; cursor == "" {
			break
		}
	}
	slices.SortFunc(ended, func(a, b store.Job) int { return cmp.Compare(a.Modified, b.Modified) }) // ids made of keys have no order
	for i := range max(0, len(ended)-most) {
		_, err := j.cfg.Jobs.Delete(ctx, &ended[i])
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
