package js

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/mend"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
)

const (
	maxPattern = 4096 // bytes of a regular expression
	matchTime  = time.Second
	backtracks = 1 << 16 // bytes that a pattern beyond regular ones is tried on
)

// errMatch says that a match took too long by the clock on the wall.
var errMatch = fmt.Errorf("a regular expression took too long: %w", evaluation.ErrTime)

// The machine leaves lookahead and references back to regexp2, which tries
// alternatives without end unless told otherwise, and offers no other way to
// tell it. Nothing else in a node uses regexp2.
var _ = func() bool {
	regexp2.DefaultMatchTimeout = matchTime
	return true
}()

// hardenPatterns weighs regular expressions against the texts they are used on.
// The builtins on top of exec call it by its name.
func (x *scriptRun) hardenPatterns() {
	if x.patterns {
		return
	}
	x.patterns = true
	proto, builtin := x.proto("RegExp"), x.global("RegExp")
	patterns := mend.NewPatterns(x.vm, builtin)
	weights := map[string]int{}
	for _, n := range []string{"exec", "test"} {
		machine, _ := goja.AssertFunction(proto.Get(n))
		mend.Method(x.vm, proto, n, 1, func(c goja.FunctionCall) goja.Value {
			x.alive()
			source, ok := patterns.Source(c.This)
			if !ok { // not a regular expression; the builtin says so
				return must(machine(c.This, c.Arguments...))
			}
			x.coerceArg(&c, 0)
			text := c.Argument(0).String()
			x.atMost(int64(len(text)), int64(x.maxText()))
			x.weighPattern(weights, source, len(text))
			began := time.Now()
			v := must(patterns.Run(c, source, text, machine))
			if time.Since(began) >= matchTime { // then the answer is not to be trusted
				x.fail(errMatch)
			}
			return v
		})
	}
	exec := proto.Get("exec")
	for _, sym := range []*goja.Symbol{goja.SymReplace, goja.SymSplit, goja.SymMatch, goja.SymMatchAll, goja.SymSearch} {
		f := x.guarded(proto.GetSymbol(sym), func(c *goja.FunctionCall) {
			if o, ok := c.This.(*goja.Object); ok && !exec.StrictEquals(o.Get("exec")) {
				panic(x.vm.NewTypeError("exec of a regular expression cannot be replaced")) // its groups could be without end
			}
			x.coerceArg(c, 0)
			if sym == goja.SymReplace {
				x.coerceArg(c, 1)
				x.replacing(c, textSize(c.Argument(0)))
			}
		}, x.checkText)
		_ = proto.DefineDataPropertySymbol(sym, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	_ = proto.Delete("compile")

	made := x.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		x.atMost(int64(len(c.Argument(0).String())), maxPattern)
		mend.CheckPattern(x.vm, c)
		if given, ok := c.Argument(0).(goja.String); ok && strings.Contains(c.Argument(1).String(), "u") && !goja.IsUndefined(c.Argument(1)) {
			written, err := rewrite.Properties(given.String())
			if err != nil {
				panic(x.vm.NewTypeError("%s", err.Error()))
			}
			c.Arguments = []goja.Value{x.vm.ToValue(written), c.Argument(1)}
		}
		o, err := x.vm.New(builtin, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return o
	}).ToObject(x.vm)
	_ = made.DefineDataProperty("name", x.vm.ToValue("RegExp"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = made.DefineDataProperty("length", x.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = made.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	_ = proto.DefineDataProperty("constructor", made, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = x.vm.GlobalObject().DefineDataProperty("RegExp", made, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// must gives what a builtin gave, or throws what it threw.
func must(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}

func (x *scriptRun) weighPattern(weights map[string]int, source string, n int) {
	cost, ok := weights[source]
	if !ok {
		cost = -1 // only regexp2 knows it
		if p, err := evaluation.CompilePattern(source); err == nil {
			cost = p.Cost
		}
		weights[source] = cost
	}
	switch {
	case cost < 0 && n > backtracks, cost > 0 && n > 0 && cost > evaluation.MatchSteps/n:
		x.fail(fmt.Errorf("the regular expression is too costly for a text of %d bytes: %w", n, evaluation.ErrTime))
	}
}
