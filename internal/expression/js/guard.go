package js

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/mend"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
)

// Bounds of what one call of a builtin may work on: the machine cannot
// interrupt a builtin.
const (
	maxItems    = 1_000_000 // of a list
	maxSorted   = 200_000   // of a list that is sorted
	maxSpread   = 65_536    // arguments that apply takes from a list
	maxNesting  = 1000      // of a list or object that becomes text
	maxProps    = 100_000   // of what is taken apart or copied property by property
	maxCompared = 256 << 20 // bytes, where a text is looked for in a list
)

// maxText is how long a text may get within a script.
func (x *scriptRun) maxText() int { return max(1<<20, x.limits.Output) }

var functionPrototypes = goja.MustCompile("", `[
	Object.getPrototypeOf(function(){}), Object.getPrototypeOf(function*(){}), Object.getPrototypeOf(async function(){})]`, false)

var ownDescriptor = goja.MustCompile("", "Object.getOwnPropertyDescriptor", false)

// harden bounds the builtins that the script mentions, or all of them where it
// could reach them otherwise. What is not listed here costs no more than its
// arguments, or calls back into the script, where it can be interrupted.
func (x *scriptRun) harden() {
	names := x.script.names
	x.hardenIterators()
	if x.script.rest {
		x.hardenRest()
	}
	if names["Object"] {
		x.getDescriptor()
	}
	if slices.ContainsFunc(rewrite.Reflective, func(n string) bool { return names[n] }) {
		x.hardenAll()
		return
	}
	x.hardenSome(func(n string) bool { return names[n] })
	if x.script.pattern || names["RegExp"] || names["match"] || names["matchAll"] || names["search"] {
		x.hardenPatterns()
	}
}

// hardenIterators makes the iterators of lists look at the time. A spread, a pattern or
// a Set takes a whole list in one step, and a list may be long without taking memory.
func (x *scriptRun) hardenIterators() {
	list := x.vm.NewArray()
	values, _ := goja.AssertFunction(list.GetSymbol(goja.SymIterator))
	v, err := values(list)
	if err != nil {
		panic(err)
	}
	x.wrap(v.ToObject(x.vm).Prototype(), "next", nil, nil)
}

// getDescriptor gets what tells a getter from a value. A script that mentions
// Object could replace it, so then it is got before.
func (x *scriptRun) getDescriptor() {
	if x.descriptor != nil {
		return
	}
	v, err := x.vm.RunProgram(ownDescriptor)
	if err != nil {
		panic(err)
	}
	x.descriptor, _ = goja.AssertFunction(v)
}

// hardenAll hardens what is not hardened yet.
func (x *scriptRun) hardenAll() {
	x.fully = true
	x.getDescriptor()
	if x.script.plain {
		x.hardenIterators()
	}
	v, err := x.vm.RunProgram(functionPrototypes)
	if err != nil {
		panic(err)
	}
	made := v.ToObject(x.vm)
	for _, i := range []string{"0", "1", "2"} {
		_ = made.Get(i).ToObject(x.vm).Delete("constructor")
	}
	x.hardenSome(func(string) bool { return true })
	x.hardenPatterns()
}

func (x *scriptRun) hardenSome(want func(name string) bool) {
	x.hardenText(want)
	x.hardenLists(want)
	x.hardenCalls(want)
	x.hardenObjects(want)
	x.hardenLanguages(want)
	mend.Math(x.vm, want)
	if want("parse") {
		x.wrap(x.global("Date"), "parse", func(c *goja.FunctionCall) { c.Arguments = []goja.Value{mend.Date(c.Argument(0))} }, nil)
	}
	if want("raw") {
		x.hardenRaw()
	}
	if want("JSON") {
		x.hardenJSON()
	}
	for _, n := range []string{"escape", "encodeURI", "encodeURIComponent"} {
		if want(n) {
			x.wrap(x.vm.GlobalObject(), n, nil, x.checkText)
		}
	}
	for _, n := range rewrite.Gone {
		if want(n) {
			_ = x.vm.GlobalObject().Delete(n)
		}
	}
}

// key gets the name of a computed property before the script uses it.
func (x *scriptRun) key(v goja.Value) goja.Value {
	switch v := v.(type) {
	case *goja.Symbol:
		return v
	case *goja.Object: // its text must be the same when it is used
		return x.key(x.vm.ToValue(v.String()))
	case goja.String:
		if !x.fully && v.Length() < rewrite.ShortText && rewrite.BuiltinNames()[v.String()] {
			x.hardenAll()
		}
	}
	return v
}

func (x *scriptRun) global(name string) *goja.Object {
	if o, ok := x.vm.GlobalObject().Get(name).(*goja.Object); ok {
		return o
	}
	return x.vm.NewObject()
}

func (x *scriptRun) proto(name string) *goja.Object {
	if o, ok := x.global(name).Get("prototype").(*goja.Object); ok {
		return o
	}
	return x.vm.NewObject()
}

func wanted(want func(string) bool, names []string) []string {
	var out []string
	for _, n := range names {
		if want(n) {
			out = append(out, n)
		}
	}
	return out
}

type (
	before func(c *goja.FunctionCall) // may change what the builtin gets
	after  func(v goja.Value)
)

