package expression

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// of is the example of another definition, with a limit on time.
type of struct {
	*scope
	definition string
}

func (o of) DefinitionID() string { return o.definition }

func ofDefinition(id string, limit time.Duration) of {
	s := example()
	s.limits = engine.Limits{Script: limit}
	return of{s, id}
}

// TestHeavyScriptsAreNoOthersFault starts many scripts of one definition, each
// of which takes all that it may, and some of another, which take a part of it.
func TestHeavyScriptsAreNoOthersFault(t *testing.T) {
	for _, c := range []struct {
		name, kind   string
		many         int
		heavy, light string
		cause        error
	}{
		{"time", workflow.JavaScript, 60, "for (;;) {}", "let n = 0; for (let i = 0; i < 50000; i++) n += i; n", ErrTime},
		{"memory", workflow.JavaScript, 10, "const a = []; for (;;) a.push(new Array(1000).fill('x' + a.length))", "let n = 0; for (let i = 0; i < 50000; i++) n += i; n", nil},
		{"liquid", workflow.Liquid, 30, "{% for i in (1..9999) %}{% for j in (1..9999) %}{% assign x = i %}{% endfor %}{% endfor %}",
			"{% for i in (1..60) %}{% for j in (1..60) %}{% assign x = i %}{% endfor %}{% endfor %}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			heavy, light := compile(t, c.kind, c.heavy), compile(t, c.kind, c.light)
			limit := 100 * time.Millisecond
			if _, err := light.Eval(t.Context(), ofDefinition("light", time.Minute)); err != nil {
				t.Fatalf("alone: %v", err)
			}
			var all sync.WaitGroup
			for range c.many {
				all.Go(func() {
					if _, err := heavy.Eval(t.Context(), ofDefinition("heavy", limit)); err == nil || c.cause != nil && !errors.Is(err, c.cause) {
						t.Errorf("heavy: %v", err)
					}
				})
			}
			for range c.many / 3 {
				all.Go(func() {
					if _, err := light.Eval(t.Context(), ofDefinition("light", limit)); err != nil {
						t.Errorf("light: %v", err)
					}
				})
			}
			all.Wait()
		})
	}
}

// waiting lets scripts of the definitions wait, one after the other, and run for a
// second each; the channel tells whose turn comes, in order.
func waiting(t *testing.T, ts *turns, into chan<- string, k kind, definitions ...string) {
	t.Helper()
	for _, d := range definitions {
		before := ts.waits()
		go func() {
			u, err := ts.take(t.Context(), d, k, new(atomic.Bool))
			if err != nil {
				return
			}
			into <- d
			u.done(time.Second)
		}()
		for ts.waits() == before {
			time.Sleep(time.Millisecond)
		}
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
			var held []*turn
			for range ts.spare + ts.places {
				u, err := ts.take(t.Context(), "a", quick, new(atomic.Bool))
				if err != nil {
					t.Fatal(err)
				}
				u.turnsOut()
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
					if u, err := ts.take(ctx, fmt.Sprint(i%2), kind(i%3), &slow); err == nil {
						u.done(0)
					}
				})
				for ts.waits() <= i {
					time.Sleep(time.Millisecond)
				}
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
				u.done(time.Second)
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
	first, err := ts.take(t.Context(), "a", long, new(atomic.Bool))
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 100)
	var many []string
	for range 60 {
		many = append(many, "a")
	}
	waiting(t, ts, order, long, append(many, "b", "b", "c")...)
	first.done(time.Second)
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
	take := func(ts *turns, k kind, slow *atomic.Bool) *turn {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		u, err := ts.take(ctx, "d", k, slow)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	refused := func(ts *turns, k kind, slow *atomic.Bool) {
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
			var held []*turn
			for range processors {
				held = append(held, take(ts, long, new(atomic.Bool)))
			}
			refused(ts, long, new(atomic.Bool))
			refused(ts, alone, new(atomic.Bool))
			// One that is not known to be long has a place beside them, and is told.
			var slow atomic.Bool
			u := take(ts, quick, &slow)
			if !u.shared() || held[0].before != 0 {
				t.Error("it does not know that others run")
			}
			u.turnsOut()
			refused(ts, quick, &slow)
			held[0].done(time.Second)
			refused(ts, long, new(atomic.Bool)) // the other one is long now
			u.done(time.Second)
			u.turnsOut() // its watcher's last look
			for _, h := range held[1:] {
				h.done(time.Second)
			}
			// Alone means that no other long one runs.
			u = take(ts, alone, &slow)
			refused(ts, long, new(atomic.Bool))
			take(ts, quick, new(atomic.Bool)).done(time.Microsecond)
			u.done(time.Millisecond)
			if slow.Load() {
				t.Error("a script that was short last is still long")
			}
			// Without end none has a place.
			held = nil
			for range ts.spare + ts.places {
				u := take(ts, quick, new(atomic.Bool))
				u.turnsOut()
				held = append(held, u)
			}
			refused(ts, quick, new(atomic.Bool))
			for _, h := range held {
				h.done(time.Second)
			}
			take(ts, alone, new(atomic.Bool)).done(0)
		})
	}
}

