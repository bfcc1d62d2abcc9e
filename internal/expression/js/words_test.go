package js

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

// ofGo are words of Go, and of libraries of it, that say nothing to who wrote a script.
var ofGo = regexp.MustCompile(`%!|GoError|reflect|strconv|regexp2|goja|interface conversion|runtime error|error parsing|github\.com|nil pointer|` +
	`out of range \[|slice bounds|makeslice|panic|\(MISSING|\(EXTRA|&\{|<nil>|map\[|0xc0|unexpected EOF|\bjson:`)

// strange are what builtins are given, and are called on.
const strange = `[undefined, null, 'x', '', 'a{2,1}', '(', 0, -1, 1.5, NaN, Infinity, 1e308, 2**53, true, {}, [], [1, 2], Symbol.iterator, () => 1,
	() => { throw {toString() { throw 1 }} }, {toString() { throw 2 }}, {valueOf() { return {} }, toString() { return {} }}, new Date(NaN), /x/,
	new Map([[1, 2]]), new Set([1]), Object.create(null), {length: Infinity}, {length: -1}, {get length() { throw {} }}, {then: 1}]`

// walk calls all builtins that there are on and with strange values, and gives what they say.
const walk = `
const make = () => %s, said = new Set(), seen = new Set();
const say = (path, f) => {
	let of;
	try { of = [f()] } catch (e) { of = [e, e && e.name, e && e.message, e && e.stack && e.stack.split('\n')[0], e && e.value] }
	for (const v of of) try { said.add(path + ': ' + (typeof v === 'symbol' ? 's' : String(v)).slice(0, 300)) } catch (e) {}
};
const visit = (path, o, on) => {
	if (o === null || typeof o !== 'object' && typeof o !== 'function' || seen.has(o)) return;
	seen.add(o);
	for (const k of Reflect.ownKeys(o)) {
		const d = Object.getOwnPropertyDescriptor(o, k), name = path + '.' + String(k);
		for (const f of [d.get, d.set, d.value]) if (typeof f === 'function') {
			const few = make();
			say(name, () => f); say(name, () => f.name);
			for (const v of few) { say(name, () => f.call(v)); say(name, () => f.call(on, v)); say(name, () => f.call(v, /x/, 'x')); say(name, () => new f(v)) }
			for (const v of few) for (const w of [null, 'x', -1, Infinity, {}, [1], few[19], few[20]]) { say(name, () => f.call(on, v, w)); say(name, () => f.call(on, w, v, v)) }
		}
		if (d.value !== undefined) visit(name, d.value, on);
	}
};
const roots = {%s};
for (const name in roots) visit(name, roots[name], roots[name].on || roots[name]);
Array.from(said)`

func TestBuiltinsSayNoWordsOfGo(t *testing.T) {
	t.Parallel()
	roots := []string{
		"Math", "JSON", "Object: Object", "Array", "'Array.prototype': Array.prototype", "String", "Number", "Boolean", "Symbol", "Promise", "Error", "RangeError",
		"Reflect", "RegExp", "'RegExp.prototype': RegExp.prototype", "Date", "Map", "Set", "WeakMap", "WeakSet",
		"'a Map': Map.prototype", "'a Set': Set.prototype", "'a Date': Date.prototype", "'a Number': Number.prototype", "'a text': String.prototype",
		"'an iterator': Object.getPrototypeOf([][Symbol.iterator]())", "'an iterator of a Map': Object.getPrototypeOf(new Map().entries())",
		"'an iterator of matches': Object.getPrototypeOf('x'.matchAll(/x/g))", "parseInt: {parseInt, parseFloat, isNaN, isFinite, encodeURI, encodeURIComponent, decodeURI, decodeURIComponent, escape, unescape}",
	}
	for _, root := range roots {
		t.Run(root, func(t *testing.T) {
			t.Parallel()
			scope := expressiontest.Example()
			scope.Most.Script = time.Minute // it is long, and how fast the machine is is no matter here
			got, err := expressiontest.Eval(t.Context(), Evaluator{}, fmt.Sprintf(walk, strange, root), scope)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := got.([]any)
			if len(said) < 10 {
				t.Error(said)
			}
			for _, s := range said {
				if text, _ := s.(string); ofGo.MatchString(text) {
					t.Error(strings.ReplaceAll(text, "\n", " "))
				}
			}
		})
	}
}
