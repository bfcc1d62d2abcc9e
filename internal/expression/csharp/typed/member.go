package typed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/pkg/workflow"
)

// Use is how a member is named: with a type in <>, and with arguments if it is called.
type Use struct {
	Name   string
	Of     *Typ // in <>
	Args   []Expr
	Called bool
	At     int
}

// linq are the methods of LINQ that people write most.
var linq = scan.Set("Select Where First FirstOrDefault Last LastOrDefault Single SingleOrDefault Any All Sum Max Min Average OrderBy OrderByDescending ThenBy GroupBy ToList ToArray ToDictionary " +
	"Skip Take Distinct Aggregate Zip Concat Union Except Intersect Cast OfType SelectMany Append Prepend ForEach Find FindAll Exists ConvertAll Sort Reverse")

// Resolve gives a member of a value or a type.
func (p *Maker) Resolve(e Expr, u Use) Expr {
	if e.Kind == Static {
		if names, ok := Enums[e.Name]; ok && slices.Contains(strings.Fields(names), u.Name) && !u.Called {
			return Expr{Typ: Typ{Kind: Enum, Name: e.Name}, JS: Quote(u.Name), Prec: Primary, Constant: true, Written: true}
		}
	}
	if e.Nullable && e.Kind != Static {
		return p.ofNullable(e, u)
	}
	switch {
	case u.Of != nil:
		scan.Fail(u.At, u.Name+"<…>", "leave the type out, or cast what it gives")
	case u.Name == "ToString" && u.Called && e.Kind != Static:
		if t, ok := p.asText(e, u); ok {
			return t
		}
	}
	switch {
	case e.Kind == Dynamic:
		return ofDynamic(e, u)
	case e.Kind == Anonymous && !u.Called:
		if t := e.Fields[u.Name]; t != nil {
			return Expr{Typ: *t, JS: e.At(Primary) + "." + u.Name, Prec: Primary}
		}
	case e.Kind == List && !u.Called && u.Name == e.Name:
		return Expr{Typ: Of(Integer), JS: e.At(Primary) + ".length", Prec: Primary}
	case e.Kind == Object:
		scan.Fail(u.At, "the member "+workflow.Shorten(u.Name)+" of an object", "cast the object, as in ((string)x)."+workflow.Shorten(u.Name)+", or make it dynamic, as in dynamic y = x;")
	}
	return p.inTable(e, u)
}

// asText is x.ToString(…); ok is false where the table has it.
func (p *Maker) asText(e Expr, u Use) (t Expr, ok bool) {
	if len(u.Args) == 1 {
		f := u.Args[0]
		if f.Kind != Text || !f.Constant || !f.Written {
			scan.Fail(f.Off, "a format that is no text in quotes", `write it in quotes, as in ToString("F2"); cultures are not there`)
		}
		return p.Formatted(e, f.Val, u.At), true
	}
	if len(u.Args) > 1 {
		return t, false
	}
	switch e.Kind {
	case Long:
		return Call(e.Off, Of(Text), "String(%s)", Exact(e).JS), true
	case Object, Dynamic:
		return Call(e.Off, Of(Text), "CSharp.text(CSharp.given(%s))", e.JS), true
	case Integer, Boolean, Double, Decimal, Enum, Date, List, Dict, Anonymous:
		return p.AsText(e), true
	}
	return t, false
}

