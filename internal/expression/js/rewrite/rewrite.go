package rewrite

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/pattern"
)

// Names of the functions that rewritten scripts call. No script can spell them
// as identifiers.
const (
	FnPlus  = "+"
	FnText  = "${}"
	FnPlusT = ".+="
	FnKey   = "[]"
	FnMany  = "{...}" // also the name of the property that a rest asks for
	FnDate  = "(Date)"
	FnPower = "**"
	FnPowTo = ".**="
	FnCatch = "(catch)"
)

// maxSpreads bounds the spread elements of one list or call, so that one step
// cannot make much out of little.
const maxSpreads = 4

// ShortText is how much text one step may add unseen.
const ShortText = 64

// refusal is why a script is refused, and where.
type refusal struct {
	At      file.Idx
	Message string
	Cause   error // or nil
}

// Rewriter changes a script's syntax tree so that the run sees all that
// joins texts. The machine has no hook for that, and doubling a text forty times
// would take a terabyte.
type Rewriter struct {
	Seen    map[any]bool
	depth   int // of the node that is looked at
	Refused *refusal
	Fancy   bool            // the script is not plain
	Names   map[string]bool // of builtins, that it mentions
	Pattern bool            // it has a regular expression
	Rest    bool            // it has a pattern that takes the rest of an object

	tested map[*ast.RegExpLiteral]bool // whose groups nobody reads
}

// Walk rewrites all that is below v.
func (w *Rewriter) Walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		w.Walk(v.Elem())
		if v.Type() == typeExpression && v.CanSet() {
			if e := w.replace(v.Interface().(ast.Expression)); e != nil {
				v.Set(reflect.ValueOf(e))
			}
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == TypeFile || w.Seen[v.Interface()] {
			return
		}
		w.Seen[v.Interface()] = true
		if w.depth++; w.depth > MaxLevels {
			w.tooDeep(v.Interface())
		} else {
			w.rewrite(v.Interface())
			w.Walk(v.Elem())
		}
		w.depth--
	case reflect.Struct:
		t := v.Type()
		if t == TypeIdentifier {
			w.name(v.Interface().(ast.Identifier).Name.String())
		}
		for i := range v.NumField() {
			// The declaration list repeats what is in the body.
			if f := t.Field(i); f.IsExported() && f.Name != "DeclarationList" {
				w.Walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.Walk(v.Index(i))
		}
	default:
	}
}

// name notes that the script mentions a builtin.
func (w *Rewriter) name(n string) {
	if BuiltinNames()[n] {
		w.Fancy = true
		if w.Names == nil {
			w.Names = map[string]bool{}
		}
		w.Names[n] = true
	}
}

func (w *Rewriter) refuse(at file.Idx, message string) {
	if w.Refused == nil {
		w.Refused = &refusal{At: at, Message: message}
	}
}

func (w *Rewriter) tooDeep(n any) {
	if w.Refused != nil {
		return
	}
	w.Refused = &refusal{Message: fmt.Sprintf("more than %d levels of expressions and statements: %v", MaxLevels, evaluation.ErrDepth), Cause: evaluation.ErrDepth}
	if n, ok := n.(ast.Node); ok {
		w.Refused.At = n.Idx0()
	}
}

