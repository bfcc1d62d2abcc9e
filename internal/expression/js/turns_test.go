package js

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/internal/expression/turns"
)

// greedy is a scope that takes memory when a script asks for the correlation id for
// the first time.
type greedy struct {
	expressiontest.Of
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
	// What is to be stopped runs for so long that the watch sees it, however busy the machine is.
	const long = "for (let i = 0, n = 0; i < 100000000; i++) n += i;"
	for _, c := range []struct {
		name, script string
		beside       bool
		asked        int
		cause        error
	}{
		{"beside another it runs once more", spin + "getCorrelationId();" + spin + "1", true, 2, nil},
		{"by itself it is its own", spin + "getCorrelationId();" + long + "1", false, 1, evaluation.ErrMemory},
		{"not after it changed something", "setTotal(1);" + spin + "getCorrelationId();" + long + "1", true, 1, evaluation.ErrMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, taken := 0, []byte{}
			for range 3 { // what lies in pools goes at the second time
				runtime.GC()
			}
			if c.beside {
				u, err := turns.Take(t.Context(), "another", turns.Quick, new(atomic.Bool))
				if err != nil {
					t.Fatal(err)
				}
				defer u.Done(0)
			}
			_, err := expressiontest.Compile(t, Evaluator{}, c.script).Eval(t.Context(), greedy{expressiontest.OfDefinition("d", time.Minute), &asked, &taken})
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
	if !turns.OwnTime {
		t.Skip("this system does not count time by thread")
	}
	script := expressiontest.Compile(t, Evaluator{}, "let n = 0; for (let i = 0; i < 300000; i++) n += i; n")
	began := time.Now()
	if _, err := script.Eval(t.Context(), expressiontest.OfDefinition("d", time.Minute)); err != nil {
		t.Fatal(err)
	}
	limit := 4 * max(time.Since(began), 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	for range 32 * max(1, runtime.GOMAXPROCS(0)-1) {
		others.Go(func() {
			for ctx.Err() == nil {
			}
		})
	}
	began = time.Now()
	if _, err := script.Eval(t.Context(), expressiontest.OfDefinition("d", limit)); err != nil {
		t.Errorf("after %v, with a limit of %v: %v", time.Since(began), limit, err)
	}
}
