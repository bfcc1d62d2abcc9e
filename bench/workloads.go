package main

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/workflow"
)

// definitions are what the workloads run.
var definitions = []string{
	"id: w1-burst\n" + w1Body,
	"id: w1-activity\noptions: {commit: ActivityExecuted}\n" + w1Body,
	"id: w2-burst\n" + w2Body,
	"id: w2-activity\noptions: {commit: ActivityExecuted}\n" + w2Body,
	"id: w3\nroot:\n  - while: true\n    body: [{event: tick}]\n",
	"id: w5\ninputs: {wait: {type: string}}\nroot:\n  - delay: ${{ inputs.wait }}\n",
	"id: w6\nroot:\n  - bulkDispatchWorkflows: {workflowDefinitionId: w6-child, items: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], waitForCompletion: true}\n",
	"id: w6-child\nroot:\n  - writeLine: child\n",
}

const (
	w1Body = "inputs: {order: {type: string}}\nvariables: {n: {type: number}}\nroot:\n  - writeLine: Order ${{ inputs.order }}\n  - setVariable: {variable: n, value: 1}\n  - writeLine: done\n"
	w2Body = "inputs: {order: {type: string}}\nroot:\n  - event: go\n  - writeLine: done\n"
)

// input is about 200 bytes.
var input = map[string]any{"order": strings.Repeat("order 0815 ", 18)}

// workload is one of W1 to W7.
type workload struct {
	commits bool // it is measured per burst and per activity
	once    bool // it has a concurrency of its own
	run     func(ctx context.Context, m *meter, name, commit string, callers int) error
}

var workloads = map[string]*workload{
	"W1": {commits: true, run: startToFinish},
	"W2": {commits: true, run: waitAndResume},
	"W3": {run: hotInstance},
	"W4": {once: true, run: resumesAmongMany},
	"W5": {once: true, run: timersAtOnce},
	"W6": {run: fanOut},
	"W7": {run: refreshStorm},
}

var errNotFinished = errors.New("the instance is not finished")

func startToFinish(ctx context.Context, m *meter, name, commit string, callers int) error {
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		return closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			status, err := m.sys.target.start(ctx, start{definition: "w1-" + commit, input: input})
			if err == nil && status != workflow.StatusFinished {
				err = errNotFinished
			}
			return err
		})
	})
	return nil
}

// serial makes correlations that no measurement shares.
var serial atomic.Int64

// waitAndResume is one operation: the start, and the event that ends it. How
// long the second half takes is measured apart.
func waitAndResume(ctx context.Context, m *meter, name, commit string, callers int) error {
	var resumes sample
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		out := closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			correlation := fmt.Sprint("c", serial.Add(1))
			if _, err := m.sys.target.start(ctx, start{definition: "w2-" + commit, correlation: correlation, input: input}); err != nil {
				return err
			}
			t := time.Now()
			resumed, err := m.sys.target.send(ctx, "go", correlation)
			if err == nil && !resumed {
				err = errors.New("the event resumed nothing")
			}
			resumes.add(time.Since(t))
			return err
		})
		out.notes = map[string]float64{"resume p50 ms": resumes.quantile(.5), "resume p99 ms": resumes.quantile(.99)}
		return out
	})
	return nil
}

func hotInstance(ctx context.Context, m *meter, name, commit string, callers int) error {
	hot := fmt.Sprint("hot", serial.Add(1))
	if _, err := m.sys.target.start(ctx, start{definition: "w3", id: hot, correlation: hot}); err != nil {
		return err
	}
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		var resumed atomic.Int64
		out := closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			applied, err := m.sys.target.send(ctx, "tick", hot)
			if applied {
				resumed.Add(1)
			}
			return err
		})
		out.notes = map[string]float64{"applied in the answer": float64(resumed.Load()) / max(1, float64(out.ops))}
		return out
	})
	return nil
}

func resumesAmongMany(ctx context.Context, m *meter, name, commit string, _ int) error {
	run := serial.Add(1)
	correlation := func(i int) string { return fmt.Sprintf("w4-%d-%d", run, i) }
	before := heap()
	began := time.Now()
	err := inParallel(ctx, 128, m.o.instances, func(ctx context.Context, i int) error {
		_, err := m.sys.target.start(ctx, start{definition: "w2-burst", correlation: correlation(i), input: input})
		return err
	})
	if err != nil {
		return err
	}
	prepared := time.Since(began)
	after := heap()
	seconds := min(m.o.instances/m.o.rate, 10)
	m.note(ctx, "workload", name, commit, m.o.rate, func() outcome {
		out := openLoop(ctx, m.o.rate, time.Duration(seconds)*time.Second, func(ctx context.Context, i int64) error {
			// All over the range, not in the order of their making.
			_, err := m.sys.target.send(ctx, "go", correlation(int(i*7919)%m.o.instances))
			return err
		})
		out.notes = map[string]float64{"suspended": float64(m.o.instances), "suspended per second": float64(m.o.instances) / prepared.Seconds(),
			"heap MB before": before, "heap MB after": after}
		return out
	})
	return nil
}

func heap() float64 {
	goruntime.GC()
	var s goruntime.MemStats
	goruntime.ReadMemStats(&s)
	return float64(s.HeapInuse) / (1 << 20)
}

// timersAtOnce sets timers for one moment, and waits from then on.
func timersAtOnce(ctx context.Context, m *meter, name, commit string, _ int) error {
	before, err := m.sys.finished(ctx, "w5")
	if err != nil {
		return err
	}
	due := time.Now().Add(5*time.Second + time.Duration(m.o.timers)*time.Millisecond)
	err = inParallel(ctx, 128, m.o.timers, func(ctx context.Context, _ int) error {
		_, err := m.sys.target.start(ctx, start{definition: "w5", input: map[string]any{"wait": fmt.Sprintf("%dms", time.Until(due).Milliseconds())}})
		return err
	})
	if err != nil {
		return err
	}
	if time.Now().After(due) {
		return errors.New("the machine is too slow for so many timers: choose fewer")
	}
	time.Sleep(time.Until(due))
	var failure error
	m.note(ctx, "workload", name, commit, m.o.timers, func() outcome {
		out := outcome{}
		for ctx.Err() == nil && time.Since(due) < 2*time.Minute {
			n, err := m.sys.finished(ctx, "w5")
			if err != nil {
				failure = err
				return out
			}
			for len(out.lat) < n-before {
				out.lat = append(out.lat, time.Since(due))
			}
			if out.ops = len(out.lat); out.ops >= m.o.timers {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		out.took = time.Since(due)
		return out
	})
	return failure
}

// finished counts finished instances of a definition, in etcd.
func (s *system) finished(ctx context.Context, definition string) (int, error) {
	resp, err := s.client.Get(ctx, fmt.Sprintf("/weft/%s/index/Finished/%s/", s.cluster(), definition), clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return int(resp.Count), nil
}

func fanOut(ctx context.Context, m *meter, name, commit string, callers int) error {
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		return closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			status, err := m.sys.target.start(ctx, start{definition: "w6", wait: 30 * time.Second})
			if err == nil && status != workflow.StatusFinished {
				err = errNotFinished
			}
			return err
		})
	})
	return nil
}

func refreshStorm(ctx context.Context, m *meter, name, commit string, callers int) error {
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		var done atomic.Int64
		out := closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			did, err := m.sys.target.refresh(ctx)
			if did {
				done.Add(1)
			}
			return err
		})
		out.notes = map[string]float64{"done, not only in progress elsewhere": float64(done.Load()) / max(1, float64(out.ops))}
		return out
	})
	return nil
}
