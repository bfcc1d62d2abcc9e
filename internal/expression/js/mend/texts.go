package mend

import (
	"fmt"
	"regexp"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// noDate are texts that the machine reads as some time, and that are none: numbers of seconds or milliseconds, the day of a
// year, days and months that there are not.
var noDate = regexp.MustCompile(`^\s*(\d{7,}|\d{4}-(00|\d{3})\b.*|\d{4}-\d\d-00\b.*|\d{1,2}/(3[2-9]|[4-9]\d)/.*)\s*$`)

// Date gives what Date is to read: NaN for a text that is no date.
func Date(v goja.Value) goja.Value {
	if s, ok := v.(goja.String); ok && s.Length() < 100 && noDate.MatchString(s.String()) {
		return goja.NaN()
	}
	return v
}

// Parsing is JSON.parse with errors of ours: the machine says them in the words of a library.
func Parsing(vm *goja.Runtime, builtin goja.Callable) func(c goja.FunctionCall) goja.Value {
	return func(c goja.FunctionCall) goja.Value {
		v, err := builtin(c.This, c.Arguments...)
		if err == nil {
			return v
		}
		if _, revives := goja.AssertFunction(c.Argument(1)); revives { // it may be an error of the script
			if _, wrong := builtin(c.This, c.Argument(0)); wrong == nil {
				panic(err)
			}
		}
		message := "this JSON has a number that is beyond what JavaScript holds"
		if _, at, wrong := evaluation.ParseJSON(c.Argument(0).String()); wrong != nil {
			message = fmt.Sprintf("this is not JSON, at character %d: %v", at+1, wrong)
		}
		made, failed := vm.New(vm.Get("SyntaxError"), vm.ToValue(message))
		if failed != nil {
			panic(failed)
		}
		panic(made)
	}
}