// greedy is a scope that takes memory when a script asks for the correlation id for
// the first time.
type greedy struct {
	of
	asked *int
	taken *[]byte
}

func (g greedy) CorrelationID() string {
	if *g.asked++; *g.asked == 1 {
		*g.taken = make([]byte, 2*growth)
		for i := 0; i < len(*g.taken); i += 1024 {
			(*g.taken)[i] = 1
		}
	}
	return "corr"
}

// TestMemoryThatAnotherTook lets the heap grow beside a script.
func TestMemoryThatAnotherTook(t *testing.T) {
	const spin = "for (let i = 0, n = 0; i < 1000000; i++) n += i;"
	for _, c := range []struct {
		name, script string
		beside       bool
		asked        int
		cause        error
	}{
		{"beside another it runs once more", spin + "getCorrelationId();" + spin + "1", true, 2, nil},
		{"by itself it is its own", spin + "getCorrelationId();" + spin + "1", false, 1, ErrMemory},
		{"not after it changed something", "setTotal(1);" + spin + "getCorrelationId();" + spin + "1", true, 1, ErrMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, taken := 0, []byte{}
			runtime.GC()
			if c.beside {
				u, err := scripts.take(t.Context(), "another", quick, new(atomic.Bool))
				if err != nil {
					t.Fatal(err)
				}
				defer u.done(0)
			}
			_, err := compile(t, workflow.JavaScript, c.script).Eval(t.Context(), greedy{ofDefinition("d", time.Minute), &asked, &taken})
			if !errors.Is(err, c.cause) || asked != c.asked {
				t.Errorf("%v after %d questions, not %v after %d", err, asked, c.cause, c.asked)
			}
			if len(taken) == 0 {
				t.Error("nothing was taken")
			}
		})
	}
}

// TestABusyMachineTakesNoTime runs a script beside work that is none of its own
// and of no turn.
func TestABusyMachineTakesNoTime(t *testing.T) {
	if !ownTime {
		t.Skip("this system does not count time by thread")
	}
	script := compile(t, workflow.JavaScript, "let n = 0; for (let i = 0; i < 300000; i++) n += i; n")
	began := time.Now()
	if _, err := script.Eval(t.Context(), ofDefinition("d", time.Minute)); err != nil {
		t.Fatal(err)
	}
	limit := 4 * max(time.Since(began), 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	for range 32 * scripts.places {
		others.Go(func() {
			for ctx.Err() == nil {
			}
		})
	}
	began = time.Now()
	if _, err := script.Eval(t.Context(), ofDefinition("d", limit)); err != nil {
		t.Errorf("after %v, with a limit of %v: %v", time.Since(began), limit, err)
	}
}
