package js

import (
	"fmt"
	"math/big"
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// Names of the functions that rewritten scripts call. No script can spell them
// as identifiers.
const (
	fnPlus  = "+"
	fnText  = "${}"
	fnPlusT = ".+="
	fnKey   = "[]"
	fnMany  = "{...}" // also the name of the property that a rest asks for
)

// maxSpreads bounds the spread elements of one list or call, so that one step
// cannot make much out of little.
const maxSpreads = 4

// shortText is how much text one step may add unseen.
const shortText = 64

// maxLevels bounds how deep the nodes of a script's syntax are nested. The
// compiler walks down a chain of operators again at each of its levels, and
// nothing can stop it.
const maxLevels = 500

// refusal is why a script is refused, and where.
type refusal struct {
	at      file.Idx
	message string
	cause   error // or nil
}

// rewriter changes a script's syntax tree so that the run sees all that
// joins texts. The machine has no hook for that, and doubling a text forty times
// would take a terabyte.
type rewriter struct {
	seen    map[any]bool
	depth   int // of the node that is looked at
	refused *refusal
	fancy   bool            // the script is not plain
	names   map[string]bool // of builtins, that it mentions
	pattern bool            // it has a regular expression
	rest    bool            // it has a pattern that takes the rest of an object
}

var (
	typeExpression = reflect.TypeFor[ast.Expression]()
	typeFile       = reflect.TypeFor[*file.File]()
)

func (w *rewriter) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		w.walk(v.Elem())
		if v.Type() == typeExpression && v.CanSet() {
			if e := w.replace(v.Interface().(ast.Expression)); e != nil {
				v.Set(reflect.ValueOf(e))
			}
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == typeFile || w.seen[v.Interface()] {
			return
		}
		w.seen[v.Interface()] = true
		if w.depth++; w.depth > maxLevels {
			w.tooDeep(v.Interface())
		} else {
			w.rewrite(v.Interface())
			w.walk(v.Elem())
		}
		w.depth--
	case reflect.Struct:
		t := v.Type()
		if t == typeIdentifier {
			w.name(v.Interface().(ast.Identifier).Name.String())
		}
		for i := range v.NumField() {
			// The declaration list repeats what is in the body.
			if f := t.Field(i); f.IsExported() && f.Name != "DeclarationList" {
				w.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	default:
	}
}

// name notes that the script mentions a builtin.
func (w *rewriter) name(n string) {
	if builtinNames()[n] {
		w.fancy = true
		if w.names == nil {
			w.names = map[string]bool{}
		}
		w.names[n] = true
	}
}

func (w *rewriter) refuse(at file.Idx, message string) {
	if w.refused == nil {
		w.refused = &refusal{at: at, message: message}
	}
}

func (w *rewriter) tooDeep(n any) {
	if w.refused != nil {
		return
	}
	w.refused = &refusal{message: fmt.Sprintf("more than %d levels of expressions and statements: %v", maxLevels, evaluation.ErrDepth), cause: evaluation.ErrDepth}
	if n, ok := n.(ast.Node); ok {
		w.refused.at = n.Idx0()
	}
}

// rewrite refuses a node that cannot be bounded, and hardens one that can.
func (w *rewriter) rewrite(n any) {
	w.fancy = w.fancy || !plain(n)
	switch n := n.(type) {
	case *ast.BracketExpression:
		if _, ok := n.Member.(*ast.NumberLiteral); !ok {
			n.Member = call(fnKey, n.Member.Idx0(), n.Member)
		}
	case *ast.PropertyKeyed:
		if key, ok := n.Key.(*ast.StringLiteral); ok {
			w.name(key.Value.String())
		} else if n.Computed {
			n.Key = call(fnKey, n.Key.Idx0(), n.Key)
		}
	case *ast.RegExpLiteral:
		w.pattern = true
	case *ast.NumberLiteral:
		if _, ok := n.Value.(*big.Int); ok {
			w.refuse(n.Idx, "BigInt is not supported")
		}
	case *ast.FunctionLiteral:
		if n.Generator { // the machine does not count their calls, so nothing would bound the depth
			w.refuse(n.Idx0(), "generator functions are not supported")
		}
	case *ast.ObjectLiteral:
		for _, p := range n.Value {
			if s, ok := p.(*ast.SpreadElement); ok {
				s.Expression = call(fnMany, s.Expression.Idx0(), s.Expression)
			}
		}
	case *ast.ObjectPattern:
		if n.Rest != nil {
			w.rest = true
			n.Properties = append(n.Properties, asked(n.LeftBrace))
		}
	case *ast.ArrayLiteral:
		w.spreads(n.Value)
	case *ast.CallExpression:
		w.spreads(n.ArgumentList)
	case *ast.NewExpression:
		w.spreads(n.ArgumentList)
	}
}

func (w *rewriter) spreads(list []ast.Expression) {
	n := 0
	for _, e := range list {
		if s, ok := e.(*ast.SpreadElement); ok {
			if n++; n > maxSpreads {
				w.refuse(s.Idx0(), "more than 4 spread elements in one list")
			}
		}
	}
}

func (w *rewriter) replace(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		switch e.Left.(type) {
		case *ast.BinaryExpression, *ast.UnaryExpression:
			// The compiler would work it out if it is constant, and at every level
			// of 0||0||0 do so twice. It takes no sequence for a constant.
			e.Left = &ast.SequenceExpression{Sequence: []ast.Expression{e.Left}}
		}
		if e.Operator == token.PLUS && !adds(e.Left) && !adds(e.Right) {
			return call(fnPlus, e.Idx0(), e.Left, e.Right)
		}
	case *ast.AssignExpression:
		if e.Operator == token.PLUS && !adds(e.Right) {
			return plusAssign(e)
		}
	case *ast.TemplateLiteral:
		if e.Tag == nil {
			return textOf(e)
		}
	}
	return nil
}

// adds reports whether e adds at most a little to a text.
func adds(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.StringLiteral:
		return len(e.Value) <= shortText
	}
	return false
}