// inTable gives a member that the table has.
func (p *Maker) inTable(e Expr, u Use) Expr {
	if u.Name == "Equals" && u.Called && len(u.Args) == 1 && e.Kind != Text && e.Kind != Static {
		if k := u.Args[0]; k.Kind != e.Kind {
			scan.Fail(u.At, fmt.Sprintf("Equals of a %s with a %s", e.Typ, k.Typ), "write ==, or cast one of them")
		}
		return p.Equal("==", e, Done(u.Args[0]), u.At)
	}
	if e.Kind == List && e.Name == "Length" && slices.Contains([]string{"Add", "Insert", "RemoveAt", "Clear"}, u.Name) {
		scan.Fail(u.At, u.Name+" of an array, whose length is fixed", "make it a list, as in new List<string>(x)")
	}
	if comparesElements(e, u) {
		return Call(u.At, Of(Boolean), "CSharp.contains(%q, %s, %s)", e.Elem.KindName(), e.JS, To(u.Args[0], *e.Elem).JS)
	}
	for _, a := range u.Args {
		if a.Kind == Static && a.Name == "out" {
			scan.Fail(u.At, u.Name+" with out", "only int, long, double, decimal, bool, Guid and DateTime have TryParse here; ask ContainsKey of a dictionary")
		}
	}
	if out, ok := Member(e, u.Name, u.Args, u.Called, u.At); ok {
		return out
	}
	NoMember(e, u)
	return Expr{}
}

// comparesElements tells a look into a list whose elements JavaScript would compare otherwise.
func comparesElements(e Expr, u Use) bool {
	if e.Kind != List || u.Name != "Contains" && u.Name != "IndexOf" || len(u.Args) != 1 {
		return false
	}
	switch e.Elem.Kind {
	case Text, Boolean, Char, Integer, Long, Double, Decimal, Enum:
		return false
	}
	if u.Name == "IndexOf" || e.Elem.Kind == List || e.Elem.Kind == Dict || e.Elem.Kind == Anonymous {
		scan.Fail(u.At, u.Name+" of a list of "+e.Elem.String(), "write a foreach that compares what is meant")
	}
	return true
}

// NoMember refuses a member that is not in the table.
func NoMember(e Expr, u Use) {
	whose := e.Typ.String()
	sep := "."
	if e.Kind == Static {
		sep = "::"
	}
	key := e.KindName()
	if e.Kind == Static {
		key = e.Name
	}
	var instead string
	var known []string
	for full := range table() {
		if n, ok := strings.CutPrefix(full, key+sep); ok && n != "new" {
			known = append(known, n)
		}
	}
	slices.Sort(known)
	switch {
	case linq[u.Name] && (e.Kind == List || e.Kind == Dict || e.Kind == Text):
		instead = "there is no LINQ; write a foreach"
	case table()[key+sep+u.Name] != nil:
		instead = "it is there with other arguments: " + shapes(key+sep+u.Name)
	case len(known) == 0:
		instead = "convert or cast it first"
	default:
		instead = "there are " + strings.Join(known, ", ")
	}
	if near := workflow.Nearest(u.Name, known); near != "" && near != u.Name {
		instead = "did you mean " + near + "?"
	}
	scan.Fail(u.At, fmt.Sprintf("the member %s of %s", workflow.Shorten(u.Name), whose), instead)
}

// shapes names the arguments that a member takes.
func shapes(key string) string {
	var all []string
	for _, o := range table()[key] {
		s := "(" + strings.Join(o.takes, ", ") + ")"
		if !o.called {
			s = "none, without brackets"
		}
		all = append(all, s)
	}
	return strings.Join(all, " or ")
}

// ofNullable gives a member of int? and the like.
func (p *Maker) ofNullable(e Expr, u Use) Expr {
	base := e.Typ
	base.Nullable = false
	switch {
	case u.Name == "HasValue" && !u.Called:
		return Expr{Typ: Of(Boolean), JS: e.At(Equals) + " != null", Prec: Equals}
	case u.Name == "Value" && !u.Called:
		return Call(u.At, base, "CSharp.given(%s)", e.JS)
	case u.Name == "GetValueOrDefault" && u.Called && len(u.Args) == 0:
		return Coalesce(e, Zero(base, u.At), u.At)
	case u.Name == "GetValueOrDefault" && u.Called && len(u.Args) == 1:
		return Coalesce(e, To(u.Args[0], base), u.At)
	case u.Name == "ToString" && u.Called && len(u.Args) == 0:
		return p.TextOf(e)
	}
	scan.Fail(u.At, fmt.Sprintf("the member %s of %s", workflow.Shorten(u.Name), e.Typ), "take its Value, or write ?. before it")
	return Expr{}
}

