package js

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
	"github.com/weft-run/weft/pkg/workflow"
)

// Bombs are in testdata/bombs; here is what each guard says, and that ordinary
// scripts do not meet it.
func TestJavaScriptTakesApartWhatIsSmall(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	list := make([]any, maxProps+1)
	s.Vars["text"], s.Vars["long"], s.Vars["short"] = strings.Repeat("x", maxProps+1), list, list[:maxProps]
	many := map[string]any{}
	for i := range list {
		many[strconv.Itoa(i)] = nil
	}
	s.Vars["many"] = many
	for _, f := range []string{
		"Object.entries(%)", "Object.values(%)", "Object.keys(%)", "Object.getOwnPropertyNames(%)", "Object.getOwnPropertyDescriptors(%)",
		"Object.assign({}, %)", "Object.freeze(new Object(%))", "Object['ent' + 'ries'](%)", "Reflect.ownKeys(new Object(%))", "({...%})", "({a: {...%}})",
		"let {...r} = %", "let {a: {...r}} = {a: %}", "(({a, ...r}) => 1)(%)", "for (let {...r} of [%]);", "let r; ({...r} = %)",
	} {
		for _, of := range []string{"variables.text", "variables.long"} {
			if v, err := expressiontest.Eval(t.Context(), Evaluator{}, strings.Replace(f, "%", of, 1), s); !errors.Is(err, evaluation.ErrMemory) {
				t.Errorf("%s of %s: %v, %v", f, of, v, err)
			}
		}
		if _, err := expressiontest.Eval(t.Context(), Evaluator{}, strings.Replace(f, "%", "variables.short", 1)+"; 1", s); err != nil {
			t.Errorf("%s of %d elements: %v", f, maxProps, err)
		}
	}
	for _, source := range []string{"Object.entries(variables.many)", "({...variables.many})", "let {...r} = variables.many"} {
		if v, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s); !errors.Is(err, evaluation.ErrMemory) {
			t.Errorf("%s: %v, %v", source, v, err)
		}
	}
	for source, want := range map[string]any{
		"let {a, ...r} = {a: 1, b: 2, c: [3]}; r":                          map[string]any{"b": int64(2), "c": []any{int64(3)}},
		"[{a: 1, b: 2}].map(({a, ...r}) => ({...r, a: 0}))":                []any{map[string]any{"b": int64(2), "a": int64(0)}},
		"let {...r} = 'ab'; r":                                             map[string]any{"0": "a", "1": "b"},
		"let {...r} = [1]; let k = []; for (const i in r) k.push(i); k":    []any{"0"},
		"({...null, ...undefined, ...1})":                                  map[string]any{},
		"let {...r} = variables; Object.keys(r).includes('order')":         true,
		"Object.keys({}).length + Object.entries(Object.prototype).length": int64(0),
	} {
		if got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
}

