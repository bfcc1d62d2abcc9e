package csharp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
	"github.com/weft-run/weft/pkg/workflow"
)

// globals are the types that a script names, and what Elsa gives to scripts.
type globals struct{ p *reader }

// statically finds the members of a type, or of what Elsa gives to scripts; nil if the name is that of an enum.
func statically(which string) func(g globals, e typed.Expr, u typed.Use) typed.Expr {
	switch which {
	case "System":
		return globals.inSystem
	case "string":
		return globals.ofString
	case "Convert":
		return globals.ofConvert
	case "Variables":
		return globals.ofVariables
	case "Inputs":
		return globals.ofInputs
	case "Output":
		return globals.ofOutput
	case "Outcome":
		return globals.ofOutcome
	case "ExecutionContext":
		return globals.ofContext
	}
	if typed.Enums[which] != "" {
		return nil
	}
	return globals.ofType
}

// ofType gives a member of a type, which the table has.
func (g globals) ofType(e typed.Expr, u typed.Use) typed.Expr {
	if u.Of != nil {
		scan.Fail(u.At, u.Name+"<…>", "leave the type out")
	}
	if e.JS == "DateTimeOffset" && (u.Name == "Parse" || u.Name == "TryParse") {
		scan.Fail(u.At, "DateTimeOffset."+u.Name+", which keeps the offset", "write DateTime."+u.Name+", which gives the time in UTC")
	}
	if u.Name == "TryParse" && u.Called {
		return g.tryParse(e, u)
	}
	if out, ok := typed.Member(e, u.Name, u.Args, u.Called, u.At); ok {
		return out
	}
	typed.NoMember(e, u)
	return typed.Expr{}
}

func (g globals) inSystem(_ typed.Expr, u typed.Use) typed.Expr {
	p := g.p
	s, ok := statics[u.Name]
	if !ok || u.Called {
		p.unknown(scan.Token{Text: u.Name, Off: u.At})
	}
	return typed.Expr{Typ: typed.Typ{Kind: typed.Static, Name: s}, JS: u.Name, Prec: typed.Primary, Off: u.At}
}

func (g globals) ofConvert(e typed.Expr, u typed.Use) typed.Expr {
	p := g.p
	if u.Name == "ToString" && u.Called && len(u.Args) == 1 {
		return p.m.AsText(u.Args[0])
	}
	for i := range u.Args {
		if u.Args[i].Kind == typed.Dynamic {
			u.Args[i].Typ = typed.Of(typed.Object)
		}
	}
	return g.ofType(e, u)
}

// tryParse is int.TryParse(s, out var n) and the like.
func (g globals) tryParse(e typed.Expr, u typed.Use) typed.Expr {
	p := g.p
	k := typed.Simple[e.Name]
	if len(u.Args) != 2 || u.Args[1].Kind != typed.Static || u.Args[1].Name != "out" || u.Args[0].Kind != typed.Text {
		scan.Fail(u.At, "TryParse with these arguments", "write int.TryParse(text, out var x)")
	}
	t := typed.Of(k)
	switch k {
	case typed.Integer, typed.Long, typed.Double, typed.Decimal, typed.Boolean, typed.GUID, typed.Date, typed.Span:
	default:
		scan.Fail(u.At, "TryParse of "+e.Name, "parse it, as with int.Parse")
	}
	id := u.Args[1].Val
	for _, s := range p.scopes {
		l, ok := s[id]
		if !ok {
			continue
		}
		if l.open {
			l.Typ, l.open = t, false
			s[id] = l
		} else if l.Kind != k || l.Nullable {
			scan.Fail(u.Args[1].Off, fmt.Sprintf("out %s of type %s", workflow.Shorten(id), l.Typ), "declare it as "+t.String())
		}
	}
	x := u.Args[1].JS
	out := typed.Call(u.At, typed.Of(typed.Boolean), "((%s = CSharp.tryParse(%q, %s)) != null || (%s = %s, false))", x, t.KindName(), typed.Done(u.Args[0]).JS, x, typed.Zero(t, u.At).JS)
	out.Call = true
	return out
}

