package typed

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/js/dotnet"
	"github.com/weft-run/weft/pkg/workflow"
)

// Coalesce is a ?? b.
func Coalesce(a, b Expr, at int) Expr {
	a, b = Done(a), Done(b)
	t := a.Typ
	t.Nullable = false
	if b.Nullable || b.Kind == Null {
		t.Nullable = a.Nullable
	}
	switch {
	case Converts(b.Typ, t):
		b = To(b, t)
	case a.Kind == Object || Converts(a.Typ, b.Typ):
		t = Common(a.Typ, b.Typ)
	default:
		scan.Fail(at, fmt.Sprintf("%s ?? %s", a.Typ, b.Typ), "make both of one type")
	}
	return Expr{Typ: t, JS: "(" + a.At(Either+1) + " ?? " + b.At(Either+1) + ")", Prec: Primary, Off: at}
}

// Truth is a value as a condition.
func Truth(e Expr) Expr {
	e = Done(e)
	if e.Kind == Dynamic {
		return Call(e.Off, Of(Boolean), `CSharp.unbox("bool", %s)`, e.JS)
	}
	if e.Kind != Boolean || e.Nullable {
		scan.Fail(e.Off, "a condition of type "+e.Typ.String(), "write a comparison, such as x == true or x > 0")
	}
	return e
}

// Signed is -x or +x.
func Signed(op string, e Expr, at int) Expr {
	if !e.IsNumber() && e.Kind != Span || e.Nullable {
		scan.Fail(at, op+" before a value of type "+e.Typ.String(), "cast it to int, long, double or decimal")
	}
	if e.Kind == Span {
		return Call(at, e.Typ, `CSharp.times("-", CSharp.span(null), %s)`, e.JS)
	}
	e.Target = nil
	switch {
	case op == "+":
	case e.Constant && e.JS == "0" && e.Kind != Double:
	case e.Kind == Integer && !e.Constant:
		e.JS, e.Prec, e.Bits = "0 - "+e.At(Adds+1), Adds, 33
	case e.Kind == Long && !e.Constant:
		e.JS, e.Prec = "CSharp.long(0 - "+Exact(e).At(Adds+1)+")", Primary
	default:
		e.JS, e.Prec = "-"+e.At(Prefix+1), Prefix
	}
	e.Read, e.Off = false, at
	return e
}

// Cast is (T)x.
func Cast(e Expr, t Typ, at int) Expr {
	e = Done(e)
	if e.Kind == Static {
		scan.Fail(e.Off, "a type as a value", "name one of its members")
	}
	e.Target, e.Call = nil, false
	from := e.Typ
	switch {
	case from.Kind == Object || from.Kind == Dynamic:
		return Unbox(e, t, at)
	case t.Kind == Object || t.Kind == Dynamic:
		Keeps(e, t)
		e = To(e, t)
		e.Typ = t
		return e
	case from.Kind == t.Kind && from.Elem != nil && !Converts(from, t):
		scan.Fail(at, fmt.Sprintf("a cast of a %s to a %s", from.holding(), t.holding()), fmt.Sprintf("write foreach (%s x in …) and add to a new one", t.Elem))
	case from.Kind == t.Kind && (from.Nullable == t.Nullable || t.Nullable):
		e.Typ = t
		return e
	case from.IsNumber() && t.IsNumber() && !from.Nullable:
		return castNumber(e, t, at)
	case from.Kind == Char && t.Kind == Integer:
		return Expr{Typ: t, JS: e.At(Primary) + ".charCodeAt(0)", Prec: Primary, Off: at}
	case from.Kind == Integer && t.Kind == Char:
		return Call(at, t, "CSharp.char(%s)", e.JS)
	case Converts(from, t):
		return To(e, t)
	}
	scan.Fail(at, fmt.Sprintf("a cast of %s to %s", from, t), "convert it, as with int.Parse(…), Convert.ToInt32(…) or x.ToString()")
	return e
}

// Keeps holds that a variable does not forget what its value was.
func Keeps(e Expr, t Typ) {
	if (t.Kind == Object || t.Kind == Dynamic) && (e.Kind == Char || e.Kind == Decimal) {
		scan.Fail(e.Off, fmt.Sprintf("a %s as %s, which forgets here that it was one", e.Typ, t), "write var, or leave the cast out")
	}
}