func TestJavaScriptComparesLittleInOneStep(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.Vars["many"] = make([]any, 1000)
	for _, f := range []string{"includes", "indexOf", "lastIndexOf"} {
		source := "let s = 'x'.repeat(3e5); variables.many." + f + "(s)"
		if v, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s); !errors.Is(err, evaluation.ErrTime) {
			t.Errorf("%s: %v, %v", f, v, err)
		}
		if _, err := expressiontest.Eval(t.Context(), Evaluator{}, strings.Replace(source, "3e5", "2e5", 1), s); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	for source, want := range map[string]any{
		"[3, 20, 'x', null, undefined, 1, 'é', {}].sort()": []any{int64(1), int64(20), int64(3), map[string]any{}, nil, "x", "é", nil},
		"[3, 20, 1].toSorted((a, b) => a - b)":             []any{int64(1), int64(3), int64(20)},
		"[2, 10].sort(undefined)":                          []any{int64(10), int64(2)},
	} {
		if got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := expressiontest.Compile(t, Evaluator{}, "let a = ['b', 'a']; setOutcome('x'); for (let i = 0; i < 16; i++) a = a.concat(a); for (;;) a.sort()")
	if _, err := c.Eval(ctx, &signalling{Scope: s, begun: cancel}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The compiler is quadratic in depth, and some of the parser's errors are in
// number.
func TestJavaScriptRefusesDepth(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ before, after string }{
		{"1+", ""}, {"a+", ""}, {"0&&", ""}, {"a||", ""}, {"a??", ""}, {"2**", ""}, {"- ", ""}, {"!", ""}, {"(/*)*/-", ")"}, {"[/*]*/", "]"}, {"x=", ""},
		{"a?1:", ""}, {"a?", ":1"}, {"if(1)", ""}, {"for(;;)", ""}, {"new ", ""}, {"typeof ", ""}, {"a: ", ""}, {"a: do ", " while(0)"},
	} {
		source := strings.Repeat(s.before, rewrite.MaxLevels) + "a" + strings.Repeat(s.after, rewrite.MaxLevels)
		_, err := (Evaluator{}).Compile(workflow.JS(source))
		var e *evaluation.Error
		if !errors.As(err, &e) || !errors.Is(err, evaluation.ErrDepth) || e.Line != 1 {
			t.Errorf("%s: %v", s.before, err)
		}
		if strings.HasPrefix(s.before, "a:") {
			continue
		}
		source = strings.Repeat(s.before, 100) + "a" + strings.Repeat(s.after, 100)
		if _, err := (Evaluator{}).Compile(workflow.JS(source)); err != nil {
			t.Errorf("100 times %s: %v", s.before, err)
		}
	}
	cases := "switch (getAmount()) {" + strings.Repeat("case 1: default: x ? y : z;\n", 290) + "}"
	objects := "[" + strings.Repeat("{id: 1, name: y ? id : name},\n", 1000) + "].map(() => ({id: 1}))"
	for _, source := range []string{objects, strings.Replace(cases, "default:", "", 1)} {
		if _, err := (Evaluator{}).Compile(workflow.JS(source)); err != nil && errors.Is(err, evaluation.ErrDepth) {
			t.Error(err)
		}
	}
}

// What a compiler without limits would read or work out again and again.
func TestJavaScriptCompilesAtOnce(t *testing.T) {
	t.Parallel()
	for _, around := range []string{
		"(a=%)=>1", "async (a=%)=>1", "async(a=%) => 1", "({a=%})=>1", "([a=%])=>1", "({[%]:a})=>1", "(a,{b=[%]})=>1",
		"(a=function(){ return % })=>1", "(a=b=>%)=>1", "(a=`${%}`)=>1", "(a=f(')', /[/)]/, %))=>1", "(a={b(){ return [%] }}) /**/ =>{}",
		"(a=1/(%)/1)=>1", "(a=class { static b = % })=>1", "(a=x?%:1)=>1", "(a=/* ( */%/* ) */)=>1", "(a=')'+(%))=>1", "(a=`)`+(%))=>1",
		"(a=%)+1=>1", "(a=%)(b)=>1", "async(a=%)(b)=>1", "() ? %()=>1", "function*g(){ yield ++(%) }", "(a=%)=>1(a= {",
	} {
		nested := func(n int) string {
			s := "1"
			for range n {
				s = strings.ReplaceAll(around, "%", s)
			}
			return s
		}
		_, err := (Evaluator{}).Compile(workflow.JS(nested(40)))
		var e *evaluation.Error
		if !errors.As(err, &e) || e.Line != 1 {
			t.Errorf("%s: %v", around, err)
		}
		if !errors.Is(err, evaluation.ErrDepth) || strings.HasSuffix(around, "+1=>1") || strings.Contains(around, ")(b)") || strings.HasPrefix(around, "()") {
			continue // no JavaScript
		}
		if _, err := (Evaluator{}).Compile(workflow.JS("let f = " + nested(3))); err != nil {
			t.Errorf("%s: %v", around, err)
		}
	}
	many := "let f = (a, {b = 'x'}, [c] = [], d = () => 1) => { return /[()]/.test(a) ? (b) => `${(c) => c}` : async (d) => { await d } }\nlog(f)\n"
	for _, source := range []string{
		strings.Repeat(many, 1) + strings.Repeat(strings.ReplaceAll(many, "let f", "f"), 500),
		strings.Repeat("0||", 60) + "0", strings.Repeat("1&&", 60) + "1", strings.Repeat("null??", 60) + "1",
		strings.Repeat("(", 60) + "1" + strings.Repeat("&&1)||0", 60), strings.Repeat("-(", 60) + "1" + strings.Repeat("||0)&&1", 60),
	} {
		if _, err := (Evaluator{}).Compile(workflow.JS(source)); err != nil {
			t.Errorf("%.30s: %v", source, err)
		}
	}
}

func TestJavaScriptEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the node stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := expressiontest.Compile(t, Evaluator{}, "setOutcome('begun'); while (true) {}")
	s := &signalling{Scope: expressiontest.Example(), begun: func() { cancel(cause) }}
	if _, err := c.Eval(ctx, s); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if _, err := c.Eval(ctx, s); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

type signalling struct {
	*expressiontest.Scope
	begun func()
}

func (s *signalling) SetOutcomes(...string) { s.begun() }

func TestJavaScriptRefuses(t *testing.T) {
	t.Parallel()
	for source, has := range map[string]string{
		"1n":                             "BigInt",
		"function* g() {}":               "generator",
		"({*g() {}})":                    "generator",
		"[...a, ...a, ...a, ...a, ...a]": "spread",
		strings.Repeat("(", 300):         "nested",
		strings.Repeat(" ", 200000):      "128 KiB",
		"import x from 'y'":              "",
	} {
		_, err := (Evaluator{}).Compile(workflow.JS(source))
		var e *evaluation.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, has) {
			t.Errorf("%.20s: %v", source, err)
		}
	}
	for _, source := range []string{
		"eval('1')", "Function('return 1')()", "(()=>{}).constructor('return 1')()",
		"(async()=>{}).constructor('return 1')()", "require('fs')", "process.env", "fetch('http://localhost')", "console.log(1)",
		"new Uint8Array(1)", "new ArrayBuffer(1e10)", "new Proxy({}, {})", "BigInt(1)", "globalThis['ev'+'al']('1')",
		"XMLHttpRequest", "setTimeout(() => 1)", "/x/.compile('y')", "new RegExp('x'.repeat(5000))",
	} {
		if v, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example()); err == nil {
			t.Errorf("%s gave %v", source, v)
		}
	}
}

