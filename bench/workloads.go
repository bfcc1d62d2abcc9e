package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/workflow"
)

// definitions are what the workloads run.
var definitions = []string{
	"id: w1-burst\n" + w1Body,
	"id: w1-activity\noptions: {commit: ActivityExecutedStrict}\n" + w1Body,
	"id: w1-joined\noptions: {commit: ActivityExecuted}\n" + w1Body,
	"id: w2-burst\n" + w2Body,
	"id: w2-activity\noptions: {commit: ActivityExecutedStrict}\n" + w2Body,
	"id: w2-joined\noptions: {commit: ActivityExecuted}\n" + w2Body,
	"id: w3\nroot:\n  - while: true\n    body: [{event: tick}]\n",
	"id: w4\ninputs: {order: {type: string}, event: {type: string}}\nroot:\n  - event: ${{ inputs.event }}\n  - writeLine: done\n",
	"id: w5\ninputs: {wait: {type: string}}\nroot:\n  - delay: ${{ inputs.wait }}\n",
	"id: w6\nroot:\n  - bulkDispatchWorkflows: {workflowDefinitionId: w6-child, items: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], waitForCompletion: true}\n",
	"id: w6-child\nroot:\n  - writeLine: child\n",
	"id: " + threeCalls + "-burst\n" + callsBody,
	"id: " + threeCalls + "-activity\noptions: {commit: ActivityExecutedStrict}\n" + callsBody,
	"id: " + threeCalls + "-joined\noptions: {commit: ActivityExecuted}\n" + callsBody,
}

const (
	w1Body = "inputs: {order: {type: string}}\nvariables: {n: {type: number}}\nroot:\n  - writeLine: Order ${{ inputs.order }}\n  - setVariable: {variable: n, value: 1}\n  - writeLine: done\n"
	w2Body = "inputs: {order: {type: string}}\nroot:\n  - event: go\n  - writeLine: done\n"

	callsBody = "inputs: {order: {type: string}, url: {type: string}}\nroot:\n" + oneCall + oneCall + oneCall
	oneCall   = "  - sendHttpRequest: {method: POST, url: \"${{ inputs.url }}\", content: \"${{ inputs.order }}\"}\n"
)

// W1 with three HTTP calls, which the server answers at once, and after 5 ms.
const (
	threeCalls     = "W1-calls"
	threeCallsSlow = "W1-calls-5ms"
)

// input is about 200 bytes.
var input = map[string]any{"order": strings.Repeat("order 0815 ", 18)}

// workload is one of W1 to W7, or one about scale.
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

	threeCalls:     {commits: true, run: startToFinish},
	threeCallsSlow: {commits: true, run: startToFinish},

	"timers": {once: true, run: timersOnShards},
	"queue":  {once: true, run: queueOnShards},
}

var (
	errNotFinished = errors.New("the instance is not finished")
	errNotResumed  = errors.New("the event resumed nothing")
	errTooSlow     = errors.New("the machine is too slow for so many timers: choose fewer")
)

// waitFor is how long to wait for an end that the answer does not bring: a burst
// that commits on its way is accepted when it takes longer than a second.
func waitFor(commit string) time.Duration {
	if commit != "burst" {
		return 30 * time.Second
	}
	return 0
}

func startToFinish(ctx context.Context, m *meter, name, commit string, callers int) error {
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		return closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error { return m.sys.runToEnd(ctx, name, commit) })
	})
	return nil
}

// runToEnd is one operation of a workload that waits for nothing.
func (s *system) runToEnd(ctx context.Context, name, commit string) error {
	with := start{definition: "w1-" + commit, input: input, wait: waitFor(commit)}
	if name != "W1" {
		with.definition, with.wait = threeCalls+"-"+commit, 30*time.Second
		with.input = map[string]any{"order": input["order"], "url": s.called.url(name)}
	}
	in, err := s.target.start(ctx, with)
	if err == nil && in.Status != workflow.StatusFinished {
		err = s.ends(ctx, in.ID)
	}
	return err
}