func castNumber(e Expr, t Typ, at int) Expr {
	from := e.Kind
	switch {
	case t.Kind == Double || t.Kind == Decimal && from < Double:
		e = Exact(e)
	case t.Kind == Decimal:
		e.JS, e.Prec = "CSharp.toDecimal("+e.JS+")", Primary
	case from == Integer:
	default:
		e.JS, e.Prec = fmt.Sprintf("CSharp.truncate(%q, %s)", t.KindName(), Exact(e).JS), Primary
	}
	e.Typ, e.Off, e.Constant = t, at, e.Constant && from <= Long && t.Kind >= Double
	return e
}

// Unbox is a value that is known as it runs, as a type.
func Unbox(e Expr, t Typ, at int) Expr {
	switch t.Kind {
	case Object, Dynamic:
		e.Typ = t
		return e
	case Boolean, Char, Text, Integer, Long, Double, Decimal, Date, Span, GUID, List, Dict:
	default:
		scan.Fail(at, "a cast to "+t.String(), "cast to string, bool, int, long, double, decimal, DateTime, TimeSpan, Guid, a list or a dictionary")
	}
	k := t.KindName()
	if t.Nullable {
		k += "?"
	}
	return Call(at, t, "%s", Elements(fmt.Sprintf("CSharp.unbox(%q, %s)", k, e.JS), t, at))
}

// Elements holds that those of a list or a dictionary which comes from outside are of their type.
func Elements(js string, t Typ, at int) string {
	if t.Kind != List && t.Kind != Dict {
		return js
	}
	k := t.Elem.KindName()
	switch inner := t.Elem.Elem; {
	case t.Elem.Kind == Object || t.Elem.Kind == Dynamic:
		return js
	case t.Elem.Kind <= Decimal && inner == nil, (t.Elem.Kind == List || t.Elem.Kind == Dict) && (inner.Kind == Object || inner.Kind == Dynamic):
	default:
		scan.Fail(at, "a "+t.holding()+" from outside, where they are kept otherwise,", fmt.Sprintf("write foreach (%s x in (List<object>)…), which converts each", t.Elem))
	}
	if t.Elem.Nullable {
		k += "?"
	}
	return fmt.Sprintf("CSharp.elements(%q, %s)", k, js)
}

// Converts tells whether C# takes a value of one type as another without a cast.
func Converts(from, t Typ) bool {
	switch {
	case t.Kind == Object || t.Kind == Dynamic:
		return from.Kind != Void && from.Kind != Static
	case from.Kind == Dynamic:
		return true
	case from.Kind == Null:
		return !t.IsValue()
	case from.Nullable && !t.Nullable && t.IsValue():
		return false
	case from.Kind == t.Kind && from.Elem != nil:
		return from.sameElements(t) || from.Elem.Kind == Null || from.Elem.Kind == Text && t.Elem.Kind == Object && from.Kind == List
	case from.Kind == Enum || from.Kind == Static:
		return from.Kind == t.Kind && from.Name == t.Name
	}
	return from.Kind == t.Kind || from.widens(t.Kind)
}

// widens tells the conversions of numbers that lose nothing but digits.
func (t Typ) widens(to Kind) bool {
	return t.Kind == Integer && to == Long || (t.Kind == Integer || t.Kind == Long) && (to == Double || to == Decimal)
}

// To is a value where one of type t belongs.
func To(e Expr, t Typ) Expr {
	e = Done(e)
	if !Converts(e.Typ, t) {
		instead := fmt.Sprintf("cast it, as in (%s)x, or convert it", t)
		if e.Kind == Object {
			instead = fmt.Sprintf("cast it, as in (%s)x: to C# it is an object", t)
		}
		scan.Fail(e.Off, fmt.Sprintf("a value of type %s where %s belongs", e.holding(), t.holding()), instead)
	}
	if e.Kind == Dynamic && t.Kind != Dynamic && t.Kind != Object {
		return Unbox(e, t, e.Off)
	}
	if e.Kind == Null {
		e.Constant, e.Written = false, false
	}
	if t.Kind != Object || !e.IsNumber() {
		e.Typ = t
	}
	return e
}

// Zero is the value that a type has without one.
func Zero(t Typ, at int) Expr {
	js := "null"
	if t.IsValue() {
		switch t.Kind {
		case Boolean:
			js = "false"
		case Integer, Long, Double, Decimal:
			js = "0"
		case GUID:
			js = "Guid.Empty"
		case Span:
			js = "TimeSpan.Zero"
		case Date:
			js = "CSharp.date(null)"
		default:
			scan.Fail(at, "the default of "+t.String(), "write the value")
		}
	}
	return Expr{Typ: t, JS: js, Prec: Primary, Off: at}
}

