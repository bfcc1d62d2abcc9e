package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// workers is how many instances run at once, and patience how long a client repeats a request under its key.
const (
	workers  = 4
	patience = time.Minute
)

// definition waits for an event and a timer, so that an instance goes through all that nodes keep in etcd.
const definition = `id: order
root:
  - event: paid
  - delay: 300ms
  - id: ship
    writeLine: shipped
`

// load runs instance after instance.
type load struct {
	w    *world
	end  context.CancelFunc
	all  sync.WaitGroup
	http *http.Client

	mu      sync.Mutex
	phase   string        // guarded by mu, as all below
	ended   []string      // instances
	again   int           // requests of the phase that were repeated
	longest time.Duration // that a request of the phase took with its repeats
	why     string        // the last repeat
	failed  error
}

func (w *world) startLoad(ctx context.Context) (*load, error) {
	l := &load{w: w, http: &http.Client{Timeout: 40 * time.Second}}
	if _, err := l.ask(ctx, 0, http.MethodPost, "/definitions", "publish", definition, http.StatusCreated, http.StatusOK); err != nil {
		return nil, err
	}
	ctx, l.end = context.WithCancel(ctx)
	for worker := range workers {
		l.all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				// Not cut short by the end of the load: what was begun has to end.
				if err := l.instance(context.WithoutCancel(ctx), fmt.Sprintf("order-%d-%d", worker, n), worker+n); err != nil {
					l.mu.Lock()
					l.failed = errors.Join(l.failed, err)
					l.mu.Unlock()
					return
				}
			}
		})
	}
	return l, nil
}

// instance starts one at one node, and sends its event to the next.
func (l *load) instance(ctx context.Context, id string, turn int) error {
	if _, err := l.ask(ctx, turn, http.MethodPost, "/definitions/order/execute", id, fmt.Sprintf(`{"instanceId": %q, "correlationId": %q}`, id, id), http.StatusOK, http.StatusAccepted); err != nil {
		return err
	}
	if _, err := l.ask(ctx, turn+1, http.MethodPost, "/events/paid", id+"-paid", fmt.Sprintf(`{"correlationId": %q}`, id), http.StatusOK, http.StatusAccepted); err != nil {
		return err
	}
	if err := until(ctx, patience, func(ctx context.Context) error {
		raw, err := l.ask(ctx, turn, http.MethodGet, "/instances/"+id, "", "", http.StatusOK)
		if err != nil {
			return err
		}
		if state := subStatus(raw); state != "Finished" {
			return fmt.Errorf("%s is %s", id, state)
		}
		return nil
	}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, id)
	return nil
}

func subStatus(raw []byte) string {
	var in struct {
		SubStatus string `json:"subStatus"`
	}
	_ = json.Unmarshal(raw, &in) // then it is empty, and said to be so
	return in.SubStatus
}

// ask sends a request until it is answered as it should be, at the next node each time, and under its key.
func (l *load) ask(ctx context.Context, turn int, method, path, key, body string, want ...int) ([]byte, error) {
	began := time.Now()
	for {
		raw, status, err := l.once(ctx, l.w.api(turn)+path, method, key, body)
		for _, s := range want {
			if err == nil && status == s {
				l.mu.Lock()
				l.longest = max(l.longest, time.Since(began))
				l.mu.Unlock()
				return raw, nil
			}
		}
		why := fmt.Sprintf("%s %s: %d %v %s", method, path, status, err, raw)
		if err == nil && status < 500 || time.Since(began) > patience {
			return nil, errors.New(why)
		}
		turn++
		l.mu.Lock()
		l.again, l.why = l.again+1, why
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %s", ctx.Err(), why)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (l *load) once(ctx context.Context, url, method, key, body string) ([]byte, int, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	switch {
	case strings.HasPrefix(body, "{"):
		req.Header.Set("Content-Type", "application/json")
	case body != "":
		req.Header.Set("Content-Type", "application/yaml")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := l.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return raw, resp.StatusCode, err
}

// during names what happens from now on.
func (l *load) during(phase string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase, l.again, l.longest, l.why = phase, 0, 0, ""
}

// more waits until n more instances have ended.
func (l *load) more(ctx context.Context, n int) error {
	l.mu.Lock()
	goal := len(l.ended) + n
	l.mu.Unlock()
	return until(ctx, 3*time.Minute, func(context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case l.failed != nil:
			return l.failed
		case len(l.ended) < goal:
			return fmt.Errorf("%d of %d instances have ended", len(l.ended), goal)
		}
		return nil
	})
}

// report says how a phase went.
func (l *load) report(phase string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w.say("%s (%.1f s): %d instances so far, %d requests sent again, the longest answered after %.2f s", phase, took.Seconds(), len(l.ended), l.again, l.longest.Seconds())
	if l.why != "" {
		l.w.say("  the last that was sent again: %.300s", l.why)
	}
}

// stop waits for what was begun. It may be called twice.
func (l *load) stop() {
	l.end()
	l.all.Wait()
}

// check looks at each instance: it has ended, and its activities ran once.
func (l *load) check(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	for turn, id := range l.ended {
		raw, status, err := l.once(ctx, l.w.api(turn)+"/instances/"+id+"/journal", http.MethodGet, "", "")
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("the journal of %s: %d %w %s", id, status, err, raw)
		}
		if n := strings.Count(string(raw), `"event":"WriteLine"`); n != 1 {
			return fmt.Errorf("%s wrote its line %d times: %s", id, n, raw)
		}
	}
	l.w.say("%d instances: each has ended, and wrote its line once", len(l.ended))
	return nil
}
