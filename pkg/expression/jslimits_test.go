package expression

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// shared begins a script with a list that is small, and endless when it is walked.
const shared = "let b=['x']; for(let i=0;i<40;i++) b=[b,b,b]; "

// hogs are scripts that would take hours or terabytes.
var hogs = map[string]string{
	"loop":                "while (true) {}",
	"lists of lists":      "let a=[];while(true)a.push(new Array(1e6).fill(0))",
	"repeat":              "'x'.repeat(1e9)",
	"repeat in parts":     "let s='x'; for(;;) s = s.repeat(1000)",
	"doubling":            "let s='x'; while(true) s += s",
	"doubling by +":       "let s='x'; while(true) s = s + s",
	"doubling a property": "let o={s:'x'}; while(true) o.s += o.s",
	"doubling by key":     "let o={s:'x'}, k='s'; while(true) o[k] += o.s",
	"doubling a template": "let s='x'; while(true) s = `${s}${s}`",
	"doubling by concat":  "let s='x'; while(true) s = s.concat(s, s)",
	"doubling by join":    "let s='x'; while(true) s = [s,s].join('')",
	"doubling by text":    "let s='x'; while(true) s = [s,s] + s",
	"doubling by object":  "let s='x'; while(true) s = {toString() { return s }} + s",
	"doubling by replace": "let s='xx'; while(true) s = s.replace(/x/g, 'xx')",
	"around by replace":   "let s='x'.repeat(5e5); s.replace(/x/g, '$`')",
	"escape":              "let s='%'; while(true) s = escape(s)",
	"upper":               "let s='ŉ'.repeat(3e5); while(true) s = s.toUpperCase() + s.toLowerCase()",
	"pad":                 "'x'.padStart(1e9)",
	"pad end":             "'x'.padEnd(1e9, 'yx')",
	"long list":           "new Array(4e9).fill(1)",
	"long list join":      "new Array(4e9).join('x')",
	"long list text":      "'' + new Array(1e8)",
	"long list forEach":   "new Array(4e9).forEach(x => x)",
	"long list sort":      "let a=[]; a.length=4e9; a.sort()",
	"long list indexOf":   "let a=[]; a.length=4e9; a.indexOf(1)",
	"from":                "Array.from({length: 4e9})",
	"apply":               "Math.max.apply(null, {length: 4e9})",
	"reflect apply":       "Reflect.apply(Math.max, null, {length: 4e9})",
	"spread":              "let a=[1,2]; while(true) a=[...a, ...a]",
	"concat":              "let a=[1,2]; while(true) a=a.concat(a)",
	"shared lists":        "let a=[1]; for(let i=0;i<40;i++) a=[a,a,a]; '' + a",
	"shared lists flat":   "let a=[1]; for(let i=0;i<40;i++) a=[a,a,a]; a.flat(Infinity)",
	"shared lists JSON":   "let a=[1]; for(let i=0;i<40;i++) a=[a,a,a]; JSON.stringify(a)",
	"shared lists result": "let a=[1]; for(let i=0;i<40;i++) a=[a,a,a]; a",
	"shared lists toJson": "let a=[1]; for(let i=0;i<40;i++) a=[a,a,a]; toJson(a)",
	"shared as variable":  "let a=[1]; for(let i=0;i<40;i++) a=[a,a,a]; setVariable('none', a)",
	"deep list":           "let a=[]; for(let i=0;i<1e6;i++) a=[a]; '' + a",
	"deep list JSON":      "let a=[]; for(let i=0;i<1e6;i++) a=[a]; JSON.stringify(a)",
	"deep list flat":      "let a=[]; for(let i=0;i<1e6;i++) a=[a]; a.flat(Infinity)",
	"deep object":         "let a={}; for(let i=0;i<1e6;i++) a={a}; a",
	"deep prototypes":     "let a={}; for(;;) { a=Object.create(a); a.x }",
	"deep bind":           "let f=()=>{}; for(;;) { f=f.bind(); } f()",
	"deep JSON text":      "JSON.parse('['.repeat(1e6))",
	"deep calls":          "let f=n=>f(n+1)+1; f(0)",
	"deep native calls":   "let f=()=>[1].map(f); f()",
	"deep getters":        "let o={get x(){ return this.x }}; o.x",
	"deep toString":       "let o={toString(){ return ''+o }}; ''+o",
	"deep async":          "let f=async () => { await f() }; f()",
	"deep await":          "let f=async () => { await 1; await f() }; f()",
	"deep async getter":   "let o={get x(){ return (async () => await o.x)() }}; o.x",
	"deep then":           "let p=Promise.resolve(1); for(;;) p=p.then(x => x)",
	"deep thenable":       "let o={then(f){ f(o) }}; Promise.resolve(o)",
	"deep iterator":       "let o={[Symbol.iterator](){ return {next(){ return [...o] }} }}; [...o]",
	"deep sort":           "let f=()=>[2,1].sort(f); f()",
	"endless iterator":    "let o={[Symbol.iterator](){ return {next(){ return {value: 1} }} }}; [...o]",
	"endless destructure": "let o={[Symbol.iterator](){ return {next(){ return {value: 1} }} }}; let [...b]=o",
	"endless from":        "let o={[Symbol.iterator](){ return {next(){ return {value: 1} }} }}; Array.from(o)",
	"endless promises":    "let f=()=>Promise.resolve().then(f); f(); 1",
	"endless getter":      "({get a(){ for(;;); }})",
	"endless toString":    "throw {toString(){ for(;;); }}",
	"endless message":     "throw {get message(){ for(;;); }}",
	"endless sort":        "[2,1].sort(() => { for(;;); })",
	"endless replace":     "'x'.replace(/x/, () => { for(;;); })",
	"many objects":        "let a=[]; for(let i=0;;i++) a[i]={i}",
	"many keys":           "let o={}; for(let i=0;;i++) o['k'+i]=i",
	"many in a map":       "let m=new Map(); for(let i=0;;i++) m.set(i, {})",
	"many in a chain":     "let o={}; for(;;) o={o}",
	"many closures":       "let f=()=>1; for(;;) { let g=f; f=()=>g }",
	"many texts":          "let a={}; for(let i=0;;i++) a['x'.repeat(1000)+i]=1",
	"pattern":             "/^(a+)+$/.test('a'.repeat(50)+'b'); for(;;);",
	"backtracking":        "/^(?=a)(a+)+$/.test('a'.repeat(50)+'b'); for(;;);",
	"backtracking split":  "('a'.repeat(50)+'b').split(/^(?=a)(a+)+$/); for(;;);",
	"backtracking match":  "('a'.repeat(50)+'b').match(new RegExp('^(?=a)(a+)+$')); for(;;);",
	"costly pattern":      "/(x{0,400}){0,2}(x{0,400}){0,2}y/.test('x'.repeat(1e6)); for(;;);",
	"large result":        "'x'.repeat(1e6) + 'x'.repeat(1e6)",
	"large list result":   "new Array(9e5).fill('abcdefgh')",
	"sparse result":       "let a=[]; a.length=4e9; a",
	"by key":              "'x'['re' + 'peat'](1e9)",
	"by template key":     "'x'[`repeat`](1e9)",
	"by object key":       "'x'[{toString() { return 'repeat' }}](1e9)",
	"by changing key":     "let n=0; 'x'[{toString() { return n++ ? 'repeat' : 'a' }}]; 'x'[{toString() { return n++ ? 'repeat' : 'a' }}](1e9)",
	"by list key":         "'x'[['repeat']](1e9)",
	"by pattern":          "let {repeat: r} = 'x'; r.call('x', 1e9)",
	"by short pattern":    "let {repeat} = 'x'; repeat.call('x', 1e9)",
	"by text pattern":     "let {'repeat': r} = 'x'; r.call('x', 1e9)",
	"by computed pattern": "let {['re' + 'peat']: r} = 'x'; r.call('x', 1e9)",
	"by parameter":        "(({repeat: r}) => r.call('x', 1e9))('x')",
	"by loop pattern":     "for (let {repeat: r} of ['x']) r.call('x', 1e9)",
	"by assignment":       "let r; ({repeat: r} = 'x'); r.call('x', 1e9)",
	"by with":             "with ('x') { repeat(1e9) }",
	"by chain":            "'x'?.repeat?.(1e9)",
	"by super":            "class A extends String { f() { return super.repeat(1e9) } } new A('x').f()",
	"by class key":        "class A extends String { f() { return super['re' + 'peat'](1e9) } } new A('x').f()",
	"by escape":           "'x'.re\\u0070eat(1e9)",
	"by reflection":       "Reflect.get(String.prototype, 're' + 'peat').call('x', 1e9)",
	"by descriptor":       "Object.getOwnPropertyDescriptor(String.prototype, 're' + 'peat').value.call('x', 1e9)",
	"by constructor":      "(()=>1).constructor('for(;;);')()",
	"by proto":            "'x'.__proto__['re' + 'peat'].call('x', 1e9)",
	"by map":              "['x'].map(String.prototype['re' + 'peat'].call.bind(String.prototype.repeat, 'x', 1e9))",
	"by tag":              "String.raw({raw: {length: 1e9}}, 'x')",
	"by code":             "String.fromCharCode.apply(null, {length: 1e9})",
	"by index":            "let a=[]; a[4e9]=1; a.length=4e9; for (const x of a);",
	"by fields":           "let s='x'.repeat(1e6); for(;;) Object.keys(s)",
	"by assign":           "let o={}; for(;;) { Object.assign(o, 'x'.repeat(1e6)) }",
	"by split":            "let s='x'.repeat(1e6), a=[]; for(;;) a.push(s.split(''))",
	"by spread text":      "let s='x'.repeat(1e6), a=[]; for(;;) a.push([...s])",
	"by description":      "let s='x'; for(;;) s = Symbol(s).toString() + s",
	"by error":            "let e=new Error('x'); for(;;) e.message = '' + e + e",
	"by name":             "let f=()=>1, s='x'; for(;;) { s += s; Object.defineProperty(f, 'name', {value: s}) }",
	"by normalize":        "let s='\ufdfa'.repeat(5e5); for(;;) s = s.normalize('NFKD')",
	"by locale":           "[1e300].toLocaleString.call(new Array(4e9))",
	"by group":            "Object.fromEntries(new Array(1e6).fill(['a', 1])); for(;;);",
	"by copy":             "let a=[]; a.length=4e9; a.copyWithin(0, 1)",
	"by slice":            "let a=[]; a.length=4e9; a.slice()",
	"by length":           "let a=[]; for(;;) { a.length += 1e6; a.fill(1) }",
	"shared by toJSON":    shared + "JSON.stringify({toJSON() { return b }})",
	"by toJSON within":    shared + "JSON.stringify([1, {a: {toJSON() { return {b} }}}])",
	"by toJSON of dates":  shared + "Date.prototype.toJSON = () => b; JSON.stringify(new Date(0))",
	"by toJSON and names": shared + "JSON.stringify({toJSON() { return {b} }}, ['b'])",
	"by toJSON in a Map":  shared + "let m=new Map(); m.toJSON = () => b; JSON.stringify({m})",
	"by getter":           shared + "let n=0, o={get a() { return n++ ? b : 1 }}; JSON.stringify([o]); JSON.stringify([o])",
	"by getter flat":      shared + "let n=0, a=[]; Object.defineProperty(a, 0, {get() { return n++ ? b : 1 }}); a.flat(99); a.flat(99)",
	"deep by toJSON":      "let a=[]; for(let i=0;i<2e4;i++) a=[a]; JSON.stringify({toJSON() { return a }})",
	"raw JSON":            "let r=JSON.rawJSON('\"' + 'x'.repeat(1e5) + '\"'); JSON.stringify(new Array(1e5).fill(r))",
	"names of JSON":       "let a=[]; a.length=4e9; JSON.stringify({}, a)",
	"many names of JSON":  "let o={}; for(let i=0;i<1e4;i++) o['k'+i]=1; JSON.stringify(new Array(1e4).fill({}), Object.keys(o))",
	"indented JSON":       "let a=new Array(1e5).fill(1); for(let i=0;i<900;i++) a=[a]; JSON.stringify(a, null, 10)",
	"replace by symbol":   "/a/g[Symbol.replace]('a'.repeat(1e4), \"$'\".repeat(1e4))",
	"replace by list":     "'x'.repeat(1e4).replace(/x/g, ['$`'.repeat(1e4)])",
	"replace by object":   "'x'.repeat(1e4).replace(/x/g, {toString() { return '$`'.repeat(1e4) }})",
	"replaced groups":     "'x'.repeat(1e5).replace(/(x*)(?:)/, '$1'.repeat(1e5))",
	"groups without end":  "let r=/a/; r.exec = () => ({length: 1e9, index: 0, 0: 'a'}); 'a'.replace(r, 'b')",
	"changing text":       "let n=0; ''.repeat.call({toString() { return n++ ? 'x'.repeat(1e6) : '' }}, 1e6); for(;;);",
	"changing count":      "let n=0, o={valueOf() { return n++ ? 1e9 : 1 }}; 'x'.repeat(o); 'x'.padEnd(o); for(;;);",
	"changing length":     "let n=0; [].fill.call({get length() { return n++ ? 4e9 : 1 }}, 1)",
	"changing join":       "let n=0; [].join.call({get length() { return n++ ? 4e9 : 1 }}, 'x'.repeat(1e6))",
	"changing raw":        "let n=0; String.raw({get raw() { return {length: n++ ? 4e9 : 1} }}, 'x'); for(;;);",
	"changing value":      "let n=0; Array.from({length: {valueOf() { return n++ ? 4e9 : 1 }}})",
	"spread of nothing":   "let a=[]; a.length=4e9; [...a]",
	"spread of keys":      "[...Array(4e9).keys()]",
	"arguments":           "let a=[]; a.length=4e9; isNaN(...a)",
	"rest of nothing":     "let a=[]; a.length=4e9; let [...b]=a",
	"set of nothing":      "new Set(Array(4e9).keys())",
	"promises of nothing": "Promise.all(Array(4e9))",
	"bytes":               "bytesFromString('x'.repeat(1e6)); for(;;) {}",
}

