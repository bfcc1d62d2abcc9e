package native

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
)

// ofGo are words that no person who writes a workflow has to know.
var ofGo = regexp.MustCompile(`reflect|interface|runtime error|strconv|%!|\bany\b is|<nil>|\[\]\w|map\[|float64|int64|\bfunc\b|goroutine|panic`)

// Every function and operator says in words for people what it makes of what it was not made for.
func TestNoWordsOfGo(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["nothing"], s.In["object"], s.In["list"], s.In["texts"] = nil, map[string]any{"a": nil, "b": int64(1)}, []any{nil, "a", int64(1), 1.5, true, map[string]any{}}, []any{}
	s.In["huge"], s.In["tiny"], s.In["big"], s.In["long"] = math.MaxFloat64, 5e-324, json.Number(strings.Repeat("9", 40)), int64(math.MaxInt64)
	s.In["text"], s.In["yes"], s.In["half"], s.In["least"] = "Grüße 1", true, -2.5, int64(math.MinInt64)
	values := []string{"inputs.nothing", "inputs.object", "inputs.list", "inputs.texts", "inputs.huge", "inputs.tiny", "inputs.big", "inputs.long", "inputs.least", "inputs.text", "inputs.yes", "inputs.half", "now()", `duration("1h")`, `""`, "-1", "nil"}
	var sources []string
	for _, fn := range append(Functions(), builtin.Names...) {
		sources = append(sources, fn+"()")
		for _, v := range values {
			sources = append(sources, fn+"("+v+")")
			for _, w := range values[4:12] {
				sources = append(sources, fn+"("+v+", "+w+")")
			}
			for _, predicate := range []string{"#", "#.a", "# > 1", "nil", "# + 1", "inputs.object"} {
				sources = append(sources, fn+"("+v+", "+predicate+")")
			}
		}
	}
	for _, op := range []string{"+", "-", "*", "/", "%", "**", "==", "!=", "<", ">=", "and", "or", "in", "contains", "startsWith", "matches", "??", ".."} {
		for _, v := range values {
			for _, w := range values {
				sources = append(sources, v+" "+op+" "+w)
			}
		}
	}
	for _, v := range values {
		sources = append(sources, v+".a", v+"?.a.b", v+"[0]", v+`["a"]`, v+"[0:2]", v+"[inputs.nothing:]", "-"+v, "not "+v, v+" ? 1 : 2", v+".Year()", v+".Format(1)", v+"()", "{a: "+v+"}[0]")
	}
	seen := map[string]bool{}
	for _, source := range sources {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if err == nil {
			continue
		}
		var e *evaluation.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", source, err)
		}
		if m := ofGo.FindString(e.Message); m != "" {
			if !seen[e.Message] && len(seen) < 100 {
				t.Errorf("%s: %s (%q)", source, e.Message, m)
			}
			seen[e.Message] = true
		}
	}
}
