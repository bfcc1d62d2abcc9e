package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/dotnet"
	"github.com/weft-run/weft/internal/expression/js/mend"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
	"github.com/weft-run/weft/pkg/workflow"
)

// globals answers for every global name that the script does not define itself:
// Elsa's functions, variables, inputs, and the accessors of variables, inputs
// and outputs. Nothing is made before it is asked for.
type globals struct{ x *scriptRun }

func (g globals) Get(key string) goja.Value {
	x := g.x
	if v, ok := x.calls[key]; ok {
		return v
	}
	v := x.hostValue(key)
	if v != nil {
		if x.calls == nil {
			x.calls = make(map[string]goja.Value, 4)
		}
		x.calls[key] = v
	}
	return v
}

func (g globals) Has(key string) bool { return g.Get(key) != nil }

// Set refuses, so that an assignment to a name nobody declared makes a global
// of the script.
func (globals) Set(string, goja.Value) bool { return false }

func (globals) Delete(string) bool { return false }

func (globals) Keys() []string { return nil }

func (x *scriptRun) hostValue(key string) goja.Value {
	switch key {
	case "variables":
		return x.vm.NewDynamicObject(variablesOf{x})
	case "inputs":
		return x.vm.NewDynamicObject(inputsOf{x})
	case "secrets":
		return x.vm.NewDynamicObject(secretsOf{x})
	}
	if fn, ok := hostFunctions[key]; ok {
		return mend.Named(x.vm, key, 0, func(c goja.FunctionCall) goja.Value { return fn(x, c) })
	}
	if v := dotnet.Type(dotnet.Host{VM: x.vm, Now: x.scope.Now, NewID: x.newID}, key); v != nil {
		return v
	}
	switch {
	case strings.HasPrefix(key, "get") && len(key) > 3:
		return x.getter(key[3:])
	case strings.HasPrefix(key, "set") && len(key) > 3:
		return x.setter(key[3:])
	}
	return nil
}

// getter gives getX for a variable or an input X, or getOutputFromActivity.
func (x *scriptRun) getter(name string) goja.Value {
	if v, ok := x.variableNamed(name); ok {
		return mend.Named(x.vm, "get"+name, 0, func(goja.FunctionCall) goja.Value { return x.readVariable(v) })
	}
	if in, ok := x.inputNamed(name); ok {
		return mend.Named(x.vm, "get"+name, 0, func(goja.FunctionCall) goja.Value { return x.readInput(in) })
	}
	for i := 1; i < len(name); i++ {
		rest, ok := strings.CutPrefix(name[i:], "From")
		if !ok || rest == "" {
			continue
		}
		output := name[:i]
		return mend.Named(x.vm, "get"+name, 0, func(goja.FunctionCall) goja.Value { return x.outputFrom(output, rest) })
	}
	return nil
}

// outputFrom tries the spellings that output and activity may have had before
// they became parts of a function's name.
func (x *scriptRun) outputFrom(output, activity string) goja.Value {
	for _, a := range []string{activity, rewrite.LowerFirst(activity)} {
		for _, o := range []string{output, rewrite.LowerFirst(output)} {
			if v, ok := x.scope.ActivityOutput(a, o); ok {
				return x.in(v)
			}
		}
	}
	return goja.Null()
}

func (x *scriptRun) setter(name string) goja.Value {
	if v, ok := x.variableNamed(name); ok {
		return mend.Named(x.vm, "set"+name, 1, func(c goja.FunctionCall) goja.Value {
			x.writeVariable(v, c.Argument(0))
			return goja.Undefined()
		})
	}
	if in, ok := x.inputNamed(name); ok {
		return x.vm.ToValue(func(goja.FunctionCall) goja.Value {
			panic(x.vm.NewTypeError("input " + in + " cannot be set"))
		})
	}
	return nil
}

// variableNamed finds the variable that an accessor's name means: as it is, with
// a small first letter, or the one whose name in Pascal case it is.
func (x *scriptRun) variableNamed(name string) (string, bool) {
	for _, n := range []string{name, rewrite.LowerFirst(name)} {
		if _, ok := x.scope.Variable(n); ok {
			return n, true
		}
	}
	return pascalNamed(x.scope.Variables(), name)
}

func (x *scriptRun) inputNamed(name string) (string, bool) {
	for _, n := range []string{name, rewrite.LowerFirst(name)} {
		if _, ok := x.scope.Input(n); ok {
			return n, true
		}
	}
	return pascalNamed(x.scope.Inputs(), name)
}

func pascalNamed(values map[string]any, name string) (string, bool) {
	found, ok := "", false
	for n := range values {
		if workflow.Pascal(n) == name && (!ok || n < found) {
			found, ok = n, true
		}
	}
	return found, ok
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// readVariable gives the script's copy of a variable. Lists and objects are
// remembered, so that changes in place are written back.
func (x *scriptRun) readVariable(name string) goja.Value {
	if b, ok := x.read[name]; ok {
		return b.value
	}
	v, ok := x.scope.Variable(name)
	if !ok {
		return goja.Undefined()
	}
	out, was := x.in(v), v
	if x.scope.IsDate(name) {
		out = dotnet.Host{VM: x.vm}.Dates(v, x.in)
		was = x.mustOut(out) // a text of it that is another as a date's is no change of the script
	}
	if o, ok := out.(*goja.Object); ok && o.ClassName() != "Date" { // each reader has his own Date
		was, err := evaluation.Clean(was, 1<<62)
		if err != nil {
			x.fail(err)
		}
		if x.read == nil {
			x.read = map[string]*borrowed{}
		}
		x.read[name] = &borrowed{out, was}
	}
	return out
}

func (x *scriptRun) writeVariable(name string, value goja.Value) {
	v, err := x.out(value)
	if err == nil {
		err = x.scope.SetVariable(name, v)
	}
	if err != nil {
		x.fail(err)
	}
	delete(x.read, name)
}

func (x *scriptRun) readInput(name string) goja.Value {
	if v, ok := x.inputs[name]; ok {
		return v
	}
	v, ok := x.scope.Input(name)
	if !ok {
		return goja.Undefined()
	}
	out := x.in(v)
	if x.inputs == nil {
		x.inputs = map[string]goja.Value{}
	}
	x.inputs[name] = out
	return out
}

// variablesOf is the object variables.
type variablesOf struct{ x *scriptRun }

func (o variablesOf) Get(key string) goja.Value {
	if v := o.x.readVariable(key); !goja.IsUndefined(v) {
		return v
	}
	return nil
}

func (o variablesOf) Set(key string, v goja.Value) bool { o.x.writeVariable(key, v); return true }

func (o variablesOf) Has(key string) bool { _, ok := o.x.scope.Variable(key); return ok }

func (o variablesOf) Delete(string) bool { return false }

func (o variablesOf) Keys() []string { return sortedKeys(o.x.scope.Variables()) }

// inputsOf is the object inputs.
type inputsOf struct{ x *scriptRun }

func (o inputsOf) Get(key string) goja.Value {
	if v := o.x.readInput(key); !goja.IsUndefined(v) {
		return v
	}
	return nil
}

func (o inputsOf) Set(key string, _ goja.Value) bool {
	panic(o.x.vm.NewTypeError("input " + key + " cannot be set"))
}

func (o inputsOf) Has(key string) bool { _, ok := o.x.scope.Input(key); return ok }

func (o inputsOf) Delete(string) bool { return false }

func (o inputsOf) Keys() []string { return sortedKeys(o.x.scope.Inputs()) }
