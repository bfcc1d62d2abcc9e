package csharp

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
	"github.com/weft-run/weft/pkg/workflow"
)

// operand reads what has no operator at its top.
func (p *reader) operand() typed.Expr {
	t := p.Tok
	e := typed.Expr{Off: t.Off, Prec: typed.Primary, Constant: true, Written: true}
	switch t.Class {
	case scan.Quoted:
		p.Advance()
		e.Typ, e.JS, e.Val = typed.Of(typed.Text), typed.Quote(t.Val), t.Val
		return e
	case scan.Letter:
		p.Advance()
		e.Typ, e.JS, e.Val = typed.Of(typed.Char), typed.Quote(t.Val), t.Val
		return e
	case scan.Filled:
		return p.filled()
	case scan.Number:
		p.Advance()
		return p.m.Number(t)
	case scan.Name:
		return p.named()
	case scan.Sign:
		if p.Take("(") {
			holes := p.holes
			p.holes = 0
			in := typed.Done(p.expression())
			p.holes = holes
			if p.Is(",") {
				scan.Fail(t.Off, "a tuple", "write an anonymous object, new { … }")
			}
			p.Want(")")
			in.JS, in.Prec, in.Off, in.Call, in.Target = "("+in.JS+")", typed.Primary, t.Off, false, nil
			in.JS, in.Written = typed.Strip(in.JS), false
			return in
		}
		if p.Is("[") {
			scan.Fail(t.Off, "a list without a type", "write new[] { … }, or give it to a local variable with a type")
		}
	case scan.End:
	}
	scan.Fail(t.Off, p.Found(), "here a value is expected")
	return e
}

// constants are values by their words.
var constants = map[string]typed.Expr{
	"true": {Typ: typed.Of(typed.Boolean), JS: "true"}, "false": {Typ: typed.Of(typed.Boolean), JS: "false"}, "null": {Typ: typed.Of(typed.Null), JS: "null"},
}

// statics are names of types and of what Elsa gives, whose members are in the table.
var statics = map[string]string{
	"string": "string", "String": "string", "int": "int", "Int32": "int", "long": "long", "Int64": "long", "double": "double", "Double": "double", "decimal": "decimal", "Decimal": "decimal",
	"bool": "bool", "Boolean": "bool", "char": "char", "Char": "char", "Math": "Math", "Convert": "Convert", "Guid": "Guid", "DateTime": "DateTime", "DateTimeOffset": "DateTime", "TimeSpan": "TimeSpan",
	"Environment": "Environment", "StringComparison": "StringComparison", "StringSplitOptions": "StringSplitOptions", "MidpointRounding": "MidpointRounding", "DayOfWeek": "DayOfWeek",
	"Variables": "Variables", "Variable": "Variables", "Input": "Inputs", "Inputs": "Inputs", "Output": "Output", "Outcome": "Outcome", "ExecutionContext": "ExecutionContext", "System": "System",
}

// named reads what a name begins.
func (p *reader) named() typed.Expr {
	t := p.Tok
	if !t.At {
		if e, ok := constants[t.Text]; ok {
			p.Advance()
			e.Off, e.Prec, e.Constant, e.Written = t.Off, typed.Primary, true, true
			return e
		}
		switch t.Text {
		case "new":
			p.Advance()
			return p.creation(t.Off)
		case "default":
			p.Advance()
			if !p.Take("(") {
				scan.Fail(t.Off, "default without a type", "write default(int), or the value")
			}
			t1, ok := p.typeName()
			if !ok {
				scan.Fail(p.Tok.Off, p.Found(), "here a type is expected")
			}
			p.Want(")")
			return typed.Zero(t1, t.Off)
		}
	}
	if l, ok := p.local(t.Text); ok {
		p.Advance()
		e := typed.Expr{Typ: l.Typ, JS: l.JS, Prec: typed.Primary, Off: t.Off}
		if !l.fixed {
			e.Target = &typed.Target{Typ: l.Typ, Plain: true, Local: true, Write: func(js string) string { return l.JS + " = " + js }}
		}
		return e
	}
	if e, ok := (globals{p}).property(t); ok {
		return e
	}
	if s, ok := statics[t.Text]; ok {
		p.Advance()
		return typed.Expr{Typ: typed.Typ{Kind: typed.Static, Name: s}, JS: t.Text, Prec: typed.Primary, Off: t.Off}
	}
	if instead, ok := scan.Beyond[t.Text]; ok {
		scan.Fail(t.Off, t.Text, instead)
	}
	s := p.Save()
	if p.Advance(); p.Is("=>") {
		scan.Fail(t.Off, "a function (=>)", "there is no LINQ and no function of the script's own; write a foreach or a for")
	}
	p.Restore(s)
	p.unknown(t)
	return typed.Expr{}
}

