package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// outcome is what one measurement saw.
type outcome struct {
	ops, failed int
	err         error // one of the failures
	took        time.Duration
	lat         []time.Duration
}

// perCall bounds one operation: one that hangs fails, and is counted.
const perCall = 30 * time.Second

// closedLoop lets callers do one operation after the other for a time.
func closedLoop(ctx context.Context, callers int, d time.Duration, op func(ctx context.Context, i int64) error) outcome {
	parts := make([]outcome, callers)
	began := time.Now()
	end := began.Add(d)
	var wg sync.WaitGroup
	for c := range parts {
		wg.Go(func() {
			p := &parts[c]
			for time.Now().Before(end) && ctx.Err() == nil {
				t := time.Now()
				call, cancel := context.WithTimeout(ctx, perCall)
				err := op(call, serial.Add(1))
				cancel()
				if err != nil {
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

// serial numbers operations; no two of one process share one.
var serial atomic.Int64

// point is one measurement, or the medians of several.
type point struct {
	System      string  `json:"system"`
	Round       int     `json:"round"`
	Name        string  `json:"name"`
	Commit      string  `json:"commit"`
	Concurrency int     `json:"concurrency"`
	Ops         int     `json:"ops"`
	Failed      int     `json:"failed,omitempty"`
	Error       string  `json:"error,omitempty"`
	PerSecond   float64 `json:"perSecond"`
	P50         float64 `json:"p50Ms"`
	P99         float64 `json:"p99Ms"`
	P999        float64 `json:"p999Ms"`
	CPU         float64 `json:"cpuMs"` // of all processes, per operation
}

// saturated tells that more callers only wait longer: the median took as long as
// the measurement. What is slower than that is not asked again with more.
func (p *point) saturated(d time.Duration) bool { return p.Ops == 0 || p.P50 > ms(d) }

// measure measures one operation at one concurrency.
func (s *system) measure(ctx context.Context, op operation, callers int, d time.Duration) point {
	before := s.spent()
	out := closedLoop(ctx, callers, d, op.do)
	spent := s.spent() - before
	p := point{Name: op.name, Commit: op.commit, Concurrency: callers, Ops: out.ops, Failed: out.failed}
	if out.err != nil {
		p.Error = out.err.Error()
	}
	if out.ops > 0 {
		p.PerSecond = float64(out.ops) / out.took.Seconds()
		p.P50, p.P99, p.P999 = ms(quantile(out.lat, .5)), ms(quantile(out.lat, .99)), ms(quantile(out.lat, .999))
		p.CPU = ms(spent) / float64(out.ops)
	}
	return p
}

func (s *system) spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	own := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	if s.cpu != nil {
		own += s.cpu()
	}
	return own
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