// ends waits for the end of what is durable, and was not done when its answer came: a node
// accepts what takes longer than a second.
func (s *system) ends(ctx context.Context, id string) error {
	ended, err := s.target.wait(ctx, id, 30*time.Second)
	if err == nil && !ended {
		err = errNotFinished
	}
	return err
}

// serial makes correlations that no measurement shares.
var serial atomic.Int64

// pausedW2 is an instance of W2 that waits.
type pausedW2 struct{ id, correlation string }

// waitAndResume is one operation: the start, and the event that ends it. How
// long the second half takes is measured apart.
func waitAndResume(ctx context.Context, m *meter, name, commit string, callers int) error {
	var resumes sample
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		out := closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			w, err := m.sys.startWaiting(ctx, commit)
			if err != nil {
				return err
			}
			t := time.Now()
			err = m.sys.resume(ctx, w)
			resumes.add(time.Since(t))
			return err
		})
		out.notes = map[string]float64{"resume p50 ms": resumes.quantile(.5), "resume p99 ms": resumes.quantile(.99)}
		return out
	})
	return nil
}

func (s *system) startWaiting(ctx context.Context, commit string) (pausedW2, error) {
	w := pausedW2{correlation: fmt.Sprint("c", serial.Add(1))}
	in, err := s.target.start(ctx, start{definition: "w2-" + commit, correlation: w.correlation, input: input})
	w.id = in.ID
	return w, err
}

func (s *system) resume(ctx context.Context, w pausedW2) error {
	resumed, err := s.target.send(ctx, "go", w.correlation)
	if err == nil && !resumed { // the event is queued, or accepted
		err = s.ends(ctx, w.id)
	}
	return err
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

// timersAtOnce sets timers for one moment, and waits from then on.
func timersAtOnce(ctx context.Context, m *meter, name, _ string, _ int) error {
	before, err := m.sys.finished(ctx, "w5")
	if err != nil {
		return err
	}
	due, err := m.enoughTime(ctx, m.o.timers)
	if err != nil {
		return err
	}
	err = inParallel(ctx, m.o.timers, func(ctx context.Context, _ int) error {
		_, err := m.sys.target.start(ctx, start{definition: "w5", input: map[string]any{"wait": fmt.Sprintf("%dms", time.Until(due).Milliseconds())}})
		return err
	})
	if err != nil {
		return err
	}
	if time.Now().After(due) {
		return errTooSlow
	}
	time.Sleep(time.Until(due))
	return m.drained(ctx, name, "w5", before, m.o.timers, due)
}

// enoughTime is when n timers will be set, by how long a few starts take.
func (m *meter) enoughTime(ctx context.Context, n int) (time.Time, error) {
	const few = 500
	began := time.Now()
	err := inParallel(ctx, few, func(ctx context.Context, _ int) error {
		_, err := m.sys.target.start(ctx, start{definition: "w1-burst", input: input})
		return err
	})
	now := time.Now()
	return now.Add(5*time.Second + 4*now.Sub(began)*time.Duration(n)/few), err
}

// finished counts the instances of a definition that have ended, however, in etcd.
func (s *system) finished(ctx context.Context, definition string) (int, error) {
	if s.client == nil {
		return 0, errors.New("give -endpoints and -cluster: what is finished is counted in etcd")
	}
	n := 0
	for _, sub := range []workflow.SubStatus{workflow.Finished, workflow.Cancelled, workflow.Faulted} {
		resp, err := s.client.Get(ctx, fmt.Sprintf("/weft/%s/index/%s/%s/", s.cluster, sub, definition), clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			return 0, err
		}
		n += int(resp.Count)
	}
	return n, nil
}

func fanOut(ctx context.Context, m *meter, name, commit string, callers int) error {
	m.note(ctx, "workload", name, commit, callers, func() outcome {
		return closedLoop(ctx, callers, m.o.duration, func(ctx context.Context, _ int64) error {
			in, err := m.sys.target.start(ctx, start{definition: "w6", wait: 30 * time.Second})
			if err == nil && in.Status != workflow.StatusFinished {
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
			did, err := m.sys.api.refresh(ctx)
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