// ofDynamic gives a member of what is known as it runs: a field. Its methods are not known.
func ofDynamic(e Expr, u Use) Expr {
	if u.Called {
		scan.Fail(u.At, "the method "+workflow.Shorten(u.Name)+" of a dynamic value", "cast the value, as in ((string)x)."+workflow.Shorten(u.Name)+"(…)")
	}
	out := Call(u.At, Of(Dynamic), "CSharp.member(%s, %s)", e.JS, Quote(u.Name))
	out.Target = &Target{Typ: Of(Dynamic), Plain: false, Write: func(js string) string {
		return fmt.Sprintf("CSharp.put(%s, %s, %s)", e.JS, Quote(u.Name), js)
	}}
	return out
}

// members are those of .NET's types, one a line: the type, "::" before what belongs to the type and "." before what belongs to
// a value, the name, what it takes, what it gives, and the JavaScript, where $0 is the value and $1 the first argument.
// A property has no brackets. T is the type of a list's or a dictionary's values, and self the type of the value itself.
const members = `
string::Empty string = ""
string::IsNullOrEmpty(string) bool = ($1 ?? "") === ""
string::IsNullOrWhiteSpace(string) bool = CSharp.trim($1 ?? "") === ""
string::Equals(string, string) bool = $1 === $2
string::Equals(string, string, StringComparison) bool = CSharp.equals($1, $2, $3)
string.Length int = $0.length
string.ToUpper() string = CSharp.upper($0)
string.ToLower() string = CSharp.lower($0)
string.ToUpperInvariant() string = CSharp.upper($0)
string.ToLowerInvariant() string = CSharp.lower($0)
string.Trim() string = CSharp.trim($0)
string.Trim(char) string = CSharp.trim($0, $1)
string.TrimStart() string = CSharp.trimStart($0)
string.TrimStart(char) string = CSharp.trimStart($0, $1)
string.TrimEnd() string = CSharp.trimEnd($0)
string.TrimEnd(char) string = CSharp.trimEnd($0, $1)
string.Substring(int) string = CSharp.substring($0, $1)
string.Substring(int, int) string = CSharp.substring($0, $1, $2)
string.Remove(int) string = CSharp.substring($0, 0, $1)
string.Contains(char) bool = $0.includes($1)
string.Contains(string) bool = $0.includes(CSharp.given($1))
string.Contains(string, StringComparison) bool = CSharp.find("in", $0, $1, $2)
string.StartsWith(char) bool = $0.startsWith($1)
string.StartsWith(string) bool = $0.startsWith(CSharp.given($1))
string.StartsWith(string, StringComparison) bool = CSharp.find("start", $0, $1, $2)
string.EndsWith(char) bool = $0.endsWith($1)
string.EndsWith(string) bool = $0.endsWith(CSharp.given($1))
string.EndsWith(string, StringComparison) bool = CSharp.find("end", $0, $1, $2)
string.IndexOf(char) int = $0.indexOf($1)
string.IndexOf(string) int = $0.indexOf(CSharp.given($1))
string.LastIndexOf(char) int = $0.lastIndexOf($1)
string.LastIndexOf(string) int = $0.lastIndexOf(CSharp.given($1))
string.Replace(char, char) string = $0.split($1).join($2)
string.Replace(string, string) string = $0.split(CSharp.sought($1)).join($2 ?? "")
string.Split(char) string[] = CSharp.split($0, $1)
string.Split(char, StringSplitOptions) string[] = CSharp.split($0, $1, $2)
string.Split(string) string[] = CSharp.split($0, $1)
string.Split(string, StringSplitOptions) string[] = CSharp.split($0, $1, $2)
string.Split(char[]) string[] = CSharp.splitAny($0, $1)
string.Split(char[], StringSplitOptions) string[] = CSharp.splitAny($0, $1, $2)
string.PadLeft(int) string = CSharp.padLeft($0, $1)
string.PadLeft(int, char) string = CSharp.padLeft($0, $1, $2)
string.PadRight(int) string = CSharp.padRight($0, $1)
string.PadRight(int, char) string = CSharp.padRight($0, $1, $2)
string.Equals(string) bool = CSharp.equals($0, $1, "Ordinal")
string.Equals(string, StringComparison) bool = CSharp.equals($0, $1, $2)
string.ToString() string = CSharp.given($0)
char::IsDigit(char) bool = CSharp.is("digit", $1)
char::IsLetter(char) bool = CSharp.is("letter", $1)
char::IsLetterOrDigit(char) bool = CSharp.is("letterOrDigit", $1)
char::IsWhiteSpace(char) bool = CSharp.is("space", $1)
char::IsUpper(char) bool = CSharp.is("upper", $1)
char::IsLower(char) bool = CSharp.is("lower", $1)
char::ToUpper(char) char = CSharp.upper($1)
char::ToLower(char) char = CSharp.lower($1)
char.ToString() string = $0
int::Parse(string) int = CSharp.parse("int", $1)
int::MaxValue int = 2147483647
int::MinValue int = -2147483648
long::Parse(string) long = CSharp.parse("long", $1)
double::Parse(string) double = CSharp.parse("double", $1)
double::IsNaN(double) bool = Number.isNaN($1)
decimal::Parse(string) decimal = CSharp.parse("decimal", $1)
bool::Parse(string) bool = CSharp.parse("bool", $1)
Convert::ToInt32(string) int = CSharp.parse("int", $1 ?? "0")
Convert::ToInt32(int) int = $1
Convert::ToInt32(long) int = CSharp.narrow("int", $1)
Convert::ToInt32(double) int = CSharp.narrow("int", $1)
Convert::ToInt32(decimal) int = CSharp.narrow("int", $1)
Convert::ToInt32(bool) int = $1 ? 1 : 0
Convert::ToInt32(object) int = CSharp.converted("int", $1)
Convert::ToInt64(string) long = CSharp.parse("long", $1 ?? "0")
Convert::ToInt64(long) long = $1
Convert::ToInt64(double) long = CSharp.narrow("long", $1)
Convert::ToInt64(decimal) long = CSharp.narrow("long", $1)
Convert::ToInt64(object) long = CSharp.converted("long", $1)
Convert::ToDouble(string) double = CSharp.parse("double", $1 ?? "0")
Convert::ToDouble(double) double = $1
Convert::ToDouble(decimal) double = $1
Convert::ToDouble(object) double = CSharp.converted("double", $1)
Convert::ToDecimal(string) decimal = CSharp.parse("decimal", $1 ?? "0")
Convert::ToDecimal(decimal) decimal = $1
Convert::ToDecimal(double) decimal = CSharp.toDecimal($1)
Convert::ToDecimal(object) decimal = CSharp.converted("decimal", $1)
Convert::ToBoolean(string) bool = CSharp.parse("bool", $1 ?? "False")
Convert::ToBoolean(bool) bool = $1
Convert::ToBoolean(int) bool = $1 !== 0
Convert::ToBoolean(object) bool = CSharp.converted("bool", $1)
Math::PI double = Math.PI
Math::E double = Math.E
Math::Abs(int) int = CSharp.abs("int", $1)
Math::Abs(long) long = CSharp.abs("long", $1)
Math::Abs(double) double = Math.abs($1)
Math::Abs(decimal) decimal = Math.abs($1)
Math::Min(int, int) int = Math.min($1, $2)
Math::Min(long, long) long = Math.min($1, $2)
Math::Min(double, double) double = Math.min($1, $2)
Math::Min(decimal, decimal) decimal = Math.min($1, $2)
Math::Max(int, int) int = Math.max($1, $2)
Math::Max(long, long) long = Math.max($1, $2)
Math::Max(double, double) double = Math.max($1, $2)
Math::Max(decimal, decimal) decimal = Math.max($1, $2)
Math::Floor(double) double = Math.floor($1)
Math::Floor(decimal) decimal = Math.floor($1)
Math::Ceiling(double) double = Math.ceil($1)
Math::Ceiling(decimal) decimal = CSharp.zero(Math.ceil($1))
Math::Truncate(double) double = Math.trunc($1)
Math::Truncate(decimal) decimal = CSharp.zero(Math.trunc($1))
Math::Sign(int) int = Math.sign($1)
Math::Sign(double) int = CSharp.zero(Math.sign($1))
Math::Sign(decimal) int = Math.sign($1)
Math::Sqrt(double) double = Math.sqrt($1)
Math::Round(double) double = CSharp.round("double", $1, 0)
Math::Round(decimal) decimal = CSharp.round("decimal", $1, 0)
Math::Round(double, int) double = CSharp.round("double", $1, $2)
Math::Round(decimal, int) decimal = CSharp.round("decimal", $1, $2)
Math::Round(double, MidpointRounding) double = CSharp.round("double", $1, 0, $2)
Math::Round(decimal, MidpointRounding) decimal = CSharp.round("decimal", $1, 0, $2)
Math::Round(double, int, MidpointRounding) double = CSharp.round("double", $1, $2, $3)
Math::Round(decimal, int, MidpointRounding) decimal = CSharp.round("decimal", $1, $2, $3)
Environment::NewLine string = "\n"
Guid::NewGuid() Guid = Guid.NewGuid()
Guid::Empty Guid = Guid.Empty
Guid::Parse(string) Guid = CSharp.parse("Guid", $1)
Guid::new(string) Guid = CSharp.parse("Guid", $1)
Guid.ToString() string = $0
TimeSpan::Zero TimeSpan = TimeSpan.Zero
TimeSpan::FromDays(double) TimeSpan = TimeSpan.FromDays($1)
TimeSpan::FromHours(double) TimeSpan = TimeSpan.FromHours($1)
TimeSpan::FromMinutes(double) TimeSpan = TimeSpan.FromMinutes($1)
TimeSpan::FromSeconds(double) TimeSpan = TimeSpan.FromSeconds($1)
TimeSpan::FromMilliseconds(double) TimeSpan = TimeSpan.FromMilliseconds($1)
TimeSpan::Parse(string) TimeSpan = CSharp.parse("TimeSpan", $1)
TimeSpan::new(int, int, int) TimeSpan = CSharp.newSpan(0, $1, $2, $3)
TimeSpan::new(int, int, int, int) TimeSpan = CSharp.newSpan($1, $2, $3, $4)
TimeSpan.Days int = $0.Days
TimeSpan.Hours int = $0.Hours
TimeSpan.Minutes int = $0.Minutes
TimeSpan.Seconds int = $0.Seconds
TimeSpan.Milliseconds int = $0.Milliseconds
TimeSpan.TotalDays double = $0.TotalDays
TimeSpan.TotalHours double = $0.TotalHours
TimeSpan.TotalMinutes double = $0.TotalMinutes
TimeSpan.TotalSeconds double = $0.TotalSeconds
TimeSpan.TotalMilliseconds double = $0.TotalMilliseconds
TimeSpan.Add(TimeSpan) TimeSpan = CSharp.times("+", $0, $1)
TimeSpan.Subtract(TimeSpan) TimeSpan = CSharp.times("-", $0, $1)
TimeSpan.ToString() string = CSharp.text($0, "TimeSpan")
DateTime::UtcNow DateTime = DateTime.UtcNow
DateTime::Now DateTime = DateTime.Now
DateTime::Today DateTime = CSharp.day(DateTime.Now)
DateTime::Parse(string) DateTime = CSharp.parse("DateTime", $1)
DateTime::new(int, int, int) DateTime = CSharp.newDate($1, $2, $3, 0, 0, 0)
DateTime::new(int, int, int, int, int, int) DateTime = CSharp.newDate($1, $2, $3, $4, $5, $6)
DateTime::new(int, int, int, int, int, int, TimeSpan) DateTime = CSharp.moved("-", CSharp.newDate($1, $2, $3, $4, $5, $6), $7)
DateTime.Year int = CSharp.part("Year", $0)
DateTime.Month int = CSharp.part("Month", $0)
DateTime.Day int = CSharp.part("Day", $0)
DateTime.Hour int = CSharp.part("Hour", $0)
DateTime.Minute int = CSharp.part("Minute", $0)
DateTime.Second int = CSharp.part("Second", $0)
DateTime.Millisecond int = CSharp.part("Millisecond", $0)
DateTime.DayOfYear int = CSharp.part("DayOfYear", $0)
DateTime.DayOfWeek DayOfWeek = CSharp.part("DayOfWeek", $0)
DateTime.Date DateTime = CSharp.day($0)
DateTime.UtcDateTime DateTime = $0
DateTime.DateTime DateTime = $0
DateTime.ToUniversalTime() DateTime = $0
DateTime.AddDays(double) DateTime = CSharp.addTime("Days", $0, $1)
DateTime.AddHours(double) DateTime = CSharp.addTime("Hours", $0, $1)
DateTime.AddMinutes(double) DateTime = CSharp.addTime("Minutes", $0, $1)
DateTime.AddSeconds(double) DateTime = CSharp.addTime("Seconds", $0, $1)
DateTime.AddMilliseconds(double) DateTime = CSharp.addTime("Milliseconds", $0, $1)
DateTime.AddMonths(int) DateTime = CSharp.addMonths($0, $1)
DateTime.AddYears(int) DateTime = CSharp.addMonths($0, 12 * $1)
DateTime.Add(TimeSpan) DateTime = CSharp.moved("+", $0, $1)
DateTime.Subtract(TimeSpan) DateTime = CSharp.moved("-", $0, $1)
DateTime.Subtract(DateTime) TimeSpan = CSharp.between($0, $1)
DateTime.ToUnixTimeSeconds() long = CSharp.unix($0, 1000)
DateTime.ToUnixTimeMilliseconds() long = CSharp.unix($0, 1)
list.Contains(T) bool = $0.includes($1)
list.IndexOf(T) int = $0.indexOf($1)
list.Add(T) void = $0.push($1)
list.Clear() void = $0.splice(0)
list.RemoveAt(int) void = CSharp.removeAt($0, $1)
list.Insert(int, T) void = CSharp.insert($0, $1, $2)
dictionary.Count int = Object.keys($0).length
dictionary.ContainsKey(string) bool = CSharp.has($0, $1)
dictionary.Add(string, T) void = CSharp.add($0, $1, $2)
dictionary.Remove(string) bool = CSharp.remove($0, $1)
dictionary.Clear() void = CSharp.clear($0)
dictionary.Keys string[] = Object.keys($0)
dictionary.Values T[] = Object.values($0)
pair.Key string = $0[0]
pair.Value T = $0[1]
`