// rewrite refuses a node that cannot be bounded, and hardens one that can.
func (w *Rewriter) rewrite(n any) {
	w.Fancy = w.Fancy || !plain(n)
	switch n := n.(type) {
	case *ast.BracketExpression:
		if _, ok := n.Member.(*ast.NumberLiteral); !ok {
			n.Member = call(FnKey, n.Member.Idx0(), n.Member)
		}
	case *ast.PropertyKeyed:
		if key, ok := n.Key.(*ast.StringLiteral); ok {
			w.name(key.Value.String())
		} else if n.Computed {
			n.Key = call(FnKey, n.Key.Idx0(), n.Key)
		}
	case *ast.BinaryExpression:
		w.comparison(n)
	case *ast.RegExpLiteral:
		w.regExp(n)
	case *ast.NumberLiteral:
		if _, ok := n.Value.(*big.Int); ok {
			w.refuse(n.Idx, "BigInt is not supported")
		}
	case *ast.FunctionLiteral:
		if n.Generator { // the machine does not count their calls, so nothing would bound the depth
			w.refuse(n.Idx0(), "generator functions are not supported")
		}
	case *ast.CatchStatement:
		caught(n)
	case *ast.ObjectLiteral:
		w.copies(n.Value)
	case *ast.ObjectPattern:
		if n.Rest != nil {
			w.Rest = true
			n.Properties = append(n.Properties, asked(n.LeftBrace))
		}
	case *ast.ArrayLiteral:
		w.spreads(n.Value)
	case *ast.CallExpression:
		w.spreads(n.ArgumentList)
		w.language(n)
		w.test(n)
	case *ast.NewExpression:
		w.spreads(n.ArgumentList)
		w.newDate(n)
	}
}

// caught puts right what the machine's error says, before the script sees it.
func caught(n *ast.CatchStatement) {
	if name, ok := n.Parameter.(*ast.Identifier); ok {
		said := &ast.ExpressionStatement{Expression: call(FnCatch, name.Idx, &ast.Identifier{Name: name.Name, Idx: name.Idx})}
		n.Body.List = append([]ast.Statement{said}, n.Body.List...)
	}
}

// copies bounds what an object takes over from others.
func (w *Rewriter) copies(properties []ast.Property) {
	for _, p := range properties {
		if s, ok := p.(*ast.SpreadElement); ok {
			s.Expression = call(FnMany, s.Expression.Idx0(), s.Expression)
		}
	}
}

// newDate lets the run see what a date is made from.
func (w *Rewriter) newDate(n *ast.NewExpression) {
	if of, ok := n.Callee.(*ast.Identifier); ok && of.Name == "Date" && len(n.ArgumentList) == 1 {
		n.ArgumentList[0] = call(FnDate, n.ArgumentList[0].Idx0(), n.ArgumentList[0])
	}
}

// comparison refuses 1 < 2 < 3: the parser reads it as 1 < (2 < 3), and the tree does not tell one from the other.
func (w *Rewriter) comparison(n *ast.BinaryExpression) {
	if right, ok := n.Right.(*ast.BinaryExpression); ok && relates(n.Operator) && relates(right.Operator) {
		w.refuse(right.Idx0(), "a comparison is compared with something: join comparisons with &&, as in 1 < x && x < 3")
	}
}

func (w *Rewriter) regExp(n *ast.RegExpLiteral) {
	w.Pattern = true
	if _, err := pattern.Read(n.Pattern, n.Flags); err != nil && !w.tested[n] {
		w.refuse(n.Idx, err.Error())
	}
	if !strings.Contains(n.Flags, "u") {
		return
	}
	written, err := Properties(n.Pattern)
	if err != nil {
		w.refuse(n.Idx, err.Error())
	}
	n.Pattern = written
}

// test notes a regular expression that is only asked whether it matches.
func (w *Rewriter) test(n *ast.CallExpression) {
	of, ok := n.Callee.(*ast.DotExpression)
	if !ok || of.Identifier.Name != "test" {
		return
	}
	if re, ok := of.Left.(*ast.RegExpLiteral); ok {
		if w.tested == nil {
			w.tested = map[*ast.RegExpLiteral]bool{}
		}
		w.tested[re] = true
	}
}

func relates(t token.Token) bool {
	switch t {
	case token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL, token.IN, token.INSTANCEOF:
		return true
	}
	return false
}

