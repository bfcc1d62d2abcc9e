package rewrite

import (
	"errors"
	"reflect"
	"strings"
	"unicode"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
)

func ident(s string) unistring.String { return unistring.NewFromString(s) }

// Gone are builtins that scripts of workflows do not need, and that would make
// code, memory or recursion that nothing bounds.
var Gone = strings.Fields(`
	eval Function ArrayBuffer SharedArrayBuffer DataView Atomics Proxy BigInt
	Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
	Float32Array Float64Array BigInt64Array BigUint64Array
`)

// LowerFirst is the name with a small first letter.
func LowerFirst(s string) string {
	r := []rune(s)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

// A script that returns is read within these.
const (
	WrapHead = "(function(){"
	WrapTail = "\n})()"
)

// Parse reads a script.
func Parse(source string) (*ast.Program, error) {
	// Without the option the parser would read the files that source maps name.
	return parser.ParseFile(nil, "", source, 0, parser.WithDisableSourceMaps)
}

// IsReturn reports whether a script cannot be read because it returns outside of a function.
func IsReturn(err error) bool {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return false
	}
	return list[0].Message == "Illegal return statement"
}

// A script is plain if it needs no hardening: it has no spreads, no lists but of
// constants, and no name in it is that of a builtin or of a property of one,
// harmless ones aside. Most scripts of workflows are plain.

// TypeIdentifier is of what has a name, and nothing below.
var TypeIdentifier = reflect.TypeFor[ast.Identifier]()

// MaxLevels bounds how deep the nodes of a script's syntax are nested. The
// compiler walks down a chain of operators again at each of its levels, and
// nothing can stop it.
const MaxLevels = 500

var typeExpression = reflect.TypeFor[ast.Expression]()

// TypeFile is of the text of a script, which its nodes lead back to.
var TypeFile = reflect.TypeFor[*file.File]()
