package js

import (
	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/js/rewrite"
)

// hardenLanguages refuses what depends on a language where the script computes the name of it.
func (x *scriptRun) hardenLanguages(want func(string) bool) {
	refuse := func(name string) before {
		return func(*goja.FunctionCall) { panic(x.vm.NewTypeError("%s", rewrite.NoLanguage(name))) }
	}
	for _, of := range []string{"Number", "Date", "Object"} {
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