// language refuses a call whose result would be that of a language, which the machine does not know.
func (w *Rewriter) language(n *ast.CallExpression) {
	of, ok := n.Callee.(*ast.DotExpression)
	if !ok {
		return
	}
	name := of.Identifier.Name.String()
	from, ok := ofLanguages[name]
	if !ok || len(n.ArgumentList) < from {
		return
	}
	if from == 0 {
		w.refuse(of.Identifier.Idx, NoLanguage(name))
		return
	}
	for _, a := range n.ArgumentList[from-1:] {
		switch a := a.(type) {
		case *ast.Identifier:
			ok = a.Name == "undefined"
		case *ast.StringLiteral:
			ok = English(a.Value.String())
		default:
			ok = false
		}
		if !ok {
			w.refuse(a.Idx0(), NoLanguage(name))
			return
		}
	}
}

// ofLanguages are the builtins whose result depends on a language, with the first argument that says which; 0: it always depends on one.
var ofLanguages = map[string]int{
	"toLocaleString": 0, "toLocaleDateString": 0, "toLocaleTimeString": 0,
	"localeCompare": 2, "toLocaleUpperCase": 1, "toLocaleLowerCase": 1,
}

// NoLanguage is why a call of one of these is refused.
func NoLanguage(name string) string {
	if ofLanguages[name] > 0 {
		return name + " with a language or options is not supported: write it without, or sort by a key of your own"
	}
	return name + " is not supported, as its text is another one on another machine: write toFixed, toISOString or parts such as getUTCMonth(); " +
		"Liquid has {{ … | date: '%d.%m.%Y' }}"
}

// English reports whether a language is English, which orders and changes letters as no language in particular does.
func English(language string) bool { return language == "en" || strings.HasPrefix(language, "en-") }

func (w *Rewriter) spreads(list []ast.Expression) {
	n := 0
	for _, e := range list {
		if s, ok := e.(*ast.SpreadElement); ok {
			if n++; n > maxSpreads {
				w.refuse(s.Idx0(), "more than 4 spread elements in one list")
			}
		}
	}
}

func (w *Rewriter) replace(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		switch e.Left.(type) {
		case *ast.BinaryExpression, *ast.UnaryExpression:
			// The compiler would work it out if it is constant, and at every level
			// of 0||0||0 do so twice. It takes no sequence for a constant.
			e.Left = &ast.SequenceExpression{Sequence: []ast.Expression{e.Left}}
		}
		switch {
		case e.Operator == token.PLUS && !adds(e.Left) && !adds(e.Right):
			return call(FnPlus, e.Idx0(), e.Left, e.Right)
		case e.Operator == token.EXPONENT: // Go's power has other last digits
			return call(FnPower, e.Idx0(), e.Left, e.Right)
		}
	case *ast.AssignExpression:
		switch {
		case e.Operator == token.PLUS && !adds(e.Right):
			return assign(e, FnPlus, FnPlusT)
		case e.Operator == token.EXPONENT:
			return assign(e, FnPower, FnPowTo)
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
		return len(e.Value) <= ShortText
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
		Key:   &ast.StringLiteral{Idx: at, Value: ident(FnMany)},
		Kind:  ast.PropertyKindValue,
		Value: &ast.ObjectPattern{LeftBrace: at, RightBrace: at},
	}
}

// assign makes a call of a += b, and of its like: by is what is done to a name, and to what is done to a property.
func assign(e *ast.AssignExpression, by, to string) ast.Expression {
	switch left := e.Left.(type) {
	case *ast.Identifier:
		return &ast.AssignExpression{Operator: token.ASSIGN, Left: left, Right: call(by, left.Idx, left, e.Right)}
	case *ast.DotExpression:
		if _, super := left.Left.(*ast.SuperExpression); !super {
			key := &ast.StringLiteral{Idx: left.Idx0(), Value: left.Identifier.Name}
			return call(to, left.Idx0(), left.Left, key, e.Right)
		}
	case *ast.BracketExpression:
		if _, super := left.Left.(*ast.SuperExpression); !super {
			return call(to, left.Idx0(), left.Left, left.Member, e.Right)
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
	if len(e.Expressions) == 0 || len(e.Expressions) == 1 && length <= ShortText {
		return nil
	}
	return call(FnText, e.Idx0(), args...)
}