// Enums are their names, which are texts here.
var Enums = map[string]string{
	"StringComparison":   "Ordinal OrdinalIgnoreCase InvariantCulture InvariantCultureIgnoreCase CurrentCulture CurrentCultureIgnoreCase",
	"StringSplitOptions": "None RemoveEmptyEntries TrimEntries",
	"MidpointRounding":   "ToEven AwayFromZero ToZero",
	"DayOfWeek":          "Sunday Monday Tuesday Wednesday Thursday Friday Saturday",
}

// overload is one line of [members].
type overload struct {
	takes  []string
	gives  string
	js     string
	called bool
}

// table is [members] by type and name.
var table = sync.OnceValue(func() map[string][]overload {
	out := map[string][]overload{}
	for line := range strings.Lines(members) {
		head, js, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok {
			continue
		}
		o := overload{js: js}
		at := strings.LastIndexByte(head, ' ')
		key := head[:at]
		o.gives = head[at+1:]
		if open := strings.IndexByte(key, '('); open >= 0 {
			o.called = true
			for a := range strings.SplitSeq(strings.TrimSuffix(key[open+1:], ")"), ", ") {
				if a != "" {
					o.takes = append(o.takes, a)
				}
			}
			key = key[:open]
		}
		out[key] = append(out[key], o)
	}
	return out
})

