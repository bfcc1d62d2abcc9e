package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
)

// waiting lets scripts of the definitions wait, one after the other, and run for a
// second each; the channel tells whose turn comes, in order.
func waiting(t *testing.T, ts *turns, into chan<- string, k Kind, definitions ...string) {
	t.Helper()
	for _, d := range definitions {
		before := ts.waits()
		go func() {
			u, err := ts.take(t.Context(), d, k, new(atomic.Bool))
			if err != nil {
				return
			}
			into <- d
			u.Done(time.Second)
		}()
		polltest.Eventually(t, "it waits", func() bool { return ts.waits() > before })
	}
}

func (t *turns) waits() int {
	n, _, _ := t.counts()
	return n
}

// TestWaitsAreCounted lets some wait for a while and others give up, of each kind;
// one of them turns out to be long as it waits.
func TestWaitsAreCounted(t *testing.T) {
	for _, n := range []int{0, 1, 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ts := newTurns(1)
			var held []*Turn
			for range ts.spare + ts.places {
				u, err := ts.take(t.Context(), "a", Quick, new(atomic.Bool))
				if err != nil {
					t.Fatal(err)
				}
				u.TurnsOut()
				held = append(held, u)
			}
			if now, over, took := ts.counts(); now+int(over)+int(took) != 0 {
				t.Errorf("nothing waited: %d, %d, %v", now, over, took)
			}
			ctx, giveUp := context.WithCancel(t.Context())
			var all sync.WaitGroup
			for i := range 3 * n {
				var slow atomic.Bool
				all.Go(func() {
					if u, err := ts.take(ctx, fmt.Sprint(i%2), Kind(i%3), &slow); err == nil {
						u.Done(0)
					}
				})
				polltest.Eventually(t, "it waits", func() bool { return ts.waits() > i })
				slow.Store(true) // it moves to the other queue
			}
			asked := time.Now() // each waits from here on at least
			if _, over, took := ts.counts(); over != 0 || took != 0 {
				t.Errorf("%d waits of %v are over", over, took)
			}
			least := time.Duration(3*n) * time.Since(asked)
			if n > 1 {
				giveUp()
			}
			for _, u := range held {
				u.Done(time.Second)
			}
			all.Wait()
			giveUp()
			now, over, took := ts.counts()
			if now != 0 || over != uint64(3*n) || took < least || n > 0 && took == 0 {
				t.Errorf("%d wait, %d waits of %v are over", now, over, took)
			}
		})
	}
}

func TestTurnsAreFairByDefinition(t *testing.T) {
	ts := newTurns(1)
	first, err := ts.take(t.Context(), "a", Long, new(atomic.Bool))
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 100)
	var many []string
	for range 60 {
		many = append(many, "a")
	}
	waiting(t, ts, order, Long, append(many, "b", "b", "c")...)
	first.Done(time.Second)
	var got []string
	for range len(many) + 3 {
		got = append(got, <-order)
	}
	last := map[string]int{}
	for i, d := range got {
		last[d] = i
	}
	if last["b"] > 6 || last["c"] > 6 {
		t.Errorf("b and c waited behind more than their share of a: %v", got)
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.lines) > 0 || ts.quick+ts.long > 0 {
		t.Errorf("left: %d lines, %d and %d places", len(ts.lines), ts.quick, ts.long)
	}
}

func TestTurns(t *testing.T) {
	take := func(ts *turns, k Kind, slow *atomic.Bool) *Turn {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		u, err := ts.take(ctx, "d", k, slow)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	refused := func(ts *turns, k Kind, slow *atomic.Bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := ts.take(ctx, "d", k, slow); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("it has a place: %v", err)
		}
		if n := ts.waits(); n > 0 {
			t.Fatalf("%d still wait", n)
		}
	}
	for _, processors := range []int{1, 2, 16} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			ts := newTurns(processors)
			var held []*Turn
			for range processors {
				held = append(held, take(ts, Long, new(atomic.Bool)))
			}
			refused(ts, Long, new(atomic.Bool))
			refused(ts, Alone, new(atomic.Bool))
			// One that is not known to be long has a place beside them, and is told.
			var slow atomic.Bool
			u := take(ts, Quick, &slow)
			if !u.Shared() || held[0].before != 0 {
				t.Error("it does not know that others run")
			}
			u.TurnsOut()
			refused(ts, Quick, &slow)
			held[0].Done(time.Second)
			refused(ts, Long, new(atomic.Bool)) // the other one is long now
			u.Done(time.Second)
			u.TurnsOut() // its watcher's last look
			for _, h := range held[1:] {
				h.Done(time.Second)
			}
			// Alone means that no other long one runs.
			u = take(ts, Alone, &slow)
			refused(ts, Long, new(atomic.Bool))
			take(ts, Quick, new(atomic.Bool)).Done(time.Microsecond)
			u.Done(time.Millisecond)
			if slow.Load() {
				t.Error("a script that was short last is still long")
			}
			// Without end none has a place.
			held = nil
			for range ts.spare + ts.places {
				u := take(ts, Quick, new(atomic.Bool))
				u.TurnsOut()
				held = append(held, u)
			}
			refused(ts, Quick, new(atomic.Bool))
			for _, h := range held {
				h.Done(time.Second)
			}
			take(ts, Alone, new(atomic.Bool)).Done(0)
		})
	}
}
