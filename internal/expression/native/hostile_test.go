package native

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// ofGo are words that no person who writes a workflow has to know.
var ofGo = regexp.MustCompile(`reflect|interface|runtime error|strconv|%!|\bany\b is|<nil>|\[\]\w|map\[|float64|int64|\bfunc\b|goroutine|panic|` +
	`json\.|\btime\.[A-Z]|\btime: missing|\*time|stack underflow|takes no any|\bunknown\b|illegal base64|error parsing|looking for|literal:`)

// Every function and operator says in words for people what it makes of what it was not made for.
func TestNoWordsOfGo(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["nothing"], s.In["object"], s.In["list"], s.In["texts"] = nil, map[string]any{"a": nil, "b": int64(1)}, []any{nil, "a", int64(1), 1.5, true, map[string]any{}}, []any{}
	s.In["huge"], s.In["tiny"], s.In["big"], s.In["long"] = math.MaxFloat64, 5e-324, json.Number(strings.Repeat("9", 40)), int64(math.MaxInt64)
	s.In["text"], s.In["yes"], s.In["half"], s.In["least"] = "Grüße 1", true, -2.5, int64(math.MinInt64)
	values := []string{"inputs.nothing", "inputs.object", "inputs.list", "inputs.texts", "inputs.huge", "inputs.tiny", "inputs.big", "inputs.long", "inputs.least", "inputs.text", "inputs.yes", "inputs.half", "now()", `duration("1h")`, `""`, "-1", "nil",
		"now", "now().Month()", "now().Weekday().String()", `date("2026-03-07")`, `timezone("UTC")`, "now().Location()", "1.5", `"(?=a)"`, `"[1,]"`, "now().Year", "groupBy([1], #)", "1..3"}
	few := []string{"inputs.huge", "inputs.big", "inputs.text", "inputs.half", "now()", `duration("1h")`, "now", "inputs.least"}
	var sources []string
	for _, fn := range append(Functions(), builtin.Names...) {
		sources = append(sources, fn+"()")
		for _, w := range few {
			sources = append(sources, fn+`("a,b", ",", `+w+")", fn+"("+w+", "+w+", "+w+", "+w+")")
		}
		for _, v := range values {
			sources = append(sources, fn+"("+v+")")
			for _, w := range few {
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
	for _, method := range strings.Fields("Abs Add AddDate After AppendFormat Compare Day Equal Format GoString Hour Hours In Int64 IsDST IsZero ISOWeek Local Location MarshalJSON Minute Month Nanoseconds Nope Round Seconds String Sub Truncate UTC Unix UnmarshalText Weekday Year YearDay Zone") {
		for _, v := range values {
			sources = append(sources, v+"."+method, v+"."+method+"()", v+"?."+method+"()", v+"."+method+"("+v+")", v+"."+method+`("Europe/Berlin")`, "now()."+method+"("+v+")", `duration("1h").`+method+"("+v+")", "now()."+method+"() == "+v, "[now()."+method+"()] == ["+v+"]")
		}
	}
	sources = append(sources, "12345678901234567890", "1e400", "0xfffffffffffffffff", "- 9223372036854775808", "now().AddDate(1.5, 0, 0)", `{(1): 2}`, `{("a"): now}`, `inputs.list[1.5]`, `inputs.text[99]`)
	for _, v := range values {
		sources = append(sources, v+".a", v+"?.a.b", v+"[0]", v+`["a"]`, v+"[0:2]", v+"[1.5]", v+"[-99]", v+"?.[0]", v+"[now()]", v+"[inputs.nothing:]", "-"+v, "not "+v, v+" ? 1 : 2", v+".Year()", v+".Format(1)", v+"()", "{a: "+v+"}[0]")
	}
	names := &engine.Names{Inputs: map[string]string{}}
	for name, alias := range map[string]string{"text": "String", "yes": "Boolean", "list": "Object[]", "texts": "String[]", "object": "Object", "huge": "Double", "long": "Int64", "nothing": "Object", "tiny": "Number", "big": "Object", "least": "Int32", "half": "Decimal"} {
		names.Inputs[name] = alias
	}
	seen := map[string]bool{}
	for chunk := range slices.Chunk(sources, 10_000) {
		texts := make([]any, len(chunk))
		for i, source := range chunk {
			texts[i] = "${{ " + source + " }}"
		}
		found, _ := Evaluator{}.Check(workflow.Expression{Kind: workflow.Expr, Value: texts}, names)
		for _, mistake := range found {
			if m := ofGo.FindString(mistake.Detail); m != "" && !seen[mistake.Detail] && len(seen) < 100 {
				seen[mistake.Detail] = true
				t.Errorf("publishing: %s (%q)", mistake.Detail, m)
			}
		}
	}
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
