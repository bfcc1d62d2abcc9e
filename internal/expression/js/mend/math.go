package mend

import (
	"math"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/js/fdlibm"
)

// one are the functions of Math with one argument whose last digits Go's math has otherwise; sign the machine hands on.
var one = map[string]func(float64) float64{
	"acos": fdlibm.Acos, "acosh": fdlibm.Acosh, "asin": fdlibm.Asin, "asinh": fdlibm.Asinh, "atan": fdlibm.Atan, "atanh": fdlibm.Atanh,
	"cbrt": fdlibm.Cbrt, "cos": fdlibm.Cos, "cosh": fdlibm.Cosh, "exp": fdlibm.Exp, "expm1": fdlibm.Expm1, "log": fdlibm.Log,
	"log10": fdlibm.Log10, "log1p": fdlibm.Log1p, "log2": fdlibm.Log2, "sin": fdlibm.Sin, "sinh": fdlibm.Sinh, "tan": fdlibm.Tan,
	"tanh": fdlibm.Tanh, "sign": sign,
}

var two = map[string]func(x, y float64) float64{"atan2": fdlibm.Atan2, "pow": fdlibm.Pow}

func sign(x float64) float64 {
	if x == 0 || math.IsNaN(x) {
		return x
	}
	return math.Copysign(1, x)
}

// Math replaces those functions of Math that are wanted.
func Math(vm *goja.Runtime, want func(name string) bool) {
	object, ok := vm.Get("Math").(*goja.Object)
	if !ok {
		return // the script has its own
	}
	for name, f := range one {
		if want(name) {
			Method(vm, object, name, 1, func(c goja.FunctionCall) goja.Value { return vm.ToValue(f(c.Argument(0).ToFloat())) })
		}
	}
	for name, f := range two {
		if want(name) {
			Method(vm, object, name, 2, func(c goja.FunctionCall) goja.Value {
				x := c.Argument(0).ToFloat()
				return vm.ToValue(f(x, c.Argument(1).ToFloat()))
			})
		}
	}
}

// Power is a ** b.
func Power(vm *goja.Runtime, a, b goja.Value) goja.Value {
	x := a.ToFloat()
	return vm.ToValue(fdlibm.Pow(x, b.ToFloat()))
}

// Method gives an object a method as builtins are: of that name and number of arguments, and not seen by loops.
func Method(vm *goja.Runtime, of *goja.Object, name string, arguments int, f func(goja.FunctionCall) goja.Value) {
	_ = of.DefineDataProperty(name, Named(vm, name, arguments, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Named is a function of that name. The machine would give it the name that it has in Go.
func Named(vm *goja.Runtime, name string, arguments int, f func(goja.FunctionCall) goja.Value) *goja.Object {
	o := vm.ToValue(f).ToObject(vm)
	_ = o.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = o.DefineDataProperty("length", vm.ToValue(arguments), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return o
}

// Like is a function with the name and the number of arguments of another, which it stands for.
func Like(vm *goja.Runtime, of goja.Value, f func(goja.FunctionCall) goja.Value) *goja.Object {
	o := of.ToObject(vm)
	return Named(vm, o.Get("name").String(), int(o.Get("length").ToInteger()), f)
}
