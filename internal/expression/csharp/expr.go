package csharp

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
)

// expression reads one, without assignments.
func (p *reader) expression() typed.Expr {
	p.enter(p.Tok.Off)
	defer p.leave()
	at := p.Tok.Off
	e := p.coalescing()
	if p.Is("=>") {
		scan.Fail(at, "a function (=>)", "there is no LINQ and no function of the script's own; write a foreach or a for")
	}
	if !p.Is("?") {
		return e
	}
	p.Advance()
	test := typed.Truth(e)
	holes := p.holes
	p.holes = 0
	yes := typed.Done(p.expression())
	p.Want(":")
	p.holes = holes
	no := typed.Done(p.expression())
	t := typed.Together(yes.Typ, no)
	if t.Kind == typed.Null {
		t = typed.Of(typed.Object)
	}
	return typed.Expr{Typ: t, JS: test.At(typed.Arm+1) + " ? " + typed.To(yes, t).At(typed.Arm) + " : " + typed.To(no, t).At(typed.Arm), Prec: typed.Arm, Off: at}
}

// expected reads an expression where a value of type t belongs: new() and [a, b] are of that type.
func (p *reader) expected(t typed.Typ) typed.Expr {
	wide := p.m.Wide
	p.m.Wide = t.Kind == typed.Long || t.Kind == typed.Double || t.Kind == typed.Decimal
	defer func() { p.m.Wide = wide }()
	if p.Is("[") && t.Kind == typed.List {
		at := p.Tok.Off
		p.Advance()
		return p.elements("]", *t.Elem, t, at)
	}
	if p.Is("{") && t.Kind == typed.List {
		scan.Fail(p.Tok.Off, "elements without new", "write new[] { … } or new List<"+t.Elem.String()+"> { … }")
	}
	if p.Is("new") {
		s := p.Save()
		p.Advance()
		if p.Is("(") {
			return p.created(t, s.Tok.Off)
		}
		p.Restore(s)
	}
	if p.Is("default") {
		s := p.Save()
		p.Advance()
		if !p.Is("(") {
			return typed.Zero(t, s.Tok.Off)
		}
		p.Restore(s)
	}
	return p.expression()
}

func (p *reader) coalescing() typed.Expr {
	at := p.Tok.Off
	e := p.or()
	if !p.Is("??") {
		return e
	}
	p.enter(at)
	defer p.leave()
	p.Advance()
	if p.Is("throw") {
		scan.Fail(p.Tok.Off, "throw as a value", "write an if")
	}
	return typed.Coalesce(e, p.coalescing(), at)
}

// levels are the operators that join two values, from those that bind least.
var levels = []map[string]int{
	{"||": typed.Either}, {"&&": typed.Both}, {"|": 0, "^": 0, "&": 0}, {"==": typed.Equals, "!=": typed.Equals}, {"<": typed.Relates, ">": typed.Relates, "<=": typed.Relates, ">=": typed.Relates, "is": 0, "as": 0},
	{"<<": 0, ">>": 0}, {"+": typed.Adds, "-": typed.Adds}, {"*": typed.Multiplies, "/": typed.Multiplies, "%": typed.Multiplies},
}

func (p *reader) or() typed.Expr { return p.level(0) }

func (p *reader) additive() typed.Expr { return p.level(6) }

func (p *reader) level(n int) typed.Expr {
	if n == len(levels) {
		return p.switched(p.unary())
	}
	at := p.Tok.Off
	e := p.level(n + 1)
	for chain := 0; p.Tok.Class == scan.Sign || p.Is("is") || p.Is("as"); chain++ {
		op := p.Tok.Text
		if _, ok := levels[n][op]; !ok || op == ">" && strings.HasPrefix(p.Src[p.Pos:], ">") {
			break
		}
		if chain > mostChain {
			scan.Fail(p.Tok.Off, fmt.Sprintf("more than %d operators in a row", mostChain), "split it up with local variables")
		}
		where := p.Tok.Off
		p.Advance()
		switch op {
		case "is":
			e = p.isPattern(e, at)
		case "as":
			scan.Fail(where, "as", "cast it, as in (string)x, or ask for null first")
		default:
			e = p.m.Binary(op, e, p.level(n+1), where)
			e.Off = at
		}
	}
	return e
}

// isPattern reads what follows is.
func (p *reader) isPattern(e typed.Expr, at int) typed.Expr {
	e = typed.Done(e)
	test := p.pattern(e.Typ, e.At(typed.Prefix))
	if p.Tok.Class == scan.Name && !scan.Words[p.Tok.Text] && p.Tok.Text != "and" && p.Tok.Text != "or" {
		scan.Fail(p.Tok.Off, "is with a variable", "write a cast on a line of its own")
	}
	if (e.Prec < typed.Primary || len(e.JS) > 100) && strings.Count(test, e.At(typed.Prefix)) > 1 {
		scan.Fail(at, "is with several patterns for something computed", "give it to a local variable first")
	}
	return typed.Expr{Typ: typed.Of(typed.Boolean), JS: test, Prec: typed.Lowest, Off: at}
}

// pattern reads a constant, a relation to one, null or _, joined with or, and, not; js is what is looked at.
func (p *reader) pattern(looked typed.Typ, js string) string {
	p.enter(p.Tok.Off)
	defer p.leave()
	before, test := "", p.onePattern(looked, js)
	for n := 0; p.Is("or") || p.Is("and"); n++ {
		if n > mostChain {
			scan.Fail(p.Tok.Off, "more than 100 patterns", "split them up")
		}
		binds := p.Is("and")
		p.Advance()
		if next := p.onePattern(looked, js); binds {
			test = "(" + test + " && " + next + ")"
		} else {
			before, test = before+test+" || ", next
		}
	}
	if before == "" {
		return test
	}
	return "(" + before + test + ")"
}