func TestJavaScriptIsBounded(t *testing.T) {
	var peak uint64
	for name, source := range hogs {
		runtime.GC()
		before := total()
		s := example()
		s.limits = engine.Limits{Script: 250 * time.Millisecond}
		began := time.Now()
		_, err := eval(t.Context(), t, workflow.JavaScript, source, s)
		took, grew := time.Since(began), total()-before
		if before > total() {
			grew = 0
		}
		peak = max(peak, grew)
		t.Logf("%-20s %8v %5d MiB  %v", name, took.Round(time.Millisecond), grew>>20, err)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v is not an *Error", name, err)
		}
		if took > patience {
			t.Errorf("%s took %v", name, took)
		}
		if grew > 700<<20 {
			t.Errorf("%s: the process grew by %d MiB", name, grew>>20)
		}
	}
	t.Logf("most: %d MiB", peak>>20)
}

// total is the memory that the process has from the system, less what it has
// given back.
func total() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
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
		_, err := evaluator(t, workflow.JavaScript).Compile(workflow.JS(nested(40)))
		var e *Error
		if !errors.As(err, &e) || e.Line != 1 {
			t.Errorf("%s: %v", around, err)
		}
		if !errors.Is(err, ErrDepth) || strings.HasSuffix(around, "+1=>1") || strings.Contains(around, ")(b)") || strings.HasPrefix(around, "()") {
			continue // no JavaScript
		}
		if _, err := evaluator(t, workflow.JavaScript).Compile(workflow.JS("let f = " + nested(3))); err != nil {
			t.Errorf("%s: %v", around, err)
		}
	}
	many := "let f = (a, {b = 'x'}, [c] = [], d = () => 1) => { return /[()]/.test(a) ? (b) => `${(c) => c}` : async (d) => { await d } }\nlog(f)\n"
	for _, source := range []string{
		strings.Repeat(many, 1) + strings.Repeat(strings.ReplaceAll(many, "let f", "f"), 500),
		strings.Repeat("0||", 60) + "0", strings.Repeat("1&&", 60) + "1", strings.Repeat("null??", 60) + "1",
		strings.Repeat("(", 60) + "1" + strings.Repeat("&&1)||0", 60), strings.Repeat("-(", 60) + "1" + strings.Repeat("||0)&&1", 60),
	} {
		if _, err := evaluator(t, workflow.JavaScript).Compile(workflow.JS(source)); err != nil {
			t.Errorf("%.30s: %v", source, err)
		}
	}
}

func TestJavaScriptEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the node stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := compile(t, workflow.JavaScript, "setOutcome('begun'); while (true) {}")
	s := &signalling{scope: example(), begun: func() { cancel(cause) }}
	if _, err := c.Eval(ctx, s); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if _, err := c.Eval(ctx, s); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

type signalling struct {
	*scope
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
		_, err := evaluator(t, workflow.JavaScript).Compile(workflow.JS(source))
		var e *Error
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
		if v, err := eval(t.Context(), t, workflow.JavaScript, source, example()); err == nil {
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
		got, err := eval(t.Context(), t, workflow.JavaScript, source, example())
		if err != nil || !equalValues(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
}
