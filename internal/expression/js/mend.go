package js

import (
	"fmt"
	"regexp"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
)

// What the machine gets wrong in silence is mended or refused here; testdata/node.txt shows it.

// noDate are texts that the machine reads as some time, and that are none: numbers of seconds or milliseconds, the day of a
// year, days and months that there are not.
var noDate = regexp.MustCompile(`^\s*(\d{7,}|\d{4}-(00|\d{3})\b.*|\d{4}-\d\d-00\b.*|\d{1,2}/(3[2-9]|[4-9]\d)/.*)\s*$`)

// date gives what Date is to read: NaN for a text that is no date.
func date(v goja.Value) goja.Value {
	if s, ok := v.(goja.String); ok && s.Length() < 100 && noDate.MatchString(s.String()) {
		return goja.NaN()
	}
	return v
}

// hardenLanguages refuses what depends on a language where the script computes the name of it.
func (x *scriptRun) hardenLanguages(want func(string) bool) {
	refuse := func(name string) before {
		return func(*goja.FunctionCall) { panic(x.vm.NewTypeError(rewrite.NoLanguage(name))) }
	}
	for _, of := range []string{"Number", "Date"} {
		for _, n := range wanted(want, []string{"toLocaleString", "toLocaleDateString", "toLocaleTimeString"}) {
			x.wrap(x.proto(of), n, refuse(n), nil)
		}
	}
	for _, n := range wanted(want, []string{"localeCompare", "toLocaleUpperCase", "toLocaleLowerCase"}) {
		from := 0
		if n == "localeCompare" {
			from = 1
		}
		x.wrap(x.proto("String"), n, func(c *goja.FunctionCall) {
			for _, a := range c.Arguments[min(from, len(c.Arguments)):] {
				if !goja.IsUndefined(a) && !rewrite.English(a.String()) {
					refuse(n)(c)
				}
			}
		}, nil)
	}
}

// parsing is JSON.parse with errors of ours: the machine says them in the words of a library.
func (x *scriptRun) parsing(builtin goja.Callable) func(c goja.FunctionCall) goja.Value {
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
		made, failed := x.vm.New(x.vm.Get("SyntaxError"), x.vm.ToValue(message))
		if failed != nil {
			panic(failed)
		}
		panic(made)
	}
}
