package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// load runs an example again and again, each time under a key of its own, and
// repeats a request that failed with the same key, as clients are told to.
type load struct {
	c      *cluster
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	phase    string         // guarded by mu, as all below
	done     map[string]int // operations that were answered with 200, by the phase they began in
	repeated map[string]int // attempts that failed, by phase
	lost     []string       // operations that were never answered
	last     string         // why the last attempt failed
}

// workers is how many run at once: enough to have requests on every node at
// any moment, few enough for two cores.
const workers = 4

// patience is for how long a client repeats a request.
const patience = 40 * time.Second

func startLoad(ctx context.Context, c *cluster) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{c: c, cancel: cancel, done: map[string]int{}, repeated: map[string]int{}}
	for w := range workers {
		l.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				l.operation(ctx, fmt.Sprintf("load-%d-%d", w, n))
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	return l
}

// operation runs one instance to its end. It is not cut short by the end of the
// load, so that what is counted as lost was lost.
func (l *load) operation(ctx context.Context, key string) {
	l.mu.Lock()
	phase := l.phase
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	body := fmt.Sprintf(`{"instanceId": %q, "input": {"name": %q}}`, key, key)
	for {
		status, answer, err := l.c.call(ctx, http.MethodPost, "/api/v1/definitions/hello/execute", key, body)
		if err == nil && status == http.StatusOK && answer["subStatus"] == "Finished" {
			l.mu.Lock()
			l.done[phase]++
			l.mu.Unlock()
			return
		}
		l.mu.Lock()
		l.repeated[phase]++
		l.last = fmt.Sprintf("%s: %d %v %v", key, status, answer, err)
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			l.mu.Lock()
			l.lost = append(l.lost, key)
			l.mu.Unlock()
			return
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// during names what happens from now on.
func (l *load) during(phase string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = phase
}

// report says how a phase went, and fails if an operation was lost, or if none
// was done.
func (l *load) report(phase string) (repeated int, last string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.c.say("  %d runs answered, %d attempts repeated", l.done[phase], l.repeated[phase])
	switch {
	case len(l.lost) > 0:
		err = fmt.Errorf("%d operations were never answered, among them %s; the last: %s", len(l.lost), l.lost[0], l.last)
	case l.done[phase] == 0:
		err = fmt.Errorf("nothing was answered; the last: %s", l.last)
	}
	return l.repeated[phase], l.last, err
}

// total is how many operations were answered.
func (l *load) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, d := range l.done {
		n += d
	}
	return n
}

// stop waits for what is under way. It may be called twice, and on nil.
func (l *load) stop() {
	if l == nil {
		return
	}
	l.cancel()
	l.wg.Wait()
}
