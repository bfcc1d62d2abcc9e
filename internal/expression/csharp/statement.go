package csharp

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
)

// all reads the script. Its value is what return gives, or an expression at its end without a semicolon.
func (s *script) all() {
	p := s.p
	s.usings()
	ended := false
	for p.Tok.Class != scan.End {
		if ended {
			scan.Fail(p.Tok.Off, "something after a value at the end", "put ; between statements, or leave it out")
		}
		ended = s.statement(true)
	}
	if !ended && !strings.HasPrefix(p.lastLine, "return ") { // in a block, its brace is the last line
		p.line("return null;")
	}
}

// usings reads over the namespaces that Elsa's scripts have anyway.
func (s *script) usings() {
	p := s.p
	for p.Is("using") {
		at := p.Tok.Off
		p.Advance()
		from := p.Tok.Off
		for p.Tok.Class == scan.Name && !scan.Words[p.Tok.Text] {
			p.Advance()
			if !p.Take(".") {
				break
			}
		}
		space := strings.TrimSpace(p.Src[from:max(p.Last, from)])
		if !p.Is(";") || space != "System" && !strings.HasPrefix(space, "System.") && !strings.HasPrefix(space, "Elsa.") {
			scan.Fail(at, "using", "only System and what is below it is there; leave the line out")
		}
		p.Advance()
	}
}

// script reads statements.
type script struct {
	p      *reader
	loops  int // around, which continue leaves; a break leaves one or a switch
	breaks int
}

// first gives what reads a statement, by its first word.
func (s *script) first(word string) func() {
	switch word {
	case "if":
		return s.ifStatement
	case "while":
		return s.whileStatement
	case "do":
		return s.doStatement
	case "for":
		return s.forStatement
	case "foreach":
		return s.forEachStatement
	case "switch":
		return s.switchStatement
	case "return":
		return s.returnStatement
	case "throw":
		return s.throwStatement
	case "break":
		return func() { s.jump("break", s.breaks, "write return") }
	case "continue":
		return func() { s.jump("continue", s.loops, "leave it out") }
	case "const":
		return s.constStatement
	}
	return nil
}

// statement reads one; last allows an expression without a semicolon at the end of the script, and ended says it was one, or
// a return.
func (s *script) statement(last bool) (ended bool) {
	p := s.p
	p.enter(p.Tok.Off)
	defer p.leave()
	switch {
	case p.Take(";"):
		return false
	case p.Is("{"):
		s.block()
		return false
	case p.Tok.Class == scan.Name && !p.Tok.At:
		if run := s.first(p.Tok.Text); run != nil {
			run()
			return false
		}
		if instead, ok := scan.Beyond[p.Tok.Text]; ok {
			if _, is := p.local(p.Tok.Text); !is && s.wordFollows() {
				scan.Fail(p.Tok.Off, p.Tok.Text, instead)
			}
		}
	}
	if s.declaration() {
		return false
	}
	return s.plainStatement(last)
}

// wordFollows tells whether a word begins something of the language rather than being a name.
func (s *script) wordFollows() bool {
	p := s.p
	if scan.Words[p.Tok.Text] {
		return true
	}
	back := p.Save()
	defer p.Restore(back)
	p.Advance()
	return p.Tok.Class == scan.Name
}

// block reads { … } and writes what is in it between braces of its own.
func (s *script) block() {
	p := s.p
	p.line("{")
	s.body()
	last := p.lastLine
	p.line("}")
	p.lastLine = last // a block ends as what is last in it does
}

// body reads a statement, or several in braces, as what is below another.
func (s *script) body() {
	p := s.p
	p.open()
	if p.Take("{") {
		for !p.Is("}") {
			if p.Tok.Class == scan.End {
				scan.Fail(p.Tok.Off, "the end of the script", "here } is expected")
			}
			s.statement(false)
		}
		p.Advance()
	} else {
		s.statement(false)
	}
	p.shut()
}

// declaration reads var x = …; or T x = …; ok is false where there is none.
func (s *script) declaration() (ok bool) {
	p := s.p
	start := p.Save()
	var t typed.Typ
	inferred := p.Is("var")
	if inferred {
		p.Advance()
	} else if t, ok = p.typeName(); !ok {
		return false
	}
	if p.Tok.Class != scan.Name || scan.Words[p.Tok.Text] && !p.Tok.At {
		p.Restore(start)
		return false
	}
	for {
		s.declarator(t, inferred, false)
		if !p.Take(",") {
			break
		}
	}
	p.Want(";")
	return true
}

