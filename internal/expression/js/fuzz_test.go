package js

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

func FuzzJavaScript(f *testing.F) {
	for _, s := range []string{
		"getTotal() + 1", "return getInput1();", "({a: [1, null]})", "variables.order.lines.push('z')", "`${getMessage()} ${1}`",
		"let s = 'x'; s += s; s", "[1, 2].map(x => x * 2).join()", "'a-b'.replace(/(a)/g, '$1')", "throw new Error('x')",
		"const {a, ...r} = {a: 1}; r", "for (const k in variables) k", "JSON.parse('{\"a\": 1}')", "new Date(0)", "(async () => 1)()",
		"class A { x = 1 } new A()", "try { nobody } catch (e) { e.message }", "Object.assign({}, inputs)", "o = {get a() { return 1 }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { expressiontest.CheckSound(t, Evaluator{}, source) })
}
