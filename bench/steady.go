package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// steadyKind is a kind of stimulus that is sent all the time, to see whether it gets slower the
// longer that lasts: what was, and is gone, must not cost what comes.
type steadyKind struct {
	name string
	// rate is how many a second are due; 0: each caller sends the next when it has its answer.
	rate    int
	prepare func(ctx context.Context, s *system) error
	// run does it once, as caller c.
	run func(ctx context.Context, s *system, c int) error
}

// steadyDefinitions are what the kinds run.
var steadyDefinitions = []string{
	"id: steady-loop\nroot:\n  - while: true\n    body: [{event: steady-tick}]\n",
	"id: steady-bare\nroot:\n  - while: true\n    body: [{event: steady-bare}]\n",
	"id: steady-path\nroot:\n  - while: true\n    body:\n      - httpEndpoint: {path: steady/path, supportedMethods: [POST]}\n      - writeHttpResponse: {content: ok}\n",
	"id: steady-once\ninputs: {event: {type: string}}\nroot:\n  - event: ${{ inputs.event }}\n",
	"id: steady-once-path\ninputs: {path: {type: string}}\nroot:\n  - httpEndpoint: {path: \"${{ 'steady/' + inputs.path }}\", supportedMethods: [POST]}\n  - writeHttpResponse: {content: ok}\n",
	"id: steady-publishes\nroot:\n  - publishEvent: steady-published\n",
	"id: steady-takes\nroot:\n  - while: true\n    body: [{event: steady-published}]\n",
	"id: steady-task\nroot:\n  - runTask: steady\n",
	"id: steady-timer\nroot:\n  - delay: 1s\n",
}

func steadyKinds() []steadyKind {
	hot := func(definition string) func(context.Context, *system) error {
		return func(ctx context.Context, s *system) error {
			_, err := s.target.start(ctx, start{definition: definition, id: definition, correlation: definition})
			return err
		}
	}
	event := func(name, correlation, instance string) func(context.Context, *system, int) error {
		return func(ctx context.Context, s *system, _ int) error { return s.sendTo(ctx, name, correlation, instance) }
	}
	// one starts an instance that waits, and ends it by what it waits for.
	one := func(correlated, addressed bool) func(context.Context, *system, int) error {
		return func(ctx context.Context, s *system, c int) error {
			name, correlation := fmt.Sprint("steady-", c), ""
			if correlated || addressed {
				correlation = fmt.Sprint("steady-", serial.Add(1))
			}
			in, err := s.target.start(ctx, start{definition: "steady-once", correlation: correlation, input: map[string]any{"event": name}})
			if err != nil {
				return err
			}
			if !correlated {
				correlation = ""
			}
			if err := s.sendTo(ctx, name, correlation, ""); err != nil {
				return err
			}
			return s.ends(ctx, in.ID)
		}
	}
	return []steadyKind{
		{name: "event by correlation, to one instance", prepare: hot("steady-loop"), run: event("steady-tick", "steady-loop", "")},
		{name: "event by instance", prepare: hot("steady-loop"), run: event("steady-tick", "", "steady-loop")},
		{name: "event without correlation, to one instance", prepare: hot("steady-bare"), run: event("steady-bare", "", "")},
		{name: "endpoint, of one instance", prepare: hot("steady-path"), run: func(ctx context.Context, s *system, _ int) error { return s.post(ctx, "steady/path") }},
		{name: "start, event by correlation, end", run: one(true, true)},
		{name: "start, event without correlation, end", run: one(false, false)},
		{name: "start with a correlation, event without one, end", run: one(false, true)},
		{name: "start, request to its endpoint, end", run: func(ctx context.Context, s *system, c int) error {
			path := fmt.Sprint("once/", c)
			in, err := s.target.start(ctx, start{definition: "steady-once-path", input: map[string]any{"path": path}})
			if err == nil {
				err = s.post(ctx, "steady/"+path)
			}
			if err == nil {
				err = s.ends(ctx, in.ID)
			}
			return err
		}},
		{name: "event into the queue, start that takes it", run: func(ctx context.Context, s *system, c int) error {
			name := fmt.Sprint("steady-queued-", c)
			if err := s.sendTo(ctx, name, "", ""); err != nil {
				return err
			}
			in, err := s.target.start(ctx, start{definition: "steady-once", input: map[string]any{"event": name}, wait: 10 * time.Second})
			if err == nil && in.Status != workflow.StatusFinished {
				err = s.ends(ctx, in.ID)
			}
			return err
		}},
		{name: "start that publishes an event, to one instance", prepare: hot("steady-takes"), run: func(ctx context.Context, s *system, _ int) error {
			in, err := s.target.start(ctx, start{definition: "steady-publishes"})
			if err == nil && in.Status != workflow.StatusFinished {
				err = s.ends(ctx, in.ID)
			}
			return err
		}},
		{name: "task", run: func(ctx context.Context, s *system, _ int) error {
			in, err := s.target.start(ctx, start{definition: "steady-task"})
			if err == nil && len(in.Bookmarks) != 1 {
				err = errors.New("the instance has no task")
			}
			if err == nil {
				err = s.api.call(ctx, http.MethodPost, "/tasks/"+in.Bookmarks[0].ID+"/complete", map[string]any{"result": 1}, nil, nil)
			}
			if err == nil {
				err = s.ends(ctx, in.ID)
			}
			return err
		}},
		{name: "timer of 1 s", rate: 300, run: func(ctx context.Context, s *system, _ int) error {
			in, err := s.target.start(ctx, start{definition: "steady-timer"})
			if err == nil {
				err = s.ends(ctx, in.ID)
			}
			return err
		}},
		{name: "start to finish", run: func(ctx context.Context, s *system, _ int) error { return s.runToEnd(ctx, "W1", "burst") }},
	}
}

