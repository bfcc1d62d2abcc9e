package metrics

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Reading is what a page about a cluster shows of a node: what it has counted since its start,
// and what it holds now. Everything else is for Prometheus.
type Reading struct {
	Commits   map[string]float64 // by outcome
	Bursts    float64            // that were run
	Commit    Mean               // seconds that a commit took
	Commands  Mean               // that a commit consumed
	Reads     Mean               // requests that shared a proposal to etcd, of those that only read
	Writes    Mean               // the same of those that may write
	Takeovers float64            // commands that another node had left

	Locks       int // that are held now
	NotRunnable int // instances with work that this node leaves to others

	// Of etcd's fullest member, in bytes, and how full that makes it: 0 to 2.
	StoreInUse, StoreAllocated, StoreQuota int64
	StoreLevel                             int

	Unread []File // files that cannot be taken as they are
}

// Mean is how many were seen, and their sum.
type Mean struct{ Count, Sum float64 }

// Reading gives the numbers as they are now. It takes some microseconds.
func (m *Metrics) Reading() Reading {
	r := Reading{Commits: map[string]float64{}}
	if m == nil {
		return r
	}
	for _, outcome := range knownCommitOutcomes {
		r.Commits[outcome] = valueOf(m.commits.WithLabelValues(outcome))
	}
	r.Bursts, r.Takeovers = valueOf(m.bursts), valueOf(m.takeovers)
	r.Commit, r.Commands = meanOf(m.commitSeconds), meanOf(m.commitCommands)
	r.Reads, r.Writes = meanOf(m.etcdBatches.WithLabelValues(string(BatchReads))), meanOf(m.etcdBatches.WithLabelValues(string(BatchWrites)))
	for _, scope := range knownScopes {
		r.Locks += int(valueOf(m.locksHeld.WithLabelValues(scope)))
	}
	r.StoreInUse, r.StoreAllocated, r.StoreQuota = m.storePart(storeInUse), m.storePart(storeAllocated), m.storePart(storeQuota)
	r.NotRunnable = int(valueOf(m.setAside))
	r.StoreLevel = int(valueOf(m.storeLevel))
	for _, file := range knownFiles {
		if valueOf(m.Condition.unread.WithLabelValues(file)) > 0 {
			r.Unread = append(r.Unread, File(file))
		}
	}
	return r
}

func (m *Metrics) storePart(part string) int64 {
	return int64(valueOf(m.storeBytes.WithLabelValues(part)))
}

// Since gives what was counted after an earlier reading; what is held is as it is now.
func (r Reading) Since(before Reading) Reading {
	out := r
	out.Commits = maps.Clone(r.Commits)
	for outcome, n := range before.Commits {
		out.Commits[outcome] -= n
	}
	out.Bursts -= before.Bursts
	out.Takeovers -= before.Takeovers
	for _, pair := range []struct{ now, was *Mean }{{&out.Commit, &before.Commit}, {&out.Commands, &before.Commands}, {&out.Reads, &before.Reads}, {&out.Writes, &before.Writes}} {
		pair.now.Count -= pair.was.Count
		pair.now.Sum -= pair.was.Sum
	}
	return out
}

// written gives a series as it is now; an empty one if it cannot be read, which does not happen
// to those of this package.
func written(series any) *dto.Metric {
	var out dto.Metric
	if s, ok := series.(prometheus.Metric); ok && s.Write(&out) == nil {
		return &out
	}
	return &dto.Metric{}
}

func valueOf(series any) float64 {
	s := written(series)
	return s.GetCounter().GetValue() + s.GetGauge().GetValue()
}

func meanOf(series any) Mean {
	h := written(series).GetHistogram()
	return Mean{Count: float64(h.GetSampleCount()), Sum: h.GetSampleSum()}
}