func (g globals) ofString(e typed.Expr, u typed.Use) typed.Expr {
	p := g.p
	if u.Called && len(u.Args) > 0 {
		switch u.Name {
		case "Format":
			return g.format(u)
		case "Concat":
			out := p.m.AsText(u.Args[0])
			for _, a := range u.Args[1:] {
				if out.Kind == typed.List || a.Kind == typed.List {
					scan.Fail(a.Off, "string.Concat of a list", `write string.Join("", x)`)
				}
				out = p.m.Joined(out, a)
			}
			return out
		case "Join":
			return p.m.Join(u)
		}
	}
	return g.ofType(e, u)
}

// format is string.Format("…{0}…", …).
func (g globals) format(u typed.Use) typed.Expr {
	p := g.p
	first := u.Args[0]
	if first.Kind != typed.Text || !first.Constant || !first.Written {
		scan.Fail(first.Off, "string.Format with a format that is no text in quotes", `write $"…{x}…"`)
	}
	f := filling{p: p, At: u.At, dollars: 1}
	used := map[string]bool{}
	s := first.Val
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "}}"):
			b.WriteByte(s[i])
			i += 2
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				scan.Fail(first.Off, "a hole that does not end", "end it with }")
			}
			f.texts = append(f.texts, b.String())
			b.Reset()
			hole := g.placeholder(s[i+1:i+end], u, first.Off)
			if used[hole.JS] && strings.Contains(hole.JS, "(") {
				scan.Fail(first.Off, "a value that string.Format takes twice", "give it to a local variable first")
			}
			used[hole.JS] = true
			f.holes = append(f.holes, hole)
			i += end + 1
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	f.texts = append(f.texts, b.String())
	out := f.result()
	out.Off = u.At
	return out
}

// placeholder is {0,5:N2} of a format.
func (g globals) placeholder(s string, u typed.Use, at int) typed.Expr {
	p := g.p
	head, format, formatted := strings.Cut(s, ":")
	place, wide, padded := strings.Cut(head, ",")
	n, err := strconv.Atoi(strings.TrimSpace(place))
	width := 0
	if padded && err == nil {
		width, err = strconv.Atoi(strings.TrimSpace(wide))
	}
	if err != nil || n < 0 || n+1 >= len(u.Args) || width > 1000 || width < -1000 {
		scan.Fail(at, "the hole {"+workflow.Shorten(s)+"}", "write the number of an argument, from 0")
	}
	e := typed.Done(u.Args[n+1])
	if e.Kind != typed.Static && len(e.JS) > 1000 {
		scan.Fail(e.Off, "a long value in string.Format", "give it to a local variable first")
	}
	if formatted {
		e = p.m.Formatted(e, format, at)
	} else {
		e = p.m.TextOf(e)
	}
	if width != 0 {
		e = typed.Call(at, typed.Of(typed.Text), "CSharp.pad(%s, %d)", e.JS, width)
	}
	return e
}

// nameOf is the first argument of a member of Elsa's, as a name that is known, or as what gives one.
func (g globals) nameOf(u typed.Use, least, most int) (known string, e typed.Expr) {
	if !u.Called || len(u.Args) < least || len(u.Args) > most {
		scan.Fail(u.At, u.Name+" with these arguments", fmt.Sprintf("give it %d", least))
	}
	e = typed.To(u.Args[0], typed.Of(typed.Text))
	if e.Written {
		known = e.Val
	}
	return known, e
}

// variable gives the name and the type of a variable by the name of its property, which has a capital first letter.
func (g globals) variable(name string, at int) (string, typed.Typ) {
	p := g.p
	if p.names.variable == nil || name == "CurrentValue" || name == "CurrentIndex" { // what loops give is not declared
		return name, typed.Of(typed.Dynamic)
	}
	for _, n := range []string{name, workflow.LowerFirst(name)} {
		if alias, ok := p.names.variable(n); ok {
			return n, g.declaredAs(alias, "variable "+name, at)
		}
	}
	return name, typed.Of(typed.Dynamic)
}

