package js

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/js/rewrite"
)

// takesApart are the builtins of Object that make much of the properties of their
// arguments: of a text of 1 MiB, entries would make 700 MB in one step.
var takesApart = strings.Fields(`
	assign create defineProperties entries freeze fromEntries getOwnPropertyDescriptors getOwnPropertyNames
	getOwnPropertySymbols isFrozen isSealed keys seal values`)

// hardenObjects bounds what takes apart or copies objects.
func (x *scriptRun) hardenObjects(want func(string) bool) {
	few := func(c *goja.FunctionCall) {
		for _, a := range c.Arguments {
			x.few(a)
		}
	}
	for _, n := range wanted(want, takesApart) {
		x.wrap(x.global("Object"), n, few, nil)
	}
	if want("ownKeys") {
		x.wrap(x.global("Reflect"), "ownKeys", few, nil)
	}
}

// few fails if v has more properties than may be taken apart in one step.
func (x *scriptRun) few(v goja.Value) {
	x.alive()
	switch v := v.(type) {
	case goja.String:
		x.atMost(int64(v.Length()), maxProps)
	case *goja.Object:
		switch v.ClassName() {
		case "Array", "String":
			x.atMost(v.Get("length").ToInteger(), maxProps)
		default:
			x.atMost(int64(len(v.GetOwnPropertyNames())), maxProps)
		}
	}
}

// hardenRest makes what all objects inherit a property that a pattern with a rest
// reads before it copies the object. A script can neither change it nor take it
// away; of an object that does not inherit it there is no rest.
func (x *scriptRun) hardenRest() {
	got := x.vm.NewObject()
	getter := x.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		x.few(c.This)
		return got
	})
	_ = x.proto("Object").DefineAccessorProperty(rewrite.FnMany, getter, nil, goja.FLAG_FALSE, goja.FLAG_FALSE)
}