// Formatted is a value as text in a format of .NET.
func (p *Maker) Formatted(e Expr, format string, at int) Expr {
	k := e.KindName()
	switch {
	case e.Kind == Text || e.Kind == Boolean || e.Kind == Char || e.Kind == Null: // which have none
		return p.AsText(e)
	case e.IsNumber() || e.Kind == Date || e.Kind == Span || e.Kind == GUID:
	case e.Kind == Object || e.Kind == Dynamic:
		k = ""
	default:
		scan.Fail(at, "a format for a "+e.Typ.String(), "give one to a number, a DateTime, a TimeSpan or a Guid")
	}
	if err := dotnet.CheckFormat(k, format); err != nil {
		scan.Fail(at, "the format "+workflow.Shorten(format), err.Error())
	}
	if k == "" {
		return Call(at, Of(Text), "CSharp.format(%s, %s)", e.JS, Quote(format))
	}
	return Call(at, Of(Text), "CSharp.format(%s, %s, %q)", Exact(e).JS, Quote(format), k)
}

// Binary joins two values by an operator that stands at where.
func (p *Maker) Binary(op string, a, b Expr, where int) Expr {
	if a.Kind == Static || b.Kind == Static {
		a, b = Done(a), Done(b)
	}
	b.Target, b.Call = nil, false
	switch op {
	case "||", "&&":
		prec := map[string]int{"||": Either, "&&": Both}[op]
		return Expr{Typ: Of(Boolean), JS: Truth(a).At(prec) + " " + op + " " + Truth(b).At(prec+1), Prec: prec, Off: a.Off}
	case "==", "!=":
		return p.Equal(op, Done(a), Done(b), where)
	case "<", ">", "<=", ">=":
		return order(op, Done(a), Done(b), where)
	case "|", "&", "^", "<<", ">>":
		scan.Fail(where, "the operator "+op, "write || and && for conditions; compute bits in JavaScript")
	}
	return p.computed(op, a, b, where)
}

// computed is a + b and the like.
func (p *Maker) computed(op string, a, b Expr, where int) Expr {
	switch {
	case op == "+" && (a.Kind == Text || b.Kind == Text):
		return p.Joined(a, b)
	case a.Kind == Dynamic || b.Kind == Dynamic:
		return late(op, Done(a), Done(b), where)
	case a.Kind == Date || a.Kind == Span:
		return moved(op, Done(a), Done(b), where)
	case a.Kind == Char || b.Kind == Char:
		scan.Fail(where, fmt.Sprintf("%s %s %s, which is a number in C#", a.Typ, op, b.Typ), `cast it, as in (int)c, or make it a text, as in c.ToString()`)
	case !a.IsNumber() || !b.IsNumber() || a.Nullable || b.Nullable:
		scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), wayTo(a, b))
	case a.Kind == Double && b.Kind == Decimal || a.Kind == Decimal && b.Kind == Double:
		scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), "cast one of them: C# does not mix them")
	}
	return arithmetic(op, a, b)
}

// wayTo says what to do about values that an operator does not take.
func wayTo(a, b Expr) string {
	switch {
	case a.Kind == Object || b.Kind == Object:
		return "cast what is an object to C#, as in (int)x or (string)x"
	case a.Nullable || b.Nullable:
		return "say what null means, as in (x ?? 0)"
	}
	return "cast or convert one of them, so that both are numbers or one is a text"
}

func arithmetic(op string, a, b Expr) Expr {
	e := Expr{Typ: Of(max(a.Kind, b.Kind)), Off: a.Off}
	prec := map[string]int{"+": Adds, "-": Adds, "*": Multiplies, "/": Multiplies, "%": Multiplies}[op]
	if e.Kind == Integer && (op == "+" || op == "-") {
		width := func(e Expr) int { return max(e.Bits, 32) }
		if max(width(a), width(b)) > 45 {
			a, b = Done(a), Done(b)
		}
		e.Bits = max(width(a), width(b)) + 1
		e.JS, e.Prec = a.At(prec)+" "+op+" "+b.At(prec+1), prec
		return e
	}
	a, b = Exact(Done(a)), Exact(Done(b))
	plain := a.At(prec) + " " + op + " " + b.At(prec+1)
	e.JS, e.Prec = plain, prec
	switch {
	case e.Kind == Decimal:
		e.JS, e.Prec = fmt.Sprintf("CSharp.decimal(%q, %s, %s)", op, a.JS, b.JS), Primary
	case e.Kind == Double:
	case op == "/":
		e.JS, e.Prec = fmt.Sprintf("CSharp.divide(%q, %s, %s)", e.KindName(), a.JS, b.JS), Primary
	case op == "%":
		e.JS, e.Prec = fmt.Sprintf("CSharp.remainder(%s, %s)", a.JS, b.JS), Primary
	case e.Kind == Integer:
		e.JS, e.Prec = "Math.imul("+a.JS+", "+b.JS+")", Primary
	default:
		e.JS, e.Prec = "CSharp.long("+plain+")", Primary
	}
	return e
}

