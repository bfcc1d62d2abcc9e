package expression

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
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
			s, ok := compile(t, workflow.JavaScript, source+"; 1").(*script)
			if !ok {
				t.Fatal("it is no script")
			}
			var x *scriptRun
			x = newScriptRun(s, &signalling{example(), func() { x.watcher.expired.Store(expires) }})
			turn, err := newTurns(1).take(t.Context(), "d", long, new(atomic.Bool))
			if err != nil {
				t.Fatal(err)
			}
			runtime.LockOSThread()
			x.watcher = watch(t.Context(), x.vm, turn, time.Hour)
			v, err := x.eval()
			x.watcher.stop()
			runtime.UnlockOSThread()
			if expires != errors.Is(err, ErrTime) || !expires && err != nil {
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
			s := example()
			s.vars["l"] = make([]any, most+more)
			if _, err := eval(t.Context(), t, workflow.JavaScript, source+"; 1", s); (more > 0) != errors.Is(err, ErrMemory) {
				t.Errorf("%s of %d: %v", source, most+more, err)
			}
		}
	}
}

// Brackets that are nested too deeply are refused by all, with the place.
func TestBracketsAreNotNestedDeep(t *testing.T) {
	t.Parallel()
	for _, b := range []string{"()", "[]", "{}"} {
		deep := ""
		for range maxBrackets {
			deep = b[:1] + deep
		}
		if at, refused := tooDeep(deep); refused {
			t.Errorf("%d times %s: at %d", maxBrackets, b, at)
		}
		if at, refused := tooDeep(deep + b); !refused || at != maxBrackets {
			t.Errorf("%d times %s: at %d", maxBrackets+1, b, at)
		}
		for kind, source := range map[string]string{workflow.JavaScript: deep + b, workflow.Expr: "${{ " + deep + b + " }}"} {
			if kind == workflow.Expr && b == "{}" {
				continue // the first two that close end it
			}
			if _, err := evaluator(t, kind).Compile(workflow.Expression{Kind: kind, Value: source}); !errors.Is(err, ErrDepth) {
				t.Errorf("%s of %s: %v", kind, b, err)
			}
		}
	}
}