// unknown refuses a name that nothing has.
func (p *reader) unknown(t scan.Token) {
	instead := scan.Instead(t.Text)
	known := make([]string, 0, len(statics))
	for n := range statics {
		known = append(known, n)
	}
	for _, s := range p.scopes {
		for n := range s {
			known = append(known, n)
		}
	}
	if near := workflow.Nearest(t.Text, known); near != "" {
		instead = "did you mean " + near + "?"
	}
	scan.Fail(t.Off, "the name "+workflow.Shorten(t.Text), instead)
}

// property reads one that Elsa's scripts have.
func (g globals) property(t scan.Token) (typed.Expr, bool) {
	p := g.p
	e := typed.Expr{Typ: typed.Of(typed.Text), Prec: typed.Primary, Off: t.Off}
	switch t.Text {
	case "WorkflowInstanceId":
		e.JS = "getWorkflowInstanceId()"
	case "CorrelationId":
		e.JS = "getCorrelationId()"
		e.Target = &typed.Target{Typ: e.Typ, Plain: true, Write: func(js string) string { return "setCorrelationId(" + js + ")" }}
	case "WorkflowInstanceName":
		e.JS = "getWorkflowInstanceName()"
		e.Target = &typed.Target{Typ: e.Typ, Plain: true, Write: func(js string) string { return "setWorkflowInstanceName(" + js + ")" }}
	default:
		return e, false
	}
	p.Advance()
	return e, true
}

// creation reads what follows new.
func (p *reader) creation(at int) typed.Expr {
	if p.Is("{") {
		return p.anonymousObject(at)
	}
	if p.Is("[") {
		p.Advance()
		p.Want("]")
		if !p.Is("{") {
			scan.Fail(p.Tok.Off, p.Found(), "here { is expected")
		}
		return p.inferred(at)
	}
	if p.Is("(") {
		scan.Fail(at, "new() where its type is not known", "write the type")
	}
	from := p.Tok
	t, ok := p.typeName()
	if !ok {
		instead := "write an anonymous object, new { … }, a list or a dictionary"
		if from.Text == "Random" || from.Text == "HttpClient" || from.Text == "StringBuilder" || from.Text == "JsonObject" {
			p.unknown(from)
		}
		scan.Fail(at, "new "+workflow.Shorten(from.Text), instead)
	}
	if p.Is("[") {
		scan.Fail(p.Tok.Off, "an array of a given length", "write a List and Add, or the elements, as in new[] { 0, 0 }")
	}
	return p.created(t, at)
}

// inferred reads new[] { … }.
func (p *reader) inferred(at int) typed.Expr {
	p.Want("{")
	var parts []typed.Expr
	t := typed.Of(typed.Null)
	for !p.Is("}") {
		e := typed.Done(p.expression())
		if len(parts) == 0 {
			t = e.Typ
		} else {
			t = typed.Common(t, e.Typ)
		}
		parts = append(parts, e)
		if !p.Take(",") {
			break
		}
	}
	p.Want("}")
	if t.Kind == typed.Null || t.Kind == typed.Void || t.Kind == typed.Static || t.Kind == typed.Object && len(parts) > 0 && parts[0].Kind != typed.Object && parts[0].Kind != typed.Anonymous {
		scan.Fail(at, "new[] whose type is not clear", "write the type, as in new object[] { … }")
	}
	js := make([]string, len(parts))
	for i, e := range parts {
		js[i] = typed.To(e, t).At(typed.Arm)
	}
	return typed.Expr{Typ: typed.ListOf(t, "Length"), JS: "[" + strings.Join(js, ", ") + "]", Prec: typed.Primary, Off: at}
}