func (s *script) declarator(t typed.Typ, inferred, fixed bool) {
	p := s.p
	id := p.Identifier()
	if p.Is("(") {
		scan.Fail(id.Off, "a function of the script's own", "write its statements where they are needed")
	}
	word := "let"
	if fixed {
		word = "const"
	}
	if !p.Take("=") {
		if inferred || fixed {
			scan.Fail(id.Off, "a variable without a value and without a type", "give it one of them")
		}
		p.line("let %s;", p.declare(id, t, false).JS)
		return
	}
	var value typed.Expr
	if inferred {
		value = typed.Done(p.expression())
		if t = value.Typ; t.Kind == typed.Null || t.Kind == typed.Void || t.Kind == typed.Static {
			scan.Fail(id.Off, "var with a value of no type", "write the type instead of var")
		}
	} else {
		value = p.expected(t)
		typed.Keeps(value, t)
		value = typed.To(value, t)
	}
	p.line("%s %s = %s;", word, p.declare(id, t, fixed).JS, value.JS)
}

func (s *script) constStatement() {
	p := s.p
	p.Advance()
	t, ok := p.typeName()
	if !ok {
		scan.Fail(p.Tok.Off, p.Found(), "here the type of the constant is expected")
	}
	s.declarator(t, false, true)
	p.Want(";")
}

// plainStatement reads a statement that is an expression.
func (s *script) plainStatement(last bool) (ended bool) {
	p := s.p
	at := p.Tok.Off
	if p.Is("++") || p.Is("--") { // ++i;
		op := p.Tok.Text[:1]
		p.Advance()
		s.assign(p.unary(), op, typed.Expr{JS: "1", Typ: typed.Of(typed.Integer), Prec: typed.Primary, Constant: true}, at)
		p.Want(";")
		return false
	}
	e := p.expression()
	switch {
	case p.Tok.Class == scan.Sign && assignments[p.Tok.Text] != "":
		op := assignments[p.Tok.Text]
		p.Advance()
		var value typed.Expr
		if op == "=" {
			value = p.expected(s.targetType(e))
		} else {
			value = p.expression()
		}
		if p.Tok.Class == scan.Sign && assignments[p.Tok.Text] != "" {
			scan.Fail(p.Tok.Off, "a value that is given to two", "write two statements")
		}
		s.assign(e, op, value, at)
	case p.Is("++") || p.Is("--"):
		op := p.Tok.Text[:1]
		p.Advance()
		s.assign(e, op, typed.Expr{JS: "1", Typ: typed.Of(typed.Integer), Prec: typed.Primary, Constant: true}, at)
	case last && p.Tok.Class == scan.End && e.Kind != typed.Void:
		p.line("return %s;", s.result(e).JS)
		return true
	case p.Tok.Class == scan.End && last:
		p.line("%s;", typed.Done(e).JS)
		return false
	default:
		if !e.Call {
			if p.Tok.Class == scan.End || p.Is(";") {
				scan.Fail(at, "a value that nothing is done with", "write return before it, or give it to something")
			}
			scan.Fail(p.Tok.Off, p.Found(), "here ; is expected")
		}
		p.line("%s;", typed.Done(e).JS)
	}
	if p.Tok.Class == scan.End && last { // Elsa's compiler wants it as well, but for the last value
		scan.Fail(p.Tok.Off, "the end of the script", "here ; is expected")
	}
	p.Want(";")
	return false
}

var assignments = map[string]string{"=": "=", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "??=": "??"}

func (s *script) targetType(e typed.Expr) typed.Typ {
	if e.Target != nil {
		return e.Target.Typ
	}
	return e.Typ
}

// assign writes that a place gets a value.
func (s *script) assign(e typed.Expr, op string, value typed.Expr, at int) {
	p := s.p
	t := e.Target
	if t == nil {
		scan.Fail(at, "giving a value to this", "only a local variable, Variable.X, a member of dynamic, an element, CorrelationId and WorkflowInstanceName can be given one")
	}
	if op != "=" {
		if !t.Plain {
			scan.Fail(at, op+"= of an element that is computed", "write it with = and a local variable for the index")
		}
		read := e
		read.Target = nil
		if op == "??" {
			value = typed.Coalesce(read, value, at)
		} else {
			value = p.m.Binary(op, read, value, at)
			if value.IsNumber() && t.IsNumber() && !t.Nullable && value.Kind > t.Kind {
				value = typed.Cast(value, t.Typ, at) // i += 1.5 is i = (int)(i + 1.5)
			}
		}
	}
	if t.Local {
		typed.Keeps(value, t.Typ)
	}
	p.line("%s;", t.Write(typed.To(typed.Done(value), t.Typ).JS))
}

// result is a value as what the script gives.
func (s *script) result(e typed.Expr) typed.Expr {
	if e.Kind == typed.Static {
		scan.Fail(e.Off, "a type as a value", "name one of its members")
	}
	return typed.Done(e)
}

