package js

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/internal/expression/turns"
)

// What takes a long list in one step looks at the time while it does. Here the time is
// over when the script says so, and nothing interrupts the machine: only what looks
// sees it.
func TestJavaScriptStopsInOneStep(t *testing.T) {
	t.Parallel()
	over := "{toString() { setOutcome('over'); return 'b' }}"
	for _, source := range []string{
		"let l = ['b', 'a']; setOutcome('over'); new Set(l)",
		"let l = [['b', 1], ['a', 1]]; setOutcome('over'); new Map(l)",
		"['c', " + over + ", 'a', 'd'].sort()",
		"['c', " + over + ", 'a', 'd'].toSorted()",
		"['c', " + over + ", 'a', 'd'].sort(undefined)",
	} {
		for _, expires := range []bool{true, false} {
			s, ok := expressiontest.Compile(t, Evaluator{}, source+"; 1").(*script)
			if !ok {
				t.Fatal("it is no script")
			}
			var x *scriptRun
			x = newScriptRun(s, &signalling{expressiontest.Example(), func() { x.watcher.expired.Store(expires) }})
			turn, err := turns.Take(t.Context(), "d", turns.Quick, new(atomic.Bool))
			if err != nil {
				t.Fatal(err)
			}
			runtime.LockOSThread()
			x.watcher = watch(t.Context(), x.vm, turn, time.Hour)
			v, err := x.eval()
			x.watcher.stop()
			turn.Done(0)
			runtime.UnlockOSThread()
			if expires != errors.Is(err, evaluation.ErrTime) || !expires && err != nil {
				t.Errorf("%s: expires: %t; got %v, %v", source, expires, v, err)
			}
		}
	}
}

// A list that is sorted, or that something is looked for in, is not too long.
func TestJavaScriptComparesFew(t *testing.T) {
	t.Parallel()
	for source, most := range map[string]int{
		"variables.l.sort()": maxSorted, "variables.l.toSorted()": maxSorted, "variables.l.sort((a, b) => 0)": maxSorted,
		"variables.l.includes(1)": maxItems, "variables.l.indexOf(1)": maxItems, "variables.l.lastIndexOf(1)": maxItems,
	} {
		for _, more := range []int{0, 1} {
			s := expressiontest.Example()
			s.Vars["l"] = make([]any, most+more)
			if _, err := expressiontest.Eval(t.Context(), Evaluator{}, source+"; 1", s); (more > 0) != errors.Is(err, evaluation.ErrMemory) {
				t.Errorf("%s of %d: %v", source, most+more, err)
			}
		}
	}
}
