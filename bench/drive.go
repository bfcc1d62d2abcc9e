package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// outcome is what one measurement saw.
type outcome struct {
	ops    int
	failed int
	err    error // one of the failures
	took   time.Duration
	lat    []time.Duration
	notes  map[string]float64
}

// closedLoop lets callers do one operation after the other for a time.
func closedLoop(ctx context.Context, callers int, d time.Duration, op func(ctx context.Context, i int64) error) outcome {
	var i atomic.Int64
	end := time.Now().Add(d)
	parts := make([]outcome, callers)
	began := time.Now()
	var wg sync.WaitGroup
	for c := range parts {
		wg.Go(func() {
			p := &parts[c]
			for time.Now().Before(end) && ctx.Err() == nil {
				t := time.Now()
				if err := op(ctx, i.Add(1)); err != nil {
					p.failed, p.err = p.failed+1, err
					continue
				}
				p.lat = append(p.lat, time.Since(t))
			}
		})
	}
	wg.Wait()
	out := outcome{took: time.Since(began)}
	for _, p := range parts {
		out.lat = append(out.lat, p.lat...)
		out.failed += p.failed
		if p.err != nil {
			out.err = p.err
		}
	}
	out.ops = len(out.lat)
	slices.Sort(out.lat)
	return out
}

// openLoop starts operations at a rate, however long they take; a latency is
// counted from when the operation was due.
func openLoop(ctx context.Context, rate int, d time.Duration, op func(ctx context.Context, i int64) error) outcome {
	n := int(float64(rate) * d.Seconds())
	lat := make([]time.Duration, n)
	errs := make([]error, n)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range n {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		wg.Go(func() {
			errs[i] = op(ctx, int64(i))
			lat[i] = time.Since(due)
		})
	}
	wg.Wait()
	out := outcome{took: time.Since(began)}
	for i, err := range errs {
		if err != nil {
			out.failed, out.err = out.failed+1, err
			continue
		}
		out.lat = append(out.lat, lat[i])
	}
	out.ops = len(out.lat)
	slices.Sort(out.lat)
	return out
}

// inParallel does n operations with 128 callers, as preparation.
func inParallel(ctx context.Context, n int, op func(ctx context.Context, i int) error) error {
	const callers = 128
	var next atomic.Int64
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && errs[c] == nil; i = next.Add(1) - 1 {
				errs[c] = op(ctx, int(i))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	return nil
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