// tableType is a type of the table; T is elem.
func tableType(s string, elem *Typ) Typ {
	if inner, ok := strings.CutSuffix(s, "[]"); ok {
		return ListOf(tableType(inner, elem), "Length")
	}
	switch {
	case s == "T" && elem != nil:
		return *elem
	case Enums[s] != "":
		return Typ{Kind: Enum, Name: s}
	}
	return Of(Simple[s])
}

// Member gives what the table has for a member; ok is false if it has none that fits.
func Member(e Expr, member string, args []Expr, called bool, at int) (Expr, bool) {
	key := e.KindName() + "." + member
	if e.Kind == Static {
		key = e.Name + "::" + member
	}
	fitting := slices.DeleteFunc(slices.Clone(table()[key]), func(o overload) bool {
		return o.called != called || len(o.takes) != len(args) || !fit(o, e, args)
	})
	if len(fitting) > 1 {
		for _, a := range args {
			if a.Kind == Dynamic {
				scan.Fail(a.Off, "a dynamic value given to "+member, "cast it: what is done depends on its type, as in (int)x")
			}
		}
	}
	if len(fitting) == 0 {
		return Expr{}, false
	}
	o := fitting[0]
	given := make([]Expr, 0, len(args)+1)
	given = append(given, e)
	for i, a := range args {
		given = append(given, Exact(To(a, tableType(o.takes[i], e.Elem))))
	}
	out := Expr{Typ: tableType(o.gives, e.Elem), JS: fill(o.js, given), Prec: Primary, Off: at, Call: called}
	if strings.ContainsAny(o.js, " ") && !strings.HasSuffix(o.js, ")") || strings.HasPrefix(o.js, "(") {
		out.Prec = Lowest
	}
	if strings.HasPrefix(o.js, "-") {
		out.Prec = Prefix
	}
	return out, true
}

// fit tells whether the arguments are those of an overload. What is dynamic fits all, so more than one may.
func fit(o overload, e Expr, args []Expr) bool {
	for i, a := range args {
		t := tableType(o.takes[i], e.Elem)
		if !Converts(a.Typ, t) {
			return false
		}
		if t.Kind == List && a.Kind == List && a.Elem.Kind != t.Elem.Kind {
			return false
		}
	}
	return true
}

// fill puts the values into the JavaScript of a member.
func fill(js string, given []Expr) string {
	var b strings.Builder
	for i := 0; i < len(js); i++ {
		if js[i] != '$' || i+1 == len(js) {
			b.WriteByte(js[i])
			continue
		}
		n, err := strconv.Atoi(js[i+1 : i+2])
		if err != nil || n >= len(given) {
			b.WriteByte(js[i])
			continue
		}
		inside := i > 0 && (js[i-1] == '(' || js[i-1] == ' ' && i > 1 && js[i-2] == ',')
		ends := i+2 < len(js) && (js[i+2] == ')' || js[i+2] == ',')
		if inside && ends {
			b.WriteString(given[n].JS)
		} else {
			b.WriteString(given[n].At(Primary))
		}
		i++
	}
	return b.String()
}