// anonymousObject reads new { a = 1, x.B }.
func (p *reader) anonymousObject(at int) typed.Expr {
	p.enter(at)
	defer p.leave()
	p.Want("{")
	fields := map[string]*typed.Typ{}
	var parts []string
	for !p.Is("}") {
		key := ""
		s := p.Save()
		if id := p.Tok; id.Class == scan.Name {
			p.Advance()
			if p.Is("=") {
				p.Advance()
				key = id.Text
			} else {
				p.Restore(s)
			}
		}
		e := typed.Done(p.expression())
		if key == "" {
			key = p.Src[s.Tok.Off:p.Last]
			key = key[strings.LastIndexByte(key, '.')+1:]
			if strings.ContainsFunc(key, func(r rune) bool { return r < '0' || r > '9' && r < 'A' }) || key == "" {
				scan.Fail(e.Off, "a member without a name", "write a name, as in new { Name = … }")
			}
		}
		if e.Kind == typed.Void || e.Kind == typed.Null || fields[key] != nil || key == "__proto__" {
			scan.Fail(e.Off, "the member "+workflow.Shorten(key), "give each member a name of its own and a value; null needs a type, as in (string)null")
		}
		t := e.Typ
		fields[key] = &t
		parts = append(parts, typed.Property(key)+": "+e.At(typed.Arm))
		if !p.Take(",") {
			break
		}
	}
	p.Want("}")
	return typed.Expr{Typ: typed.Typ{Kind: typed.Anonymous, Fields: fields}, JS: typed.ObjectOf(parts), Prec: typed.Primary, Off: at}
}

// created reads what follows new T.
func (p *reader) created(t typed.Typ, at int) typed.Expr {
	var args []typed.Expr
	if p.Is("(") {
		args = p.arguments()
	} else if !p.Is("{") {
		scan.Fail(p.Tok.Off, p.Found(), "here ( or { is expected")
	}
	switch {
	case t.Kind == typed.List && len(args) == 0:
		if p.Take("{") {
			return p.elements("}", *t.Elem, t, at)
		}
		return typed.Expr{Typ: t, JS: "[]", Prec: typed.Primary, Off: at}
	case t.Kind == typed.List && len(args) == 1 && args[0].Kind == typed.List && typed.Converts(args[0].Typ, t):
		return typed.Call(at, t, "%s.slice()", typed.Done(args[0]).At(typed.Primary))
	case (t.Kind == typed.Dict || t.Kind == typed.Dynamic) && len(args) == 0:
		return p.entries(t, at)
	case t.Kind == typed.Date && len(args) == 7 && args[6].JS != "TimeSpan.Zero":
		scan.Fail(args[6].Off, "a DateTimeOffset with an offset", "write TimeSpan.Zero, and the time in UTC")
	case t.Kind == typed.Date || t.Kind == typed.Span || t.Kind == typed.GUID:
		if e, ok := typed.Member(typed.Expr{Typ: typed.Typ{Kind: typed.Static, Name: t.KindName()}, Off: at, Prec: typed.Primary}, "new", args, true, at); ok {
			return e
		}
	}
	scan.Fail(at, fmt.Sprintf("new %s with these values", t), "write an empty one, or elements in braces")
	return typed.Expr{}
}

// entries reads { ["k"] = v } or { { "k", v } }.
func (p *reader) entries(t typed.Typ, at int) typed.Expr {
	elem := typed.Of(typed.Dynamic)
	if t.Kind == typed.Dict {
		elem = *t.Elem
	}
	var parts []string
	seen := map[string]bool{}
	if p.Take("{") {
		for !p.Is("}") {
			closing := "]"
			two := p.Take("{")
			if !two {
				p.Want("[")
			}
			key := typed.To(p.expression(), typed.Of(typed.Text))
			if two {
				p.Want(",")
				closing = "}"
			} else {
				p.Want("]")
				p.Want("=")
			}
			value := typed.To(p.expected(elem), elem).At(typed.Arm)
			if two {
				p.Want(closing)
			}
			if key.Written && seen[key.Val] {
				scan.Fail(key.Off, "a second key "+workflow.Shorten(key.Val), "leave one of them out")
			}
			seen[key.Val] = seen[key.Val] || key.Written
			name := "[" + key.JS + "]"
			if key.Written && key.Val != "__proto__" {
				name = typed.Property(key.Val)
			} else if !key.Written {
				name = "[CSharp.key(" + key.JS + ")]"
			}
			parts = append(parts, name+": "+value)
			if !p.Take(",") {
				break
			}
		}
		p.Want("}")
	}
	return typed.Expr{Typ: t, JS: typed.ObjectOf(parts), Prec: typed.Primary, Off: at}
}