// The same must hold in a plain script and in one that is hardened.
func TestJavaScriptJoinsTextsAsTheLanguageSays(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]any{
		"let a = 'x', b = 1; a + b":                                      "x1",
		"let a = 1, b = 2; a + b":                                        int64(3),
		"let a = 1.5, b = true; a + b":                                   2.5,
		"let a = null, b; '' + a + b":                                    "nullundefined",
		"let a = {valueOf() { return 4 }}, b = 2; a + b":                 int64(6),
		"let a = [1, 2], b = 'x'; a + b":                                 "1,2x",
		"let a = new Date(0), b = ''; typeof (a + b)":                    "string",
		"let s = 'a'; s += s; s":                                         "aa",
		"let o = {s: 'a'}; o.s += o.s; o.s":                              "aa",
		"let o = {s: 'a'}; let k = 's'; o[k] += o.s; o.s":                "aa",
		"let n = 0; let f = () => { n++; return {x: 1} }; f().x += n; n": int64(1),
		"let a = 1, b = 'é', c = {}; `${a}-${b}-${c}`":                   "1-é-[object Object]",
		"let t = 'a very long text that has more than sixty-four characters in it, or so', u = `${t} ${1}`; u === t + ' 1'": true,
		"let a = 5; a += 1; a":                                       int64(6),
		"var f = function(a) { return a + a }; f('x') + f(2)":        "xx4",
		"const [a, b] = ['x', 'y']; a + b":                           "xy",
		"let s = ''; for (const c of 'abc') s = c + s; s":            "cba",
		"[3, 1, 2].sort().map(x => x + x).join('-')":                 "2-4-6",
		"'a-b-c'.split('-').reverse().join('')":                      "cba",
		"'1234567'.replace(/\\B(?=(\\d{3})+(?!\\d))/g, ',')":         "1,234,567",
		"'John Smith'.replace(/(\\w+)\\s(\\w+)/, '$2, $1')":          "Smith, John",
		"/(\\d+)-(\\d+)/.exec('10-20')[2]":                           "20",
		"'a1b22'.match(/\\d+/g)":                                     []any{"1", "22"},
		"[...'a1b22'.matchAll(/\\d+/g)].length":                      int64(2),
		"new RegExp('B', 'i').test('abc')":                           true,
		"/x/ instanceof RegExp":                                      true,
		"JSON.parse(JSON.stringify({a: [1, {b: 'x'}]})).a[1].b":      "x",
		"Array.from({length: 3}, (_, i) => i * 2)":                   []any{int64(0), int64(2), int64(4)},
		"Math.max.apply(null, [1, 5, 3])":                            int64(5),
		"[[1, [2]], 3].flat(Infinity)":                               []any{int64(1), int64(2), int64(3)},
		"[1, [2, [3]]] + ''":                                         "1,2,3",
		"'x'.padStart(3, 'ab') + 'x'.repeat(2) + 'y'.concat(1, 'z')": "abxxxy1z",
		"encodeURIComponent('a b')":                                  "a%20b",
		"Object.entries({a: 1}).map(([k, v]) => `${k}=${v}`)[0]":     "a=1",
		"class A extends Error { constructor(m) { super(m); this.name = 'A' } } try { throw new A('m') } catch (e) { e.name + e.message }": "Am",
		"let {a, ...rest} = {a: 1, b: 2}; rest": map[string]any{"b": int64(2)},
		"JSON.stringify({b: 1, a: [{c: undefined, b: 'x', d: new Date(0)}], f() {}, g: new String('s')}, ['a', 'b', 'd'], 1)":             "{\n \"a\": [\n  {\n   \"b\": \"x\",\n   \"d\": \"1970-01-01T00:00:00.000Z\"\n  }\n ],\n \"b\": 1\n}",
		"JSON.stringify({a: [1, 'x', null, undefined, NaN], b: {toJSON(k) { return k + '!' }}, c: new Number(4), d: new String('s')})":    `{"a":[1,"x",null,null,null],"b":"b!","c":4,"d":"s"}`,
		"JSON.stringify([1, {a: 2}], function(k, v) { return typeof v === 'number' ? v + this.constructor.name : v })":                    `["1Array",{"a":"2Object"}]`,
		"JSON.stringify(undefined) === undefined && JSON.stringify(() => 1) === undefined && JSON.stringify('x', null, '\t') === '\"x\"'": true,
		"try { let a=[]; a[0]=a; JSON.stringify(a) } catch (e) { e.name }":                                                                "TypeError",
		"'a.b.c'.replace(/(\\w)\\.(?<z>\\w)/, \"[$2$1$&$$$<z>$3$`|$'$0$01$10$\")":                                                         "[baa.b$b$3|.c$0aa0$.c",
		"'aXbX'.replaceAll('X', '$&$`$')":                                                                 "aXa$bXaXb$",
		"/(a)|b/g[Symbol.replace]('ab', '<$1$<n>') + 'ab'.replace(/(?<n>a)/, '$<n>$<m>')":                 "<a$<n><$<n>ab",
		"'x'.replace('x', 5) + 'x'.replace({toString() { return 'x' }}, ['$&']) + 'x'.repeat('3')":        "5xxxx",
		"[1, [2, [3, , [4]]]].flat().length + [[1, [2]], [], 3].flat(0).length + [[[[]]]].flat(9).length": int64(6),
		"Array.prototype.map.call('ab', c => c + c).concat({length: 1}, [3]).length":                      int64(4),
		"(function() { return Array.from(arguments).concat([...arguments]).length })(1, 2)":               int64(4),
		"0 || null || false || '' || 'x'":                                                                 "x",
		"null ?? undefined ?? !1 ?? 2":                                                                    false,
		"1 && -1 && 3 && (2 > 1) && 2 ** 3 - 1 - 1":                                                       int64(6),
		"let n = 0; const f = () => { n++; return 0 }; f() || f() || f() || n":                            int64(3),
		"'a/b'.split(/\\//).map(x => ((f = (y = (z = 1) => z) => y()) => f())())":                         []any{int64(1), int64(1)},
		"[1, 2, 3].includes(2) && 'abc'.includes('b')":                                                    true,
		"new Set([1, 1, 2]).size":                                                                         int64(2),
		"(() => { try { return nobody } catch (e) { return e instanceof ReferenceError } })()":            true,
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
}
