package csharp

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
	"github.com/weft-run/weft/pkg/workflow"
)

// memberOf reads what follows a dot.
func (p *reader) memberOf(e typed.Expr, from int) typed.Expr {
	id := p.Tok
	if id.Class != scan.Name {
		scan.Fail(id.Off, p.Found(), "here a name is expected")
	}
	p.Advance()
	u := typed.Use{Name: id.Text, At: id.Off}
	if p.Is("<") {
		s := p.Save()
		p.Advance()
		if t, ok := p.typeName(); ok && p.Is(">") && strings.HasPrefix(strings.TrimLeft(p.Src[p.Pos:], " "), "(") {
			p.Advance()
			u.Of = &t
		} else {
			p.Restore(s)
			p.strangeType()
		}
	}
	if p.Is("(") {
		u.Args, u.Called = p.arguments(), true
	}
	out := p.resolve(received(e), u)
	out.Off = from
	return out
}

// strangeType refuses x.M<T>(…) of a type that is not there.
func (p *reader) strangeType() {
	s := p.Save()
	p.Advance()
	t := p.Tok
	if t.Class == scan.Name && !scan.Words[t.Text] && strings.HasPrefix(strings.TrimLeft(p.Src[p.Pos:], " "), ">") {
		p.Advance()
		p.Advance()
		if p.Is("(") {
			scan.Fail(t.Off, "the type "+workflow.Shorten(t.Text), "only .NET's simple types, lists and dictionaries are there; write dynamic, and name the members")
		}
	}
	p.Restore(s)
}

// received is a value whose member is asked for.
func received(e typed.Expr) typed.Expr {
	if e.Kind == typed.Static {
		return e
	}
	return typed.Done(e)
}

// element reads x[i].
func (p *reader) element(e typed.Expr) typed.Expr {
	e = received(e)
	at := p.Tok.Off
	holes := p.holes
	p.holes = 0
	p.Want("[")
	if p.Is("^") {
		scan.Fail(p.Tok.Off, "an index from the end (^)", "write x[x.Count - 1]")
	}
	i := typed.Done(p.expression())
	if p.Is("..") || p.Is(",") {
		scan.Fail(p.Tok.Off, "a range or two indexes", "write Substring, or a for")
	}
	p.Want("]")
	p.holes = holes
	t := typed.Typ{}
	switch e.Kind {
	case typed.List:
		t, i = *e.Elem, typed.To(i, typed.Of(typed.Integer))
	case typed.Text:
		t, i = typed.Of(typed.Char), typed.To(i, typed.Of(typed.Integer))
	case typed.Dict:
		t, i = *e.Elem, typed.To(i, typed.Of(typed.Text))
	case typed.Dynamic:
		t = typed.Of(typed.Dynamic)
		if i.Kind != typed.Text && i.Kind != typed.Integer {
			scan.Fail(i.Off, "an index of type "+i.Typ.String(), "write a text or a whole number")
		}
	default:
		scan.Fail(at, "an index into "+e.Typ.String(), "cast it, as in ((IDictionary<string, object>)x)[\"key\"] or ((List<object>)x)[0]")
	}
	out := typed.Call(e.Off, t, "CSharp.at(%s, %s)", e.JS, i.JS)
	if e.Kind != typed.Text {
		out.Target = &typed.Target{Typ: t, Plain: i.Constant && i.Written, Write: func(js string) string {
			return fmt.Sprintf("CSharp.put(%s, %s, %s)", e.JS, i.JS, js)
		}}
	}
	return out
}

// resolve gives a member of a value, of a type, or of what Elsa gives to scripts.
func (p *reader) resolve(e typed.Expr, u typed.Use) typed.Expr {
	if e.Kind == typed.Static {
		if run := statically(e.Name); run != nil {
			return run(globals{p}, e, u)
		}
	}
	return p.m.Resolve(e, u)
}
