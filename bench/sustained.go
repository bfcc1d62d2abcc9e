package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/workflow"
)

// sustained is what a search for the highest level rate found.
type sustained struct {
	Machine string    `json:"machine"`
	Started time.Time `json:"started"`
	Load    float64   `json:"loadBefore"`
	Runs    []steady  `json:"runs"`
}

// steady is one run at one rate.
type steady struct {
	Quota   int           `json:"quotaGiB"`
	Rate    int           `json:"rate"` // starts a second
	Minutes float64       `json:"minutes"`
	Keep    time.Duration `json:"keep"` // how long what has ended is kept
	Looks   []look        `json:"looks"`
	Why     []string      `json:"why,omitempty"` // it was not level
}

const (
	looksPerRun = 60
	// leastKeep is the least that a node takes for how long what has ended is kept.
	leastKeep = 10 * time.Minute
	// mostBehind is how many seconds of starts may have no answer before a run is over.
	mostBehind = 5
	// mostRefused is how long a start that is refused is sent again.
	mostRefused = 30 * time.Second
)

// search looks for the highest of the rates that is level on each quota, by halving,
// and writes what it has found so far after each run.
func search(ctx context.Context, o options) error {
	s := sustained{Machine: machine(), Started: time.Now().UTC(), Load: load()}
	rates := slices.Clone(o.rates)
	slices.Sort(rates)
	for _, quota := range o.quotas {
		level, not := -1, len(rates)
		for not-level > 1 {
			at := (level + not) / 2
			run, err := sustain(ctx, o, quota, rates[at])
			if err != nil {
				return fmt.Errorf("%d starts a second on %d GiB: %w", rates[at], quota, err)
			}
			s.Runs = append(s.Runs, run)
			fmt.Println(run.row())
			if err := s.write(o.report); err != nil {
				return err
			}
			if len(run.Why) > 0 {
				not = at
			} else {
				level = at
			}
		}
	}
	fmt.Printf("\n%s", s.table())
	return nil
}

func (s *sustained) write(dir string) error {
	if dir == "" {
		return nil
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "sustained.json"), append(b, '\n'), 0o644))
}

// sustain runs W1 at a rate, against a node and an etcd of its own.
func sustain(ctx context.Context, o options, quota, rate int) (run steady, err error) {
	run = steady{Quota: quota, Rate: rate, Minutes: o.duration.Minutes(), Keep: min(leastKeep, o.duration/3)}
	o.member = memberSettings{Quota: int64(quota) << 30, Compaction: o.duration / 6}
	keep := node.DefaultRetention()
	keep.Finished = run.Keep
	if run.Keep < leastKeep {
		keep.Grace = run.Keep
	}
	o.retention = &keep
	o.endpoints, o.targets = nil, nil
	sys, err := setup{Etcd: "one", Transport: "http", Group: "on", Nodes: 1}.start(ctx, o)
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	load := steadyLoad{sys: sys, rate: rate}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		load.run(ctx, began)
	}()
	for i := range looksPerRun {
		timer := time.NewTimer(time.Until(began.Add(time.Duration(i+1) * o.duration / looksPerRun)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			stop()
			<-done
			return run, ctx.Err()
		}
		l, failure := load.look(ctx, began)
		run.Looks = append(run.Looks, l)
		fmt.Fprintf(os.Stderr, "%d/s on %d GiB: %+v\n", rate, quota, l)
		if l.Unfinished > mostBehind*rate {
			run.Why = append(run.Why, fmt.Sprintf("%d starts have no answer after %.0f s", l.Unfinished, l.Second))
		}
		if failure != nil && l.Failed > max(10, l.Ended/100) {
			run.Why = append(run.Why, fmt.Sprintf("after %.0f s starts fail: %v", l.Second, failure))
		}
		if len(run.Why) > 0 {
			break
		}
	}
	stop()
	<-done
	if len(run.Why) == 0 {
		run.Why = judge(run.Looks)
	}
	return run, nil
}

// steadyLoad starts W1 at a rate.
type steadyLoad struct {
	sys  *system
	rate int

	mu      sync.Mutex
	due     int
	ended   int
	failed  int
	refused int
	lat     []time.Duration // since the last look
	was     look
	failure error // the last one
}

// run starts one after the other until ctx ends, however long they take, and waits
// for those that are under way.
func (s *steadyLoad) run(ctx context.Context, began time.Time) {
	var wg sync.WaitGroup
	defer wg.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; i++ {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(s.rate))
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		s.due++
		s.mu.Unlock()
		wg.Go(func() { s.one(ctx, due) })
	}
}