func (s *script) returnStatement() {
	p := s.p
	p.Advance()
	if p.Take(";") {
		p.line("return null;")
		return
	}
	e := s.result(p.expression())
	if p.Tok.Class != scan.End { // Elsa's examples leave the last ; out
		p.Want(";")
	}
	p.line("return %s;", e.JS)
}

func (s *script) condition() typed.Expr {
	p := s.p
	p.Want("(")
	e := typed.Truth(p.expression())
	p.Want(")")
	return e
}

func (s *script) ifStatement() {
	p := s.p
	p.Advance()
	p.line("if (%s) {", s.condition().JS)
	s.body()
	for n := 0; p.Is("else"); n++ {
		if n > mostChain {
			scan.Fail(p.Tok.Off, "more than 100 else if", "write a switch or a dictionary")
		}
		p.Advance()
		if p.Is("if") {
			p.Advance()
			p.line("} else if (%s) {", p.head(s.condition).JS)
			s.body()
			continue
		}
		p.line("} else {")
		s.body()
		break
	}
	p.line("}")
}

func (s *script) loop() {
	s.loops++
	s.breaks++
	s.body()
	s.loops--
	s.breaks--
}

// head reads what stands where no line can be written before it.
func (p *reader) head(read func() typed.Expr) typed.Expr {
	fixed := p.fixed
	p.fixed = true
	defer func() { p.fixed = fixed }()
	return read()
}

func (s *script) whileStatement() {
	p := s.p
	p.Advance()
	p.line("while (%s) {", p.head(s.condition).JS)
	s.loop()
	p.line("}")
}

func (s *script) doStatement() {
	p := s.p
	p.Advance()
	p.line("do {")
	s.loop()
	p.Want("while")
	p.line("} while (%s);", p.head(s.condition).JS)
	p.Want(";")
}

// forStatement writes for (let i = 0; …; …) as it is written.
func (s *script) forStatement() {
	p := s.p
	p.Advance()
	p.Want("(")
	p.open()
	defer p.shut()
	p.indent--
	defer func() { p.indent++ }()
	first := s.within(func() {
		if !p.Take(";") && !s.declaration() {
			s.parts(";")
			p.Want(";")
		}
	})
	test := ""
	if !p.Is(";") {
		test = " " + p.head(func() typed.Expr { return typed.Truth(p.expression()) }).JS
	}
	p.Want(";")
	next := s.within(func() { s.parts(")") })
	p.Want(")")
	if first == "" {
		first = ";"
	}
	p.line("for (%s%s; %s) {", first, test, strings.TrimSuffix(next, ";"))
	s.loop()
	p.line("}")
}

// parts reads statements between commas.
func (s *script) parts(until string) {
	p := s.p
	for !p.Is(until) {
		at := p.Tok.Off
		var e typed.Expr
		op := ""
		if p.Is("++") || p.Is("--") {
			op = p.Tok.Text[:1]
			p.Advance()
			e = p.unary()
		} else {
			e = p.expression()
		}
		one := typed.Expr{JS: "1", Typ: typed.Of(typed.Integer), Prec: typed.Primary, Constant: true}
		switch {
		case op != "":
			s.assign(e, op, one, at)
		case p.Is("++") || p.Is("--"):
			op = p.Tok.Text[:1]
			p.Advance()
			s.assign(e, op, one, at)
		case p.Tok.Class == scan.Sign && assignments[p.Tok.Text] != "":
			op = assignments[p.Tok.Text]
			p.Advance()
			s.assign(e, op, p.expression(), at)
		default:
			scan.Fail(at, "this in the head of a for", "write i++, or an assignment")
		}
		if !p.Take(",") {
			return
		}
	}
}

// within gives what run writes, on one line.
func (s *script) within(run func()) string {
	p := s.p
	before, indent, fixed := p.out, p.indent, p.fixed
	p.out, p.indent, p.fixed = &strings.Builder{}, 0, true
	run()
	written := strings.TrimSuffix(p.out.String(), "\n")
	p.out, p.indent, p.fixed = before, indent, fixed
	lines := strings.Split(written, "\n")
	for i, l := range lines {
		if i < len(lines)-1 {
			lines[i] = strings.TrimSuffix(l, ";") + ","
		}
		if i > 0 {
			lines[i] = strings.TrimPrefix(lines[i], "let ")
		}
	}
	return strings.Join(lines, " ")
}