func (p *reader) onePattern(looked typed.Typ, js string) string {
	at := p.Tok.Off
	p.enter(at)
	defer p.leave()
	if p.Is("not") {
		p.Advance()
		return "!(" + p.onePattern(looked, js) + ")"
	}
	if p.Is("null") {
		p.Advance()
		return js + " == null"
	}
	if p.Is("_") {
		p.Advance()
		return "true"
	}
	op := "==="
	if p.Is("<") || p.Is(">") || p.Is("<=") || p.Is(">=") {
		op = p.Tok.Text
		p.Advance()
	}
	if p.Tok.Class == scan.Name && !p.Is("true") && !p.Is("false") || p.Is("{") || p.Is("(") || p.Is("[") {
		scan.Fail(at, "this pattern", "only constants, null, _, <, >, or, and, not are patterns here; write an if")
	}
	v := typed.Done(p.additive())
	if looked.Kind == typed.Object || looked.Kind == typed.Dynamic || looked.Nullable && op != "===" || !v.Constant {
		scan.Fail(at, fmt.Sprintf("a pattern for a value of type %s", looked), "cast the value first, as in (string)x")
	}
	return js + " " + op + " " + typed.To(v, looked).JS
}

// switched reads x switch { … }.
func (p *reader) switched(e typed.Expr) typed.Expr {
	if !p.Is("switch") {
		return e
	}
	at := e.Off
	e = typed.Done(e)
	p.Advance()
	p.Want("{")
	p.unique++
	it := fmt.Sprintf("$%d", p.unique)
	type branch struct {
		test  string
		value typed.Expr
	}
	var all []branch
	t := typed.Of(typed.Null)
	for !p.Is("}") {
		if len(all) > mostChain {
			scan.Fail(p.Tok.Off, "more than 100 arms", "write a dictionary")
		}
		test := p.pattern(e.Typ, it)
		if p.Is("when") {
			scan.Fail(p.Tok.Off, "when in a switch", "write if")
		}
		p.Want("=>")
		v := typed.Done(p.expression())
		if len(all) == 0 {
			t = v.Typ
		} else {
			t = typed.Together(t, v)
		}
		all = append(all, branch{test, v})
		if !p.Take(",") {
			break
		}
	}
	p.Want("}")
	if t.Kind == typed.Null {
		t = typed.Of(typed.Object)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "((%s) => ", it)
	for _, one := range all {
		b.WriteString(one.test + " ? " + typed.To(one.value, t).At(typed.Arm+1) + " : ")
	}
	b.WriteString("CSharp.unmatched(" + it + "))(" + e.JS + ")")
	return typed.Expr{Typ: t, JS: b.String(), Prec: typed.Primary, Off: at}
}

func (p *reader) unary() typed.Expr {
	at := p.Tok.Off
	p.enter(at)
	defer p.leave()
	switch {
	case p.Is("!"):
		p.Advance()
		return typed.Expr{Typ: typed.Of(typed.Boolean), JS: "!" + typed.Truth(p.unary()).At(typed.Prefix), Prec: typed.Prefix, Off: at}
	case p.Is("-"), p.Is("+"):
		op := p.Tok.Text
		p.Advance()
		if p.Tok.Class == scan.Number && op == "-" && (p.Tok.Text == "2147483648" || p.Tok.Text == "9223372036854775808") {
			if p.Tok.Text != "2147483648" {
				scan.Fail(at, "a number beyond what numbers hold exactly here (2^53)", "write a text, or a smaller number")
			}
			p.Advance()
			return typed.Expr{Typ: typed.Of(typed.Integer), JS: "-2147483648", Prec: typed.Prefix, Off: at, Constant: true}
		}
		return typed.Signed(op, typed.Done(p.unary()), at)
	case p.Is("~"), p.Is("&"), p.Is("*"), p.Is("^"):
		scan.Fail(at, "the operator "+p.Tok.Text, "compute it with / and %, or use JavaScript")
	case p.Is("++"), p.Is("--"):
		scan.Fail(at, p.Tok.Text+" within an expression", "write it as a statement of its own")
	case p.Is("await"), p.Is("throw"):
		scan.Fail(at, p.Tok.Text+" as a value", scan.Beyond["await"])
	case p.Is("("):
		if e, ok := p.castOf(at); ok {
			return e
		}
	}
	return p.postfix(p.operand())
}

// castOf reads (T)x, if it is one.
func (p *reader) castOf(at int) (typed.Expr, bool) {
	s := p.Save()
	p.Advance()
	t, ok := p.typeName()
	if ok && p.Is(")") {
		p.Advance()
		begins := p.Tok.Class != scan.Sign && p.Tok.Class != scan.End || p.Is("(") || p.Is("!") || p.Is("-") && t.Kind != typed.Object || p.Is("[")
		if begins && !p.Is("is") && !p.Is("as") && !p.Is("switch") {
			return typed.Cast(p.unary(), t, at), true
		}
	}
	p.Restore(s)
	return typed.Expr{}, false
}

// elements reads values between commas up to a bracket.
func (p *reader) elements(closing string, elem, t typed.Typ, at int) typed.Expr {
	var parts []string
	for !p.Is(closing) {
		if p.Is("..") {
			scan.Fail(p.Tok.Off, "..", "write a foreach with Add")
		}
		parts = append(parts, typed.To(p.expected(elem), elem).At(typed.Arm))
		if !p.Take(",") {
			break
		}
	}
	p.Want(closing)
	return typed.Expr{Typ: t, JS: "[" + strings.Join(parts, ", ") + "]", Prec: typed.Primary, Off: at}
}