func (g globals) declaredAs(alias, what string, at int) typed.Typ {
	switch strings.ToLower(alias) {
	case "single", "float":
		scan.Fail(at, "the "+what+" of type Single", "make it Double: a Single has other digits here")
	}
	return typed.Declared(alias)
}

// given is a variable or an input as a value of its type: without one, numbers are 0 and so on.
func (g globals) given(js string, t typed.Typ, at int) typed.Expr {
	e := typed.Expr{Typ: t, JS: js, Prec: typed.Primary, Off: at, Read: t.Kind == typed.Long}
	switch t.Kind {
	case typed.Integer:
		e.JS = "CSharp.int(" + js + ")"
	case typed.List, typed.Dict:
		e.JS = typed.Elements(js, t, at)
	case typed.Long, typed.Double, typed.Decimal, typed.Boolean, typed.GUID:
		e.JS = "(" + js + " ?? " + typed.Zero(t, at).JS + ")"
	case typed.Date:
		e.JS = "CSharp.date(" + js + ")"
	case typed.Span:
		e.JS = "CSharp.span(" + js + ")"
	case typed.Char:
		e.Typ = typed.Of(typed.Text)
	}
	return e
}

func (g globals) ofVariables(_ typed.Expr, u typed.Use) typed.Expr {
	p := g.p
	switch u.Name {
	case "Get":
		return g.getVariable(u)
	case "Set":
		return g.setVariable(u)
	}
	if u.Called {
		scan.Fail(u.At, "the method "+workflow.Shorten(u.Name)+" of Variables", `there are Get<T>("X"), Set("X", value) and the variables by their names`)
	}
	name, t := g.variable(u.Name, u.At)
	g.ask(name, t, u.At)
	e := g.given("getVariable("+typed.Quote(name)+")", t, u.At)
	e.Target = &typed.Target{Typ: t, Plain: true, Write: func(js string) string {
		p.made = append(p.made, name)
		return "setVariable(" + typed.Quote(name) + ", " + js + ")"
	}}
	return e
}

// ask notes a variable that nobody knows.
func (g globals) ask(name string, t typed.Typ, at int) {
	p := g.p
	if t.Kind != typed.Dynamic || p.names.variable == nil {
		return
	}
	if _, ok := p.names.variable(name); !ok {
		p.m.Note(at, "unknown-variable", "there is no variable %s in scope here, so it has no value unless a script makes it", workflow.Shorten(name))
	}
}

func (g globals) getVariable(u typed.Use) typed.Expr {
	p := g.p
	name, e := g.nameOf(u, 1, 1)
	js := "getVariable(" + e.JS + ")"
	t := typed.Of(typed.Object)
	if name != "" {
		if p.names.variable != nil {
			if alias, ok := p.names.variable(name); ok {
				t = g.declaredAs(alias, "variable "+name, u.At)
			}
		}
	}
	return g.asked(js, t, u)
}

// asked is Get<T>("X") of what has the declared type t.
func (g globals) asked(js string, t typed.Typ, u typed.Use) typed.Expr {
	switch {
	case u.Of == nil:
		return typed.Call(u.At, typed.Of(typed.Object), "%s", js)
	case u.Of.Kind == typed.Object || u.Of.Kind == typed.Dynamic:
		return typed.Call(u.At, *u.Of, "%s", js)
	case u.Of.Kind == t.Kind && t.Kind != typed.List && t.Kind != typed.Dict && !u.Of.Nullable:
		return g.given(js, *u.Of, u.At)
	}
	k := u.Of.KindName()
	if u.Of.Nullable {
		k += "?"
	}
	e := typed.Call(u.At, *u.Of, "%s", typed.Elements(fmt.Sprintf("CSharp.convert(%q, %s)", k, js), *u.Of, u.At))
	e.Read = u.Of.Kind == typed.Long
	return e
}