// one is a caller as docs/api.md wants it: one that is refused asks again when the node says so.
func (s *steadyLoad) one(ctx context.Context, due time.Time) {
	in, err := s.sys.target.start(ctx, start{definition: "w1-burst", input: input, wait: 30 * time.Second})
	for refused := (*refusedError)(nil); errors.As(err, &refused) && time.Since(due) < mostRefused; {
		s.mu.Lock()
		s.refused++
		s.mu.Unlock()
		select {
		case <-time.After(refused.after):
		case <-ctx.Done():
			return
		}
		in, err = s.sys.target.start(ctx, start{definition: "w1-burst", input: input, wait: 30 * time.Second})
	}
	if err == nil && in.Status != workflow.StatusFinished {
		err = errNotFinished
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil: // the run is over
	case err != nil:
		s.failed, s.failure = s.failed+1, err
	default:
		s.ended++
		s.lat = append(s.lat, time.Since(due))
	}
}

// look tells what was since the look before.
func (s *steadyLoad) look(ctx context.Context, began time.Time) (look, error) {
	var l look
	l.InUse, l.Allocated = s.sys.etcdSize(ctx)
	l.Resident, _ = s.sys.memory(ctx)
	scrape(ctx, s.sys.urls[0], func(name string, v float64) {
		if name == `weft_purged_total{kind="instance"}` {
			l.Purged = v
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Second = time.Since(began).Seconds()
	slices.Sort(s.lat)
	l.P50, l.P99 = ms(quantile(s.lat, .5)), ms(quantile(s.lat, .99))
	l.Ended, l.Failed, l.Unfinished = s.ended-s.was.Ended, s.failed-s.was.Failed, s.due-s.ended-s.failed
	l.Refused = s.refused - s.was.Refused
	s.was, s.lat = look{Ended: s.ended, Failed: s.failed, Refused: s.refused}, nil
	return l, s.failure
}

const sustainedHead = "| quota | starts a second | level | ended a second | p50 ms | p99 ms | without an answer | refused at first | MB in use, most of the halves of the last third | allocated | resident MB of the node, most of the second and the last third | purged | kept | minutes |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

// row is one run in the table; the figures are of its last two thirds.
func (s *steady) row() string {
	level := "yes"
	if len(s.Why) > 0 {
		level = "**no**: " + strings.Join(s.Why, "; ")
	}
	if len(s.Looks) < leastLooks {
		return fmt.Sprintf("| %d GiB | %d | %s | – | – | – | – | – | – | – | – | – | %s | %.0f |", s.Quota, s.Rate, level, s.Keep, s.minutes())
	}
	second, last := thirds(s.Looks)
	both := slices.Concat(second, last)
	ended, refused := 0, 0
	for i := range both {
		ended, refused = ended+both[i].Ended, refused+both[i].Refused
	}
	began, end := s.Looks[len(s.Looks)/3-1].Second, both[len(both)-1]
	middleOf := func(value func(l *look) float64) float64 {
		return (&levelCriterion{value: value, of: middle}).values(both)
	}
	inUse, resident := &levelCriteria[2], &levelCriteria[3]
	former, latter := halves(s.Looks)
	return fmt.Sprintf("| %d GiB | %d | %s | %.0f | %.1f | %.1f | %.0f | %d | %.0f, %.0f | %.0f | %.0f, %.0f | %.0f | %s | %.0f |", s.Quota, s.Rate, level,
		float64(ended)/(end.Second-began), middleOf(func(l *look) float64 { return l.P50 }), middleOf(func(l *look) float64 { return l.P99 }),
		middleOf(func(l *look) float64 { return float64(l.Unfinished) }), refused,
		inUse.values(former), inUse.values(latter), end.Allocated, resident.values(second), resident.values(last), end.Purged, s.Keep, s.minutes())
}

// minutes is how long it ran.
func (s *steady) minutes() float64 {
	if len(s.Looks) == 0 {
		return 0
	}
	return s.Looks[len(s.Looks)-1].Second / 60
}

func (s *sustained) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s; load average before it %.2f. One node over HTTP, etcd a process of its own that compacts every sixth of a run, W1. A start that the node refuses for now is sent again when its Retry-After says; p50 and p99 count from when a start was due, and are the middle of those of each %dth of a run.\n\n",
		s.Machine, s.Started.Format("2006-01-02 15:04 MST"), s.Load, looksPerRun)
	b.WriteString(sustainedHead)
	for i := range s.Runs {
		b.WriteString(s.Runs[i].row() + "\n")
	}
	return b.String() + "\n" + criteria()
}
