package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/node"
)

// counted is what one operation asks of etcd and allocates, counted with one caller:
// figures that are the same on a busy machine.
type counted struct {
	Name string `json:"name"`
	etcdCost
	Allocs     int `json:"allocs"`
	AllocBytes int `json:"allocBytes"`
}

// countedOperation is one that is counted; prepare comes before each and is not.
type countedOperation struct {
	name, locking string // of resumes
	prepare       func(ctx context.Context, s *system) (pausedW2, error)
	run           func(ctx context.Context, s *system, w pausedW2) error
}

// countedOperations are those of the table: what resumes also with the lock first.
func countedOperations() (all []countedOperation) {
	none := func(context.Context, *system) (pausedW2, error) { return pausedW2{}, nil }
	for _, commit := range []string{"burst", "joined", "activity"} {
		name := func(name string) string { return (&point{Name: name, Commit: commit}).label() }
		w1 := func(definition string) func(context.Context, *system, pausedW2) error {
			return func(ctx context.Context, s *system, _ pausedW2) error { return s.runToEnd(ctx, definition, commit) }
		}
		wait := func(ctx context.Context, s *system) (pausedW2, error) { return s.startWaiting(ctx, commit) }
		resume := func(ctx context.Context, s *system, w pausedW2) error { return s.resume(ctx, w) }
		all = append(all, countedOperation{name("W1"), node.ResumeLockingAuto, none, w1("W1")})
		for _, locking := range []string{node.ResumeLockingAuto, node.ResumeLockingAlways} {
			first := map[string]string{node.ResumeLockingAlways: ", the lock first"}[locking]
			all = append(all,
				countedOperation{name("W2") + first, locking, none, func(ctx context.Context, s *system, _ pausedW2) error {
					w, err := wait(ctx, s)
					if err != nil {
						return err
					}
					return resume(ctx, s, w)
				}},
				countedOperation{name("W2, its resume") + first, locking, wait, resume})
		}
		all = append(all, countedOperation{name(threeCalls), node.ResumeLockingAuto, none, w1(threeCalls)})
	}
	return all
}

// How often an operation is counted, after a tenth of it that is not: with one caller
// the node's own requests fall into a few of them, so the median has none.
const countedTimes = 50

// countAll counts every operation twice: for etcd through a door, and for allocations
// without it, as it allocates too. A locking that was asked for is counted alone.
func countAll(ctx context.Context, o options, operations []countedOperation) ([]counted, error) {
	operations = slices.DeleteFunc(operations, func(op countedOperation) bool { return o.resumeLocking != "" && op.locking != o.resumeLocking })
	all := make([]counted, len(operations))
	for i := range operations {
		all[i].Name = operations[i].name
	}
	o.endpoints, o.targets = nil, nil
	for _, locking := range []string{node.ResumeLockingAuto, node.ResumeLockingAlways} {
		if !slices.ContainsFunc(operations, func(op countedOperation) bool { return op.locking == locking }) {
			continue
		}
		o.resumeLocking = locking
		for _, through := range []bool{true, false} {
			o.door = through
			if err := countWith(ctx, o, operations, all); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// countWith counts the operations of one locking, with or without the door.
func countWith(ctx context.Context, o options, operations []countedOperation, all []counted) (err error) {
	alone := setup{Etcd: "one", Transport: "inprocess", Group: "on", Nodes: 1}
	sys, err := alone.start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	for i := range operations {
		if operations[i].locking != o.resumeLocking {
			continue
		}
		if err := all[i].count(ctx, sys, &operations[i]); err != nil {
			return fmt.Errorf("count %s: %w", all[i].Name, err)
		}
	}
	return nil
}

// count counts one operation, at the door if there is one.
func (c *counted) count(ctx context.Context, s *system, op *countedOperation) error {
	var costs []etcdCost
	var allocs, bytes []int
	var before, after runtime.MemStats
	for i := range countedTimes + countedTimes/10 {
		w, err := op.prepare(ctx, s)
		if err != nil {
			return err
		}
		if s.door == nil {
			runtime.ReadMemStats(&before)
			err = op.run(ctx, s, w)
			runtime.ReadMemStats(&after)
		} else {
			var at, then etcdCost
			var unread, unread2 error
			at, unread = s.door.seen()
			err = op.run(ctx, s, w)
			then, unread2 = s.door.seen()
			costs, err = append(costs, then.minus(at)), errors.Join(err, unread, unread2)
		}
		if err != nil {
			return err
		}
		allocs, bytes = append(allocs, int(after.Mallocs-before.Mallocs)), append(bytes, int(after.TotalAlloc-before.TotalAlloc))
		if i < countedTimes/10 {
			costs, allocs, bytes = nil, nil, nil
		}
	}
	if s.door == nil {
		c.Allocs, c.AllocBytes = median(allocs), median(bytes)
		return nil
	}
	c.etcdCost = medians(costs)
	return nil
}

func median(list []int) int {
	slices.Sort(list)
	return list[len(list)/2]
}

// medians has the median of each figure.
func medians(all []etcdCost) (t etcdCost) {
	for i, c := range t.columns() {
		var list []int
		for j := range all {
			list = append(list, *all[j].columns()[i].value)
		}
		*c.value = median(list)
	}
	return t
}

// countTable is the table of the counts.
func countTable(all []counted) string {
	if len(all) == 0 {
		return "Not measured."
	}
	var b strings.Builder
	b.WriteString("| what |")
	for _, c := range all[0].columns() {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString(" allocations | bytes allocated |\n|---|" + strings.Repeat("---|", len(all[0].columns())+2) + "\n")
	for i := range all {
		c := &all[i]
		fmt.Fprintf(&b, "| %s |", c.Name)
		for _, column := range c.columns() {
			fmt.Fprintf(&b, " %d |", *column.value)
		}
		fmt.Fprintf(&b, " %d | %d |\n", c.Allocs, c.AllocBytes)
	}
	return b.String()
}

// countOnly counts and prints.
func countOnly(ctx context.Context, o options) error {
	began := time.Now()
	all, err := countAll(ctx, o, countedOperations())
	if err != nil {
		return err
	}
	fmt.Printf("%s, %.0f s\n\n%s", machine(), time.Since(began).Seconds(), countTable(all))
	return nil
}