// sendTo sends an event, which may wait in the queue then.
func (s *system) sendTo(ctx context.Context, event, correlation, instance string) error {
	if t, ok := s.target.(*inProcess); ok {
		st := workflow.EventStimulus(event, map[string]any{"by": "bench"})
		st.CorrelationID, st.InstanceID = correlation, instance
		_, err := t.node().Runtime().Events.Send(ctx, st, nil)
		return err
	}
	body := map[string]any{"payload": map[string]any{"by": "bench"}}
	if correlation != "" {
		body["correlationId"] = correlation
	}
	if instance != "" {
		body["workflowInstanceId"] = instance
	}
	return s.api.call(ctx, http.MethodPost, "/events/"+event, body, nil, nil)
}

// post sends a request to an endpoint of a workflow.
func (s *system) post(ctx context.Context, path string) error {
	return s.api.request(ctx, http.MethodPost, s.api.node()+"/workflows/"+path, nil, nil, nil)
}

// steadyMinute is what was seen in a minute, or another part of a run.
type steadyMinute struct {
	Rate, P50, P99 float64
	CPU            float64 // milliseconds of processor time for each, of nodes and etcd: other work on the machine changes it less than the rate
	Requests       float64 // to etcd for each
	Walked         float64 // keys that etcd went over for each, with walks
	Failed         int
}

// steadyRow is one kind in the table.
type steadyRow struct {
	name    string
	minutes []steadyMinute
	failure error
}

// steadyAll sends each kind that was asked for over -duration, each beside an etcd and nodes of
// its own, and prints what each tenth of that saw.
func steadyAll(ctx context.Context, o options) error {
	fmt.Printf("%s; load average before it %.2f; etcd %s, %d node(s), %d callers, %s each\n\n", machine(), load(), o.etcd[0], o.nodes[0], o.concurrency[0], o.duration)
	definitions = slices.Concat(definitions, steadyDefinitions)
	var rows []steadyRow
	var errs []error
	for _, k := range steadyKinds() {
		if ctx.Err() != nil || o.steady != "all" && !strings.Contains(k.name, o.steady) {
			continue
		}
		row, err := k.measure(ctx, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.name, err))
			continue
		}
		rows = append(rows, row)
		fmt.Print(row.String())
	}
	fmt.Printf("\n%s", steadyTable(rows))
	return errors.Join(errs...)
}

