package lists

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/weft-run/weft/pkg/workflow"
)

// InstanceCounts are how many instances there are, all counted at one revision.
type InstanceCounts struct {
	Lists    []InstanceCount
	More     bool // there are more lists than [MostCountedLists]
	Revision int64
}

// InstanceCount is how many instances of a version are in one sub-status.
type InstanceCount struct {
	SubStatus    workflow.SubStatus
	DefinitionID string
	Version      int
	Count        int64
	More         bool // it was counted up to [CountedFar], from the newest on: there may be more
}

// Bounds of what is counted. etcd counts a range key by key, and takes no write for as long (etcd
// note 32): so a list is counted in windows of time, from the newest instance on, until it has as
// many; each window is some times as long as the one before, so that it may be about as many times
// more.
const (
	CountedFar       = 10_000
	MostCountedLists = 1000

	countedWider = 8
)

// Counts counts the instances of each sub-status, definition and version.
func (s *Lists) Counts(ctx context.Context) (*InstanceCounts, error) {
	for {
		counts, err := (&listing{s: s}).countAll(ctx)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between two of its reads
			return counts, err
		}
	}
}

func (l *listing) countAll(ctx context.Context) (*InstanceCounts, error) {
	lists, err := l.lists(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(lists)
	out := &InstanceCounts{More: len(lists) > MostCountedLists}
	lists = lists[:min(len(lists), MostCountedLists)]
	var open []int
	for i, list := range lists {
		parts := strings.Split(strings.TrimPrefix(list, l.s.conn.Keys.Indexes()), "/")
		version, _ := strconv.Atoi(parts[2])
		out.Lists = append(out.Lists, InstanceCount{SubStatus: workflow.SubStatus(parts[0]), DefinitionID: parts[1], Version: version})
		open = append(open, i)
	}
	w := firstOf(places{}, time.Now())
	for w.wider = countedWider; len(open) > 0; w = w.next() {
		among, counts := make([][]string, len(open)), make([]int64, len(open))
		for n, i := range open {
			among[n] = lists[i : i+1]
		}
		if err := l.count(ctx, w, among, counts); err != nil {
			return nil, err
		}
		for n, i := range open {
			out.Lists[i].Count += counts[n]
			out.Lists[i].More = out.Lists[i].Count >= CountedFar && !w.ends()
		}
		if w.ends() {
			break
		}
		open = slices.DeleteFunc(open, func(i int) bool { return out.Lists[i].More })
	}
	out.Lists = slices.DeleteFunc(out.Lists, func(c InstanceCount) bool { return c.Count == 0 }) // one that was not empty once
	out.Revision = l.revision
	return out, nil
}