// wrap puts checks before and after a builtin.
func (x *scriptRun) wrap(o *goja.Object, name string, pre before, post after) {
	if f := x.guarded(o.Get(name), pre, post); f != nil {
		_ = o.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

func (x *scriptRun) guarded(of goja.Value, pre before, post after) goja.Value {
	builtin, ok := goja.AssertFunction(of)
	if !ok {
		return nil
	}
	return mend.Like(x.vm, of, func(c goja.FunctionCall) goja.Value {
		x.alive()
		if pre != nil {
			pre(&c)
		}
		v, err := builtin(c.This, c.Arguments...)
		if err != nil {
			panic(err)
		}
		if post != nil {
			post(v)
		}
		return v
	})
}

// coerce makes texts of the objects that a builtin would make texts of itself:
// a second time they may be others than those that were checked.
func (x *scriptRun) coerce(c *goja.FunctionCall) {
	if o, ok := c.This.(*goja.Object); ok {
		c.This = o.ToString()
	}
	for i, a := range c.Arguments {
		if o, ok := a.(*goja.Object); ok && goja.IsUndefined(orUndefined(o.GetSymbol(goja.SymReplace))) { // no regular expression
			x.coerceArg(c, i)
		}
	}
}

// coerceArg coerces one argument. A function stays a function.
func (x *scriptRun) coerceArg(c *goja.FunctionCall, i int) {
	o, ok := c.Argument(i).(*goja.Object)
	if !ok {
		return
	}
	if _, ok := goja.AssertFunction(o); !ok {
		c.Arguments = slices.Clone(c.Arguments) // they are the caller's
		c.Arguments[i] = o.ToString()
	}
}

// alive ends a loop within a builtin once the script's time is over.
func (x *scriptRun) alive() {
	if x.watcher.expired.Load() {
		x.fail(evaluation.ErrTime)
	}
}

// fail throws a RangeError, which keeps its cause where the script does not see it.
func (x *scriptRun) fail(err error) {
	made, failed := x.vm.New(x.vm.Get("RangeError"), x.vm.ToValue(err.Error()))
	if failed != nil { // the script has put something else there
		panic(x.vm.NewGoError(err))
	}
	if x.causes == nil {
		x.causes = map[*goja.Object]error{}
	}
	x.causes[made] = err
	panic(made)
}

// atMost fails if n things are too many.
func (x *scriptRun) atMost(n, most int64) {
	if n > most {
		x.fail(evaluation.ErrMemory)
	}
}

func (x *scriptRun) checkText(v goja.Value) {
	if s, ok := v.(goja.String); ok {
		x.atMost(int64(s.Length()), int64(x.maxText()))
	}
}

// plus is a + b, with a bound on texts.
func (x *scriptRun) plus(a, b goja.Value) goja.Value {
	if s, ok := a.(goja.String); ok {
		if t, ok := b.(goja.String); ok {
			x.atMost(int64(s.Length())+int64(t.Length()), int64(x.maxText()))
			return s.Concat(t)
		}
	}
	if x.add == nil {
		f, err := x.vm.RunProgram(plusProgram)
		if err != nil {
			panic(err)
		}
		x.add, _ = goja.AssertFunction(f)
	}
	v, err := x.add(goja.Undefined(), a, b)
	if err != nil {
		panic(err)
	}
	x.checkText(v)
	return v
}

var plusProgram = goja.MustCompile("", "(a, b) => a + b", false)

// assign is o[key] += v, or its like: c has these three, and join is what is done.
func (x *scriptRun) assign(c goja.FunctionCall, join func(a, b goja.Value) goja.Value) goja.Value {
	of, key, v := c.Argument(0).ToObject(x.vm), c.Argument(1).ToString(), c.Argument(2)
	if sym, ok := c.Argument(1).(*goja.Symbol); ok {
		joined := join(orUndefined(of.GetSymbol(sym)), v)
		_ = of.SetSymbol(sym, joined)
		return joined
	}
	joined := join(orUndefined(of.Get(key.String())), v)
	if err := of.Set(key.String(), joined); err != nil {
		panic(err)
	}
	return joined
}

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// template joins the parts of a template literal.
func (x *scriptRun) template(parts []goja.Value) goja.Value {
	var b goja.StringBuilder
	left := int64(x.maxText())
	for _, p := range parts {
		if _, ok := p.(*goja.Symbol); ok {
			panic(x.vm.NewTypeError("Cannot convert a Symbol value to a string"))
		}
		s := x.textOf(p)
		if left -= int64(s.Length()); left < 0 {
			x.fail(evaluation.ErrMemory)
		}
		b.WriteString(s)
	}
	return b.String()
}

// hardenCalls bounds calls whose arguments come from a list.
func (x *scriptRun) hardenCalls(want func(string) bool) {
	if !want("apply") && !want("construct") {
		return
	}
	count := func(i int) before {
		return func(c *goja.FunctionCall) {
			if o, ok := c.Argument(i).(*goja.Object); ok {
				x.atMost(x.lengthOf(o), maxSpread)
			}
		}
	}
	x.wrap(x.proto("Function"), "apply", count(1), nil)
	x.wrap(x.global("Reflect"), "apply", count(2), nil)
	x.wrap(x.global("Reflect"), "construct", count(1), nil)
}

// lengthOf is the length of a list, or of what a builtin takes for one. The
// length of the latter has to be a number: code of the script would give the
// builtin another than the one that is checked here.
func (x *scriptRun) lengthOf(o *goja.Object) int64 {
	v := o.Get("length")
	if v == nil || goja.IsUndefined(v) {
		return 0
	}
	if o.ClassName() != "Array" {
		x.getDescriptor()
		d, err := x.descriptor(goja.Undefined(), o, x.vm.ToValue("length"))
		if err != nil {
			panic(err)
		}
		own, ok := d.(*goja.Object)
		if _, code := v.(*goja.Object); !ok || code || own.Get("value") == nil {
			panic(x.vm.NewTypeError("the length of what stands for a list has to be a number of its own"))
		}
	}
	return v.ToInteger()
}