func (s *script) forEachStatement() {
	p := s.p
	p.Advance()
	p.Want("(")
	var t typed.Typ
	inferred := p.Take("var")
	if !inferred {
		var ok bool
		if t, ok = p.typeName(); !ok {
			scan.Fail(p.Tok.Off, p.Found(), "here var or a type is expected")
		}
	}
	id := p.Identifier()
	p.Want("in")
	over := typed.Done(p.expression())
	p.Want(")")
	item := typed.Of(typed.Dynamic)
	js := over.JS
	switch over.Kind {
	case typed.List:
		item = *over.Elem
	case typed.Text:
		item, js = typed.Of(typed.Char), over.At(typed.Primary)+`.split("")`
	case typed.Dict:
		item, js = typed.Typ{Kind: typed.Pair, Elem: over.Elem}, "Object.entries("+over.JS+")"
	case typed.Dynamic:
		js = "CSharp.items(" + over.JS + ")"
	default:
		scan.Fail(over.Off, "foreach over "+over.Typ.String(), "cast it: (List<object>)…, or (dynamic)…")
	}
	p.scopes = append(p.scopes, map[string]local{})
	if inferred {
		t = item
	} else if item.Kind != typed.Object && item.Kind != typed.Dynamic && !typed.Converts(item, t) {
		scan.Fail(id.Off, fmt.Sprintf("%s as %s", item, t), "write var")
	}
	convert := ""
	if !inferred && (item.Kind == typed.Object || item.Kind == typed.Dynamic) && t.Kind != item.Kind {
		p.unique++
		convert = fmt.Sprintf("$%d", p.unique)
	}
	l := p.declare(id, t, true)
	if convert == "" {
		p.line("for (const %s of %s) {", l.JS, js)
	} else {
		p.line("for (const %s of %s) {", convert, js)
		p.line("  const %s = %s;", l.JS, typed.Unbox(typed.Expr{JS: convert, Typ: item, Prec: typed.Primary, Off: id.Off}, t, id.Off).JS)
	}
	s.loop()
	p.line("}")
	p.scopes = p.scopes[:len(p.scopes)-1]
}

func (s *script) switchStatement() {
	p := s.p
	at := p.Tok.Off
	p.Advance()
	p.Want("(")
	e := typed.Done(p.expression())
	p.Want(")")
	if e.Kind != typed.Text && e.Kind != typed.Char && e.Kind != typed.Boolean && e.Kind != typed.Enum && !e.IsNumber() {
		scan.Fail(at, "switch over "+e.Typ.String(), "write if, or cast it to string, int or bool")
	}
	p.Want("{")
	p.line("switch (%s) {", e.JS)
	s.breaks++
	for !p.Take("}") {
		if p.Tok.Class == scan.End {
			scan.Fail(p.Tok.Off, "the end of the script", "here } is expected")
		}
		s.section(e.Typ)
	}
	s.breaks--
	p.line("}")
}

// section reads the labels of a switch and what is to be done at them.
func (s *script) section(looked typed.Typ) {
	p := s.p
	p.enter(p.Tok.Off)
	defer p.leave()
	for p.Is("case") || p.Is("default") {
		if p.Take("default") {
			p.line("  default:")
		} else {
			p.Advance()
			v := typed.Done(p.additive())
			if !v.Constant {
				scan.Fail(v.Off, "a case that is no constant", "write if")
			}
			p.line("  case %s:", typed.To(v, looked).JS)
		}
		if p.Is("when") {
			scan.Fail(p.Tok.Off, "when in a case", "write if")
		}
		p.Want(":")
	}
	at := p.Tok.Off
	p.line("  {")
	p.open()
	p.indent++
	for !p.Is("case") && !p.Is("default") && !p.Is("}") {
		if p.Tok.Class == scan.End {
			scan.Fail(p.Tok.Off, "the end of the script", "here } is expected")
		}
		s.statement(false)
	}
	lastLine := p.lastLine
	if !strings.HasPrefix(lastLine, "break;") && !strings.HasPrefix(lastLine, "return ") && !strings.HasPrefix(lastLine, "throw ") && !strings.HasPrefix(lastLine, "continue;") {
		scan.Fail(at, "a case that goes on into the next", "end it with break;")
	}
	p.indent--
	p.shut()
	p.line("  }")
}

// jump reads break or continue, which stands within so many statements that it may leave.
func (s *script) jump(word string, within int, instead string) {
	p := s.p
	if within == 0 {
		scan.Fail(p.Tok.Off, word+" outside a loop", instead)
	}
	p.Advance()
	p.Want(";")
	p.line("%s;", word)
}

func (s *script) throwStatement() {
	p := s.p
	at := p.Tok.Off
	p.Advance()
	if !p.Take("new") {
		scan.Fail(at, "throw without new", `write throw new Exception("why")`)
	}
	for p.Tok.Class == scan.Name && !scan.Words[p.Tok.Text] {
		p.Advance()
		if !p.Take(".") {
			break
		}
	}
	args := p.arguments()
	message := `""`
	if len(args) > 0 {
		if message = typed.Done(args[0]).JS; args[0].Kind != typed.Text {
			scan.Fail(args[0].Off, "an exception without a text", `write throw new Exception("why")`)
		}
	}
	p.Want(";")
	p.line("throw new Error(%s);", message)
}