// late is arithmetic with a dynamic, whose kind is known as it runs.
func late(op string, a, b Expr, where int) Expr {
	if op == "/" || op == "%" {
		scan.Fail(where, op+" with a dynamic value", "cast both, as in (int)x / (int)y or (double)x / y: a whole number divides otherwise than one with a fraction")
	}
	for _, e := range []Expr{a, b} {
		if e.Kind != Dynamic && !e.IsNumber() || e.Kind == Decimal {
			scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), "cast the dynamic one, as in (decimal)x or (string)x")
		}
	}
	return Call(a.Off, Of(Dynamic), "CSharp.dynamic(%q, %s, %s)", op, a.JS, b.JS)
}

// moved is arithmetic with times and time spans.
func moved(op string, a, b Expr, where int) Expr {
	switch {
	case a.Nullable || b.Nullable:
	case a.Kind == Date && b.Kind == Span && (op == "+" || op == "-"):
		return Call(a.Off, Of(Date), "CSharp.moved(%q, %s, %s)", op, a.JS, b.JS)
	case a.Kind == Date && b.Kind == Date && op == "-":
		return Call(a.Off, Of(Span), "CSharp.between(%s, %s)", a.JS, b.JS)
	case a.Kind == Span && b.Kind == Span && (op == "+" || op == "-"):
		return Call(a.Off, Of(Span), "CSharp.times(%q, %s, %s)", op, a.JS, b.JS)
	}
	scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), "add or take away a TimeSpan, as in DateTime.UtcNow + TimeSpan.FromHours(1); compute with its TotalSeconds")
	return a
}

// Joined is text + anything, or anything + text.
func (p *Maker) Joined(a, b Expr) Expr {
	left, right := p.TextOf(a), p.TextOf(b)
	return Expr{Typ: Of(Text), JS: left.At(Adds) + " + " + right.At(Adds+1), Prec: Adds, Off: a.Off, Constant: a.Constant && b.Constant}
}

// AsText is a value as a text of its own, as ToString gives it.
func (p *Maker) AsText(e Expr) Expr {
	if e = p.TextOf(e); e.Kind == Integer {
		return Call(e.Off, Of(Text), "String(%s)", e.JS)
	}
	e.Typ = Of(Text)
	return e
}

// TextOf is the text that C# makes of a value where it joins texts.
func (p *Maker) TextOf(e Expr) Expr {
	e = Done(e)
	k := e.KindName()
	switch e.Kind {
	case Text:
		if e.Constant || strings.HasPrefix(e.JS, "`") || e.Prec == Adds { // it is no null
			return e
		}
		return Call(e.Off, Of(Text), `(%s ?? "")`, e.At(Either+1))
	case Integer, GUID, Char, Enum:
		if !e.Nullable {
			return e
		}
	case Decimal:
		if !e.Written {
			p.Note(e.Off, "decimal-text", "the text of a decimal has no zeros at its end here (1.50 is 1.5); say how many digits, as in {x:0.00} or x.ToString(\"F2\")")
		}
	case Null:
		return Expr{Typ: Of(Text), JS: `""`, Prec: Primary, Off: e.Off}
	case Date:
		scan.Fail(e.Off, "the text of a DateTime without a format, which is another one in each culture", `write its format, as in x.ToString("yyyy-MM-dd HH:mm:ss") or {x:yyyy-MM-dd}`)
	case List, Dict, Anonymous, Pair:
		scan.Fail(e.Off, "the text of a "+e.KindName()+", which is the name of its type", "name the member that is meant, or join a list by string.Join(\", \", x)")
	case Void, Static:
		scan.Fail(e.Off, "this as a value", "write what gives one")
	}
	if e.Kind == Object || e.Kind == Dynamic {
		return Call(e.Off, Of(Text), "CSharp.text(%s)", e.JS)
	}
	return Call(e.Off, Of(Text), "CSharp.text(%s, %q)", e.JS, k)
}