const steadyParts = 10

func (k *steadyKind) measure(ctx context.Context, o options) (row steadyRow, err error) {
	o.endpoints, o.targets = nil, nil
	sys, err := setup{Etcd: o.etcd[0], Transport: o.transport[0], Group: o.group[0], Nodes: o.nodes[0]}.start(ctx, o)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	if k.prepare != nil {
		if err := k.prepare(ctx, sys); err != nil {
			return row, err
		}
	}
	row.name = k.name
	part := o.duration / steadyParts
	for range steadyParts {
		if ctx.Err() != nil {
			return row, ctx.Err()
		}
		var out outcome
		before, walked := sys.spent(ctx), sys.walks.total()
		if k.rate > 0 {
			out = openLoop(ctx, k.rate, part, func(ctx context.Context, i int64) error { return k.run(ctx, sys, int(i)) })
		} else {
			callers := make(chan int, o.concurrency[0])
			for c := range o.concurrency[0] {
				callers <- c
			}
			out = closedLoop(ctx, o.concurrency[0], part, func(ctx context.Context, _ int64) error {
				c := <-callers
				defer func() { callers <- c }()
				return k.run(ctx, sys, c)
			})
		}
		spent := sys.spent(ctx).minus(before)
		row.minutes = append(row.minutes, steadyMinute{Rate: float64(out.ops) / out.took.Seconds(), P50: ms(quantile(out.lat, .5)), P99: ms(quantile(out.lat, .99)), CPU: 1000 * (spent.nodes + spent.etcd) / float64(max(out.ops, 1)), Failed: out.failed,
			Requests: spent.requests / float64(max(out.ops, 1)), Walked: float64(sys.walks.total()-walked) / float64(max(out.ops, 1))})
		if out.err != nil {
			row.failure = out.err
		}
	}
	if sys.walks != nil {
		fmt.Print(sys.walks.table())
	}
	return row, nil
}

func (r *steadyRow) last() float64 {
	first, last := r.minutes[0].Rate, r.minutes[len(r.minutes)-1].Rate
	if first == 0 {
		return math.NaN()
	}
	return last / first
}

func (r *steadyRow) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: last/first %.2f\n", r.name, r.last())
	for i, m := range r.minutes {
		fmt.Fprintf(&b, "  %2d: %6.0f a second, p50 %.2f ms, p99 %.2f ms, %.3f ms of processor time, %.2f requests", i+1, m.Rate, m.P50, m.P99, m.CPU, m.Requests)
		if m.Walked > 0 {
			fmt.Fprintf(&b, " and %.0f keys walked over", m.Walked)
		}
		fmt.Fprintf(&b, " each, %d failed\n", m.Failed)
	}
	if r.failure != nil {
		fmt.Fprintf(&b, "  %v\n", r.failure)
	}
	return b.String()
}

func steadyTable(rows []steadyRow) string {
	var b strings.Builder
	b.WriteString("| what | a second, first | middle | last | last/first | p50 ms, first, last | p99 ms, first, last | processor ms each, first, last | failed |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		n := len(r.minutes)
		first, middle, last, failed := r.minutes[0], r.minutes[n/2], r.minutes[n-1], 0
		for _, m := range r.minutes {
			failed += m.Failed
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.2f | %.2f, %.2f | %.2f, %.2f | %.3f, %.3f | %d |\n", r.name, first.Rate, middle.Rate, last.Rate, r.last(), first.P50, last.P50, first.P99, last.P99, first.CPU, last.CPU, failed)
	}
	return b.String()
}
