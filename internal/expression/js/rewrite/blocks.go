package rewrite

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// scope is where names are declared: a function, or a block of one.
type scope struct {
	around   *scope
	function bool
	lexical  map[string]bool // by let, const and class, as a parameter, and functions of a block
	vars     map[string]bool // by var, and functions of a function
	leaked   map[string]bool // functions of blocks below, which JavaScript makes variables of the function, and the machine does not
}

// use is a name that is read or written.
type use struct {
	name string
	at   file.Idx
	in   *scope
}

// blocks finds uses of a function outside of the block that declares it.
type blocks struct {
	scope  *scope
	uses   []use
	made   []use // functions of blocks
	strict bool
}

// outside gives the first name that means a function of a block and stands outside of it.
func outside(program *ast.Program) (name string, at file.Idx, found bool) {
	b := &blocks{}
	b.within(true, func() { b.list(program.Body, false) })
	if b.strict {
		return "", 0, false
	}
	for _, f := range b.made {
		b.leak(f)
	}
	for _, u := range b.uses {
		for s := u.in; s != nil && !s.lexical[u.name]; s = s.around {
			if s.leaked[u.name] {
				return u.name, u.at, true
			}
			if s.vars[u.name] {
				break
			}
		}
	}
	return "", 0, false
}

// leak makes a function of a block a variable of the function around, unless a name between them is the same.
func (b *blocks) leak(f use) {
	for s := f.in.around; s != nil && !s.lexical[f.name]; s = s.around {
		if s.function {
			s.leaked[f.name] = true
			return
		}
	}
}

func (b *blocks) within(function bool, walk func()) {
	b.scope = &scope{b.scope, function, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	walk()
	b.scope = b.scope.around
}

// list walks statements. Those of a block may be functions of it.
func (b *blocks) list(statements []ast.Statement, block bool) {
	for i, s := range statements {
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			if name := s.Function.Name; name != nil && block {
				b.scope.lexical[name.Name.String()] = true
				if !s.Function.Async && !s.Function.Generator {
					b.made = append(b.made, use{name.Name.String(), name.Idx, b.scope})
				}
			} else if name != nil {
				b.scope.vars[name.Name.String()] = true
			}
		case *ast.ExpressionStatement:
			if text, ok := s.Expression.(*ast.StringLiteral); ok && i == 0 && text.Value == "use strict" {
				b.strict = true // where only a function is strict, nothing is refused either
			}
		}
	}
	for _, s := range statements {
		b.walk(reflect.ValueOf(s))
	}
}

// declare notes the names of what is declared.
func (b *blocks) declare(target ast.Node, in map[string]bool) {
	switch t := target.(type) {
	case *ast.Identifier:
		if t != nil {
			in[t.Name.String()] = true
		}
	case *ast.Binding:
		b.declare(t.Target, in)
	case *ast.AssignExpression:
		b.declare(t.Left, in)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			b.declare(e, in)
		}
		b.declare(t.Rest, in)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				in[p.Name.Name.String()] = true
			case *ast.PropertyKeyed:
				b.declare(p.Value, in)
			}
		}
		b.declare(t.Rest, in)
	}
}

func (b *blocks) bindings(list []*ast.Binding, lexical bool) {
	in := b.scope.lexical
	if !lexical {
		s := b.scope
		for !s.function {
			s = s.around
		}
		in = s.vars
	}
	for _, n := range list {
		b.declare(n, in)
	}
}

func (b *blocks) function(parameters *ast.ParameterList, name *ast.Identifier, body ast.Node) {
	b.within(true, func() {
		b.declare(name, b.scope.vars)
		if parameters != nil {
			b.bindings(parameters.List, true)
			b.declare(parameters.Rest, b.scope.lexical)
			b.walk(reflect.ValueOf(parameters).Elem())
		}
		if block, ok := body.(*ast.BlockStatement); ok {
			b.list(block.List, false)
		} else {
			b.walk(reflect.ValueOf(body))
		}
	})
}

// walk looks at all that is below v.
func (b *blocks) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			b.walk(v.Elem())
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != TypeFile && !b.node(v.Interface()) {
			b.walk(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == TypeIdentifier {
			id, _ := v.Interface().(ast.Identifier)
			b.uses = append(b.uses, use{id.Name.String(), id.Idx, b.scope})
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" && f.Name != "Label" {
				b.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			b.walk(v.Index(i))
		}
	default:
	}
}

// node looks at what declares names or is a scope; false for the rest.
func (b *blocks) node(n any) bool {
	switch n := n.(type) {
	case *ast.DotExpression:
		b.walk(reflect.ValueOf(n.Left))
	case *ast.FunctionDeclaration:
		b.function(n.Function.ParameterList, nil, n.Function.Body)
	case *ast.FunctionLiteral:
		b.function(n.ParameterList, n.Name, n.Body)
	case *ast.ArrowFunctionLiteral:
		b.function(n.ParameterList, nil, n.Body)
	case *ast.BlockStatement:
		b.within(false, func() { b.list(n.List, true) })
	case *ast.SwitchStatement:
		b.walk(reflect.ValueOf(n.Discriminant))
		b.within(false, func() {
			var all []ast.Statement
			for _, c := range n.Body {
				b.walk(reflect.ValueOf(c.Test))
				all = append(all, c.Consequent...)
			}
			b.list(all, true)
		})
	case *ast.CatchStatement:
		b.within(false, func() {
			b.declare(n.Parameter, b.scope.lexical)
			b.list(n.Body.List, true)
		})
	default:
		b.declares(n)
		return b.loop(n)
	}
	return true
}

// loop is a scope of what it declares.
func (b *blocks) loop(n any) bool {
	switch n.(type) {
	case *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement:
		b.within(false, func() { b.walk(reflect.ValueOf(n).Elem()) })
		return true
	}
	return false
}

func (b *blocks) declares(n any) {
	switch n := n.(type) {
	case *ast.VariableStatement:
		b.bindings(n.List, false)
	case *ast.ForLoopInitializerVarDeclList:
		b.bindings(n.List, false)
	case *ast.ForIntoVar:
		b.bindings([]*ast.Binding{n.Binding}, false)
	case *ast.LexicalDeclaration:
		b.bindings(n.List, true)
	case *ast.ForLoopInitializerLexicalDecl:
		b.bindings(n.LexicalDeclaration.List, n.LexicalDeclaration.Token != token.VAR)
	case *ast.ForDeclaration:
		b.declare(n.Target, b.scope.lexical)
	case *ast.ClassDeclaration:
		b.declare(n.Class.Name, b.scope.lexical)
	}
}

// Blocks refuses a function of a block that is used outside of it: JavaScript has it there too, once the block ran, and the machine does
// not. It is asked behind Walk, which refuses what is too deep to be walked.
func (w *Rewriter) Blocks(program *ast.Program) {
	if w.Refused != nil {
		return
	}
	if name, at, found := outside(program); found {
		w.refuse(at, "the function "+name+" is declared within a block and used outside of it: declare it outside")
	}
}