// Join is string.Join(…).
func (p *Maker) Join(u Use) Expr {
	sep := p.TextOf(u.Args[0])
	rest := u.Args[1:]
	if len(rest) == 1 && (rest[0].Kind == List || rest[0].Kind == Dynamic) {
		items := Done(rest[0])
		k := ""
		if items.Kind == List {
			switch items.Elem.Kind {
			case List, Dict, Anonymous, Pair, Date:
				scan.Fail(items.Off, "string.Join of a list of "+items.Elem.String(), "write a foreach that makes texts of them")
			case Object, Dynamic:
			case Decimal:
				p.TextOf(Expr{Typ: Of(Decimal), JS: "0", Off: items.Off})
				k = ", " + Quote(items.Elem.KindName())
			default:
				k = ", " + Quote(items.Elem.KindName())
			}
		}
		return Call(u.At, Of(Text), "CSharp.join(%s, %s%s)", sep.JS, items.JS, k)
	}
	parts := make([]string, len(rest))
	for i, a := range rest {
		parts[i] = p.TextOf(a).At(Arm)
	}
	return Call(u.At, Of(Text), "[%s].join(%s)", strings.Join(parts, ", "), sep.JS)
}

// Equal is a == b or a != b.
func (p *Maker) Equal(op string, a, b Expr, where int) Expr {
	if a.Kind == Null && b.Kind != Null {
		a, b = b, a
	}
	e := Expr{Typ: Of(Boolean), Prec: Equals, Off: a.Off}
	not := ""
	if op == "!=" {
		not = "!"
	}
	plain, byHelper := likeJavaScript(a, b)
	switch {
	case b.Kind == Null:
		if a.IsValue() {
			p.Note(where, "never-null", "a value of type %s is never null", a.Typ)
		}
		e.JS = a.At(Equals) + " " + op + " null"
	case a.Kind == Dynamic || b.Kind == Dynamic:
		e.JS, e.Prec = fmt.Sprintf("%sCSharp.equal(%s, %s)", not, a.JS, b.JS), Prefix
	case byHelper:
		e.JS, e.Prec = fmt.Sprintf("%sCSharp.same(%q, %s, %s)", not, a.KindName(), a.JS, b.JS), Prefix
	case plain:
		a, b = Exact(a), Exact(b)
		e.JS = a.At(Equals) + " " + op + "= " + b.At(Equals+1)
	default:
		instead := "convert one of them, as in x.ToString() or int.Parse(x)"
		if a.Kind == Object || b.Kind == Object {
			instead = "cast what is an object to C#, as in (string)x == \"a\": C# compares the objects, not what they hold"
		}
		scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), instead)
	}
	return e
}

// likeJavaScript tells values that JavaScript compares as C# does, and those that need a function.
func likeJavaScript(a, b Expr) (plain, byHelper bool) {
	if a.IsNumber() && b.IsNumber() {
		return Common(a.Typ, b.Typ).IsNumber(), false
	}
	if a.Kind != b.Kind || a.Name != b.Name {
		return false, false
	}
	switch a.Kind {
	case Date, Span, GUID:
		return false, true
	case Text, Boolean, Char, Enum:
		return true, false
	}
	return false, false
}

// order is a < b and the like.
func order(op string, a, b Expr, where int) Expr {
	e := Expr{Typ: Of(Boolean), Prec: Relates, Off: a.Off}
	switch {
	case a.Nullable || b.Nullable || a.Kind == Null || b.Kind == Null:
		scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), "say what null means, as in (x ?? 0)")
	case (a.Kind == Dynamic || b.Kind == Dynamic) && (a.Kind == Dynamic || a.IsNumber()) && (b.Kind == Dynamic || b.IsNumber()):
		e.JS, e.Prec = fmt.Sprintf("CSharp.compared(%q, %s, %s)", op, a.JS, b.JS), Primary
	case a.Kind == Span && b.Kind == Span:
		e.JS = fmt.Sprintf("CSharp.ticks(%s) %s CSharp.ticks(%s)", a.JS, op, b.JS)
	case a.IsNumber() && b.IsNumber() && Common(a.Typ, b.Typ).IsNumber(), a.Kind == Date && b.Kind == Date, a.Kind == Char && b.Kind == Char:
		a, b = Exact(a), Exact(b)
		e.JS = a.At(Relates) + " " + op + " " + b.At(Relates+1)
	default:
		scan.Fail(where, fmt.Sprintf("%s %s %s", a.Typ, op, b.Typ), wayTo(a, b))
	}
	return e
}
