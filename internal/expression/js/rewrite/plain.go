package rewrite

import (
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// plain looks at one node; it is told every node of the tree.
func plain(n any) bool {
	switch n := n.(type) {
	case *ast.ArrayLiteral:
		for _, e := range n.Value {
			switch e.(type) {
			case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
			default:
				return false
			}
		}
	case *ast.SpreadElement, *ast.ArrayPattern, *ast.ClassLiteral, *ast.WithStatement, *ast.RegExpLiteral:
		return false
	case *ast.ObjectPattern:
		return n.Rest == nil
	case *ast.TemplateLiteral:
		return n.Tag == nil
	case *ast.FunctionLiteral:
		return !n.Async
	case *ast.ArrowFunctionLiteral:
		return !n.Async
	}
	return true
}

// Reflective are names by which a script could reach any builtin without
// mentioning it: all of them are hardened then.
var Reflective = strings.Fields(`
	constructor __proto__ Reflect eval Function getOwnPropertyDescriptor getOwnPropertyDescriptors getOwnPropertyNames
`)

// harmless are names of builtins that a plain script may use: their cost is
// that of their arguments, and they lead nowhere.
var harmless = strings.Fields(`
	undefined NaN Infinity length name message value
	trim trimStart trimEnd toUpperCase toLowerCase startsWith endsWith charAt substring
	toFixed isNaN isFinite parseInt parseFloat Number Boolean Date Math now getTime toISOString
	floor ceil round abs min max random sqrt PI
	getFullYear getMonth getDate getHours getMinutes getSeconds Error
`)

// BuiltinNames are the names of all globals and of the properties of all builtins,
// without the harmless ones.
var BuiltinNames = sync.OnceValue(func() map[string]bool {
	vm := goja.New()
	v, err := vm.RunString(`
		const seen = new Set(), names = new Set();
		const visit = o => {
			if (o === null || typeof o !== 'object' && typeof o !== 'function' || seen.has(o)) return;
			seen.add(o);
			visit(Object.getPrototypeOf(o));
			for (const k of Reflect.ownKeys(o)) {
				if (typeof k === 'string') names.add(k);
				const d = Object.getOwnPropertyDescriptor(o, k);
				visit(d.value); visit(d.get); visit(d.set);
			}
		};
		visit(globalThis); visit(function*(){}); visit(async () => {}); visit([][Symbol.iterator]());
		visit(new Map()[Symbol.iterator]()); visit(new Set()[Symbol.iterator]()); visit(''[Symbol.iterator]());
		visit((function*(){})()); visit(''.matchAll(/x/g)); visit((function(){ return arguments })());
		Array.from(names)`)
	if err != nil {
		panic(err) // the text above is ours
	}
	var list []string
	if err := vm.ExportTo(v, &list); err != nil {
		panic(err)
	}
	names := make(map[string]bool, len(list))
	for _, n := range list {
		names[n] = true
	}
	for _, n := range harmless {
		delete(names, n)
	}
	return names
})