// arguments reads ( … ).
func (p *reader) arguments() []typed.Expr {
	p.enter(p.Tok.Off)
	defer p.leave()
	holes := p.holes
	p.holes = 0
	defer func() { p.holes = holes }()
	p.Want("(")
	var args []typed.Expr
	for !p.Is(")") {
		if len(args) > mostChain {
			scan.Fail(p.Tok.Off, "more than 100 arguments", "split it up")
		}
		if p.Is("out") || p.Is("ref") || p.Is("in") {
			args = append(args, p.outArgument())
		} else {
			e := p.expression()
			if p.Is(":") {
				scan.Fail(e.Off, "an argument by its name", "write its value at its place")
			}
			args = append(args, e)
		}
		if !p.Take(",") {
			break
		}
	}
	p.Want(")")
	return args
}

// outArgument reads out var x, out int x or out x.
func (p *reader) outArgument() typed.Expr {
	at := p.Tok.Off
	word := p.Tok.Text
	p.Advance()
	t, known := typed.Typ{}, false
	inferred := p.Take("var")
	if !inferred {
		s := p.Save()
		if t, known = p.typeName(); known && p.Tok.Class != scan.Name {
			p.Restore(s)
			known = false
		}
	}
	id := p.Identifier()
	if word != "out" {
		scan.Fail(at, word, "give the value itself")
	}
	if inferred || known {
		if p.fixed {
			scan.Fail(at, "out with a new variable in the head of a loop or an else if", "declare it before, and write out "+id.Text)
		}
		l := p.declare(id, t, false)
		l.open = inferred
		p.scopes[len(p.scopes)-1][id.Text] = l
		p.line("let %s;", l.JS)
		return typed.Expr{Typ: typed.Typ{Kind: typed.Static, Name: "out"}, JS: l.JS, Val: id.Text, Off: at}
	}
	l, ok := p.local(id.Text)
	if !ok || l.fixed {
		scan.Fail(id.Off, "out "+workflow.Shorten(id.Text), "declare the variable before")
	}
	return typed.Expr{Typ: typed.Typ{Kind: typed.Static, Name: "out"}, JS: l.JS, Val: id.Text, Off: at}
}

// postfix reads members, elements and calls.
func (p *reader) postfix(e typed.Expr) typed.Expr {
	for chain := 0; ; chain++ {
		if chain > mostChain {
			scan.Fail(p.Tok.Off, "more than 100 members in a row", "split it up with local variables")
		}
		at := p.Tok.Off
		switch {
		case p.Is("."):
			p.Advance()
			e = p.memberOf(e, e.Off)
		case p.Is("["):
			e = p.element(e)
		case p.Is("?."), p.Is("?") && strings.HasPrefix(p.Src[p.Pos:], "[") && p.Tok.Off == p.Last: // x ?[0] : y has a space
			return p.conditional(e, at)
		case p.Is("!") && !strings.HasPrefix(p.Src[p.Pos:], "="):
			p.Advance()
		case p.Is("("):
			scan.Fail(at, "a call of this", "only methods of values and types are called; a script has no functions of its own")
		default:
			return e
		}
	}
}

// conditional reads x?.M… : null if x is, else what follows.
func (p *reader) conditional(e typed.Expr, at int) typed.Expr {
	e = typed.Done(e)
	if e.IsValue() {
		scan.Fail(at, "?. of a "+e.Typ.String()+", which is never null", "write . instead")
	}
	p.enter(at)
	defer p.leave()
	p.unique++
	it := fmt.Sprintf("$%d", p.unique)
	inner := typed.Expr{Typ: e.Typ, JS: it, Prec: typed.Primary, Off: e.Off}
	inner.Nullable = false
	element := p.Is("?")
	p.Advance()
	if element {
		inner = p.element(inner)
	} else {
		inner = p.memberOf(inner, e.Off)
	}
	inner = typed.Done(p.postfix(inner))
	t := inner.Typ
	if t.IsValue() {
		t.Nullable = true
	}
	return typed.Expr{Typ: t, JS: fmt.Sprintf("((%s) => %s == null ? null : %s)(%s)", it, it, inner.At(typed.Arm), e.JS), Prec: typed.Primary, Off: e.Off, Call: inner.Call}
}