func (g globals) setVariable(u typed.Use) typed.Expr {
	p := g.p
	name, e := g.nameOf(u, 2, 2)
	value := typed.Done(u.Args[1])
	if name == "" {
		p.others = true
	} else {
		p.made = append(p.made, name)
	}
	if value.Kind == typed.Void || value.Kind == typed.Static {
		scan.Fail(value.Off, "this as a value", "write what gives one")
	}
	out := typed.Call(u.At, typed.Of(typed.Void), "setVariable(%s, %s)", e.JS, value.At(typed.Arm))
	out.Call = true
	return out
}

func (g globals) ofInputs(_ typed.Expr, u typed.Use) typed.Expr {
	p := g.p
	t := typed.Of(typed.Dynamic)
	find := func(name string) {
		if p.names.input == nil {
			return
		}
		alias, ok := p.names.input(name)
		if ok {
			t = g.declaredAs(alias, "input "+name, u.At)
		}
	}
	if u.Name == "Get" {
		name, e := g.nameOf(u, 1, 1)
		t = typed.Of(typed.Object)
		if name != "" {
			find(name)
		}
		return g.asked("getInput("+e.JS+")", t, u)
	}
	if u.Called {
		scan.Fail(u.At, "the method "+workflow.Shorten(u.Name)+" of Inputs", `there are Get<T>("X") and the inputs by their names`)
	}
	find(u.Name)
	if p.names.input != nil {
		if _, ok := p.names.input(u.Name); !ok {
			p.m.Note(u.At, "undeclared-input", "the definition declares no input %s; to C# in Elsa there is none then", workflow.Shorten(u.Name))
		}
	}
	return g.given("getInput("+typed.Quote(u.Name)+")", t, u.At)
}

func (g globals) ofOutput(_ typed.Expr, u typed.Use) typed.Expr {
	switch u.Name {
	case "LastResult":
		if !u.Called {
			return typed.Call(u.At, typed.Of(typed.Object), "getLastResult()")
		}
	case "From", "Get":
		_, e := g.nameOf(u, 1, 2)
		js := e.JS
		if len(u.Args) == 2 {
			js += ", " + typed.To(u.Args[1], typed.Of(typed.Text)).JS
		}
		return g.asked("getOutputFrom("+js+")", typed.Of(typed.Object), u)
	}
	scan.Fail(u.At, "the member "+workflow.Shorten(u.Name)+" of Output", `there are From<T>("activity", "output") and LastResult`)
	return typed.Expr{}
}

func (g globals) ofOutcome(_ typed.Expr, u typed.Use) typed.Expr {
	if u.Name != "Set" || !u.Called || len(u.Args) == 0 {
		scan.Fail(u.At, "the member "+workflow.Shorten(u.Name)+" of Outcome", `there is Set("name", …)`)
	}
	parts := make([]string, len(u.Args))
	for i, a := range u.Args {
		if a.Kind == typed.List && len(u.Args) == 1 {
			parts[i] = typed.To(a, typed.ListOf(typed.Of(typed.Text), "Length")).JS
			continue
		}
		parts[i] = typed.To(a, typed.Of(typed.Text)).At(typed.Arm)
	}
	e := typed.Call(u.At, typed.Of(typed.Void), "setOutcomes(%s)", strings.Join(parts, ", "))
	e.Call = true
	return e
}

func (g globals) ofContext(_ typed.Expr, u typed.Use) typed.Expr {
	switch u.Name {
	case "GetVariable":
		return g.getVariable(u)
	case "SetVariable":
		return g.setVariable(u)
	case "GetInput":
		u.Name = "Get"
		return g.ofInputs(typed.Expr{}, u)
	}
	scan.Fail(u.At, "the member "+workflow.Shorten(u.Name)+" of ExecutionContext", `there are GetVariable<T>("X"), SetVariable("X", value) and GetInput<T>("X")`)
	return typed.Expr{}
}