func call(name string, at file.Idx, args ...ast.Expression) ast.Expression {
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: ident(name), Idx: at},
		LeftParenthesis:  at,
		ArgumentList:     args,
		RightParenthesis: at,
	}
}

// asked is the property {"{...}": {}} of a pattern that takes the rest of an
// object: reading it lets hardenRest see the object before it is copied.
func asked(at file.Idx) ast.Property {
	return &ast.PropertyKeyed{
		Key:   &ast.StringLiteral{Idx: at, Value: ident(fnMany)},
		Kind:  ast.PropertyKindValue,
		Value: &ast.ObjectPattern{LeftBrace: at, RightBrace: at},
	}
}

func plusAssign(e *ast.AssignExpression) ast.Expression {
	switch left := e.Left.(type) {
	case *ast.Identifier:
		return &ast.AssignExpression{Operator: token.ASSIGN, Left: left, Right: call(fnPlus, left.Idx, left, e.Right)}
	case *ast.DotExpression:
		if _, super := left.Left.(*ast.SuperExpression); !super {
			key := &ast.StringLiteral{Idx: left.Idx0(), Value: left.Identifier.Name}
			return call(fnPlusT, left.Idx0(), left.Left, key, e.Right)
		}
	case *ast.BracketExpression:
		if _, super := left.Left.(*ast.SuperExpression); !super {
			return call(fnPlusT, left.Idx0(), left.Left, left.Member, e.Right)
		}
	}
	return nil
}

// textOf gives a call for a template with more than one part that could be long.
func textOf(e *ast.TemplateLiteral) ast.Expression {
	length, args := 0, make([]ast.Expression, 0, 2*len(e.Expressions)+1)
	for i, el := range e.Elements {
		length += len(el.Parsed)
		if el.Parsed != "" {
			args = append(args, &ast.StringLiteral{Idx: el.Idx, Value: el.Parsed})
		}
		if i < len(e.Expressions) {
			args = append(args, e.Expressions[i])
		}
	}
	if len(e.Expressions) == 0 || len(e.Expressions) == 1 && length <= shortText {
		return nil
	}
	return call(fnText, e.Idx0(), args...)
}
