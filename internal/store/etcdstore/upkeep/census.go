package upkeep

import (
	"context"
	"math"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Census is how many instances of one definition there are.
type Census struct {
	Instances map[workflow.SubStatus]int64 // of those that may move: they have not ended, or faulted
	Oldest    time.Time                    // about when the oldest one that waits was made, a second late at most; zero: none waits
}

// counted are the sub-statuses of instances that may move.
var counted = []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended, workflow.Faulted}

// Census counts the instances of definitions, which are given with the number of the
// latest version. before is what it gave before, or nil: it begins there to look for the
// oldest. etcd counts a range in memory, some 0.1 µs to 0.5 µs a key, and takes no write
// for as long (etcd note 32); so one node counts, and not often.
func (s *Upkeep) Census(ctx context.Context, definitions map[string]int, before map[string]Census, now time.Time) (map[string]Census, error) {
	var ids []string
	var ranges []record.Span
	for id := range definitions {
		ids = append(ids, id)
		for _, sub := range counted {
			at := s.conn.Keys.IndexOf(sub, id)
			ranges = append(ranges, record.Span{From: at, End: clientv3.GetPrefixRangeEnd(at)})
		}
	}
	counts, err := s.counts(ctx, ranges)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Census, len(ids))
	for i, id := range ids {
		c := Census{Instances: make(map[workflow.SubStatus]int64, len(counted))}
		for j, sub := range counted {
			c.Instances[sub] = counts[i*len(counted)+j]
		}
		if c.Instances[workflow.Suspended] > 0 {
			if c.Oldest, err = s.oldest(ctx, id, definitions[id], before[id].Oldest, now); err != nil {
				return nil, err
			}
		}
		out[id] = c
	}
	return out, nil
}

// counts counts the keys of ranges.
func (s *Upkeep) counts(ctx context.Context, ranges []record.Span) ([]int64, error) {
	out := make([]int64, 0, len(ranges))
	for chunk := range slices.Chunk(ranges, db.MaxLevel) {
		ops := make([]clientv3.Op, len(chunk))
		for i, r := range chunk {
			ops[i] = clientv3.OpGet(r.From, clientv3.WithRange(r.End), clientv3.WithCountOnly())
		}
		resp, err := s.conn.Read(ctx, "count instances", ops...)
		if err != nil {
			return nil, err
		}
		for i := range chunk {
			out = append(out, db.Read(i).In(resp).Count)
		}
	}
	return out, nil
}

// oldest finds when the oldest instance that waits was made, by asking whether any is as old
// as that: of ranges that may be long, none is read, and the longest are asked for the least.
func (s *Upkeep) oldest(ctx context.Context, definition string, latest int, known, now time.Time) (time.Time, error) {
	asOld := func(at time.Time) (bool, error) {
		ranges := make([]record.Span, latest)
		for v := range ranges {
			list := s.conn.Keys.IndexOfVersion(workflow.Suspended, definition, v+1)
			ranges[v] = record.Span{From: list + record.Newest(at), End: clientv3.GetPrefixRangeEnd(list)}
		}
		counts, err := s.counts(ctx, ranges)
		return slices.ContainsFunc(counts, func(n int64) bool { return n > 0 }), err
	}
	// None is as old as from; some are as old as to, unless a clock was ahead.
	from, to := time.UnixMilli(0), now
	if !known.IsZero() {
		old, err := asOld(known)
		older := false
		if err == nil && old {
			older, err = asOld(known.Add(-time.Second))
		}
		switch {
		case err != nil:
			return now, err
		case old && !older:
			return known, nil
		case old:
			to = known.Add(-time.Second)
		default:
			from = known
			for step := time.Second; from.Add(step).Before(now) && step < math.MaxInt64/8; step *= 4 {
				if old, err := asOld(from.Add(step)); err != nil {
					return now, err
				} else if old {
					to = from.Add(step)
					break
				}
				from = from.Add(step)
			}
		}
	}
	for to.Sub(from) > time.Second {
		middle := from.Add(to.Sub(from) / 2)
		old, err := asOld(middle)
		if err != nil {
			return now, err
		}
		if old {
			to = middle
		} else {
			from = middle
		}
	}
	return to, nil
}
