package upkeep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/workflow"
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
	// jobRests is after how long without a write another node takes a job up: the one that is
	// preferred for it may be of an older version, which leaves alone what it does not know.
	jobRests = 30 * time.Second
)

// workJobs works the jobs that this node is preferred for, and those that rest at others. When a
// node is gone, its jobs are others'.
func (j *jobs) workJobs(ctx context.Context) error {
	some, others := false, othersJobs{}
	every := func() time.Duration {
		if some {
			return jobsEvery
		}
		return j.rest(jobsEvery)
	}
	return j.pacedLoop(ctx, "jobs", every, nil, func(ctx context.Context) (bool, error) {
		if j.intake.Suspended() {
			others = othersJobs{} // all of them rest
			return false, nil
		}
		ids, err := j.cfg.Jobs.Open(ctx)
		if some = len(ids) > 0; err != nil {
			return false, err
		}
		if ids, err = j.mine(ctx, ids, &others); err != nil {
			return false, err
		}
		var again atomic.Bool
		err = loop.SideBySide(jobsAtOnce, len(ids), func(i int) error {
			more, err := j.cfg.Runtime.Jobs.WorkJob(ctx, ids[i])
			if more {
				again.Store(true)
			}
			return err
		})
		return again.Load() && err == nil, err
	})
}

// othersJobs are the jobs that other nodes are preferred for, as they were seen.
type othersJobs struct {
	looked time.Time
	jobs   map[string]othersJob
}

type othersJob struct {
	modified int64
	since    time.Time // that it is so
	mine     bool      // this node has taken it up
}

// mine leaves the jobs that this node is to work. Of those of others it looks every few seconds
// whether anything is done with them; it stays with one that it has taken up until another node
// writes it.
func (j *jobs) mine(ctx context.Context, ids []string, seen *othersJobs) ([]string, error) {
	now := time.Now()
	look := now.Sub(seen.looked) >= j.cfg.JobRests/3
	var mine []string
	jobs := map[string]othersJob{}
	for _, id := range ids {
		if j.cfg.Session.PreferredNode("job/"+id) == j.cfg.Session.NodeID() {
			mine = append(mine, id)
			continue
		}
		is := seen.jobs[id]
		if look {
			job, err := j.cfg.Jobs.Job(ctx, id)
			switch {
			case workflow.CodeOf(err) == workflow.CodeNotRunnable || errors.Is(err, etcdstore.ErrDamaged):
				continue // it is left to others, or to fsck
			case err != nil:
				return nil, err
			case job == nil:
				continue
			case is.mine && job.Node == j.cfg.Session.NodeID():
				is.modified, is.since = job.Modified, now
			case is.modified != job.Modified:
				is = othersJob{modified: job.Modified, since: now}
			case now.Sub(is.since) >= j.cfg.JobRests:
				if !is.mine {
					j.cfg.Log.InfoContext(ctx, "job rests at another node, and is worked here", "job", id, "preferred", j.cfg.Session.PreferredNode("job/"+id))
				}
				is.mine = true
			}
		}
		if jobs[id] = is; is.mine {
			mine = append(mine, id)
		}
	}
	if seen.jobs = jobs; look {
		seen.looked = now
	}
	return mine, nil
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
