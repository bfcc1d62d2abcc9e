package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// streamCallers run W1 beside the streams.
const streamCallers = 64

// streamsAll measures what open streams take of W1: without them, with them, with them,
// without them, each for -duration, so that a machine that gets slower or faster counts on
// both sides; and what they take alone. Each stream looks at an instance that waits, at another one that commits ten
// times a second and that all of them share, at the nodes and at the definitions.
func streamsAll(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "weft-bench-streams-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	etcd, err := startEtcd(ctx, 1, dir, memberSettings{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, etcd.stop()) }()
	ready, stop, err := startNode(nodeSetup{ID: "streams", Cluster: "streams", Group: "on", Dir: dir, Endpoints: etcd.endpoints})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	l := &listening{ready: ready, etcd: etcd.endpoints[0], callers: &overHTTP{urls: []string{ready.URL}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streamCallers}}}}
	return l.measure(ctx, o)
}

// listening is a node with callers and listeners.
type listening struct {
	ready   nodeReady
	etcd    string
	callers *overHTTP
	told    atomic.Int64 // events
}

// looked is what the listeners look at: one each, and one that all share.
const looked = "id: looked\nroot:\n  - while: ${{ true }}\n    body: [{event: again}]\n"

func (l *listening) measure(ctx context.Context, o options) (err error) {
	for _, d := range []string{definitions[0], looked} {
		if err := l.callers.publish(ctx, d); err != nil {
			return err
		}
	}
	for i := range o.streams + 1 {
		if _, err := l.callers.start(ctx, start{definition: "looked", id: fmt.Sprintf("looked-%d", i), correlation: fmt.Sprint(i), input: map[string]any{}}); err != nil {
			return err
		}
	}
	w1 := func(ctx context.Context, _ int64) error {
		_, err := l.callers.start(ctx, start{definition: "w1-burst", input: input})
		return err
	}
	stop := l.commits(ctx)
	defer func() { err = errors.Join(err, stop()) }()
	closedLoop(ctx, streamCallers, o.duration, w1) // warm
	fmt.Printf("%s; load average before it %.2f; %d streams, %d callers, %s each\n\n| streams | W1/s | processor time of node and etcd, ms a W1 | events |\n|---|---|---|---|\n",
		machine(), load(), o.streams, streamCallers, o.duration)
	var rate, cpu [2]float64
	for _, with := range []int{0, 1, 1, 0} {
		cease := func() error { return nil }
		if with == 1 {
			var err error
			if cease, err = l.open(ctx, o.streams); err != nil {
				return err
			}
		}
		told, before := l.told.Load(), l.processor(ctx)
		out := closedLoop(ctx, streamCallers, o.duration, w1)
		spent := 1000 * (l.processor(ctx) - before) / float64(max(1, out.ops))
		told = l.told.Load() - told
		if err := errors.Join(cease(), out.err); err != nil {
			return err
		}
		perSecond := float64(out.ops) / out.took.Seconds()
		rate[with], cpu[with] = rate[with]+perSecond, cpu[with]+spent
		fmt.Printf("| %d | %.0f | %.4f | %d |\n", with*o.streams, perSecond, spent, told)
	}
	alone, err := l.alone(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("\nwithout callers the streams take %.1f %% of a core of node and etcd\n", 100*alone)
	fmt.Printf("with %d streams: %.1f %% of the rate, %.1f %% of the processor time of a W1\n", o.streams, 100*rate[1]/rate[0], 100*cpu[1]/cpu[0])
	return ctx.Err()
}

// alone is what the streams take of a core while nobody else wants anything, beside what the
// node takes then: of all figures the one that a busy machine changes the least.
func (l *listening) alone(ctx context.Context, o options) (float64, error) {
	var took [2]float64
	for with := range took {
		cease := func() error { return nil }
		if with == 1 {
			var err error
			if cease, err = l.open(ctx, o.streams); err != nil {
				return 0, err
			}
		}
		if err := wait(ctx, time.Second); err != nil {
			return 0, errors.Join(err, cease())
		}
		began, before := time.Now(), l.processor(ctx)
		err := wait(ctx, o.duration)
		took[with] = (l.processor(ctx) - before) / time.Since(began).Seconds()
		if err := errors.Join(cease(), err); err != nil {
			return 0, err
		}
	}
	return took[1] - took[0], nil
}

// processor is what node and etcd have used, in seconds.
func (l *listening) processor(ctx context.Context) (sum float64) {
	for _, url := range []string{l.ready.URL, l.etcd} {
		scrape(ctx, url, func(name string, v float64) {
			if name == "process_cpu_seconds_total" {
				sum += v
			}
		})
	}
	return sum
}

// open opens the streams.
func (l *listening) open(ctx context.Context, n int) (cease func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	client := &http.Client{Transport: &http.Transport{}}
	var all sync.WaitGroup
	cease = func() error {
		cancel()
		all.Wait()
		client.CloseIdleConnections()
		return nil
	}
	for i := range n {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/stream?topics=instance:looked-%d,instance:looked-0,cluster,definitions", l.ready.URL, i+1), nil)
		if err != nil {
			return nil, errors.Join(err, cease())
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, errors.Join(err, cease())
		}
		if resp.StatusCode != http.StatusOK {
			body, _ := io.ReadAll(resp.Body)
			return nil, errors.Join(fmt.Errorf("a stream: %s %s", resp.Status, body), resp.Body.Close(), cease())
		}
		all.Go(func() {
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event:") {
					l.told.Add(1)
				}
			}
		})
	}
	return cease, nil
}

// commits lets the instance that all look at commit ten times a second, whether or not
// anybody looks.
func (l *listening) commits(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		var failed error
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				ended <- failed
				return
			case <-tick.C:
				if _, err := l.callers.send(ctx, "again", "0"); err != nil && ctx.Err() == nil {
					failed = err
				}
			}
		}
	}()
	return func() error {
		cancel()
		return <-ended
	}
}
