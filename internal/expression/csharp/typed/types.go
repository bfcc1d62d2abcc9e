package typed

import (
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
)

// KindName is what the kind is called in C#, and by the functions of js/dotnet.
func (t Typ) KindName() string {
	return kindNames[t.Kind]
}

// Kind is what sort of value an expression has, to C#.
type Kind uint8

// The kinds.
const (
	Object Kind = iota // it is known only as it runs, and C# lets nothing be done with it
	Dynamic
	Null
	Void
	Boolean
	Char
	Text
	Integer // int, and what is computed as one
	Long
	Double
	Decimal
	Date // DateTime and DateTimeOffset
	Span
	GUID
	List
	Dict
	Anonymous
	Pair
	Enum
	Static // the name of a type, or of what Elsa gives to scripts
)

// Typ is a type of C#.
type Typ struct {
	Kind
	Name     string          // of an enum or a static; how a list counts itself: Length or Count
	Elem     *Typ            // of a list, of the values of a dict
	Fields   map[string]*Typ // of an anonymous object
	Nullable bool            // int? and the like
}

var kindNames = map[Kind]string{
	Object: "object", Dynamic: "dynamic", Null: "null", Void: "void", Boolean: "bool", Char: "char", Text: "string", Integer: "int", Long: "long",
	Double: "double", Decimal: "decimal", Date: "DateTime", Span: "TimeSpan", GUID: "Guid", List: "list", Dict: "dictionary", Anonymous: "anonymous object", Pair: "pair", Enum: "enum", Static: "type",
}

func (t Typ) String() string {
	s := kindNames[t.Kind]
	if t.Kind == Enum || t.Kind == Static {
		s = t.Name
	}
	if t.Nullable {
		s += "?"
	}
	return s
}

// Of is the type of a kind.
func Of(k Kind) Typ { return Typ{Kind: k} }

// ListOf is a list, which counts by Length or Count.
func ListOf(elem Typ, counts string) Typ { return Typ{Kind: List, Elem: &elem, Name: counts} }

// DictOf is a dictionary of texts.
func DictOf(elem Typ) Typ { return Typ{Kind: Dict, Elem: &elem} }

// sameElements tells whether lists, dictionaries and pairs hold values of one type; an object and a dynamic are one.
func (t Typ) sameElements(o Typ) bool {
	if t.Elem == nil || o.Elem == nil {
		return t.Elem == o.Elem
	}
	a, b := *t.Elem, *o.Elem
	loose := func(k Kind) bool { return k == Object || k == Dynamic }
	return (a.Kind == b.Kind && (a.Kind != Enum || a.Name == b.Name) || loose(a.Kind) && loose(b.Kind)) && a.Nullable == b.Nullable && a.sameElements(b)
}

// holding is the type for people, with what is in it.
func (t Typ) holding() string {
	if t.Elem == nil {
		return t.String()
	}
	return t.String() + " of " + t.Elem.holding()
}

// IsNumber tells the types that are computed with.
func (t Typ) IsNumber() bool { return t.Kind >= Integer && t.Kind <= Decimal }

// IsValue tells types that have no null.
func (t Typ) IsValue() bool {
	switch t.Kind {
	case Boolean, Char, Integer, Long, Double, Decimal, Date, Span, GUID, Enum:
		return !t.Nullable
	}
	return false
}

// Simple are types by their names in C# and in .NET, in lower case where C# has both.
var Simple = map[string]Kind{
	"object": Object, "Object": Object, "dynamic": Dynamic, "ExpandoObject": Dynamic, "bool": Boolean, "Boolean": Boolean, "char": Char, "Char": Char, "string": Text, "String": Text,
	"int": Integer, "Int32": Integer, "short": Integer, "Int16": Integer, "byte": Integer, "Byte": Integer, "long": Long, "Int64": Long,
	"double": Double, "Double": Double, "decimal": Decimal, "Decimal": Decimal, "DateTime": Date, "DateTimeOffset": Date, "TimeSpan": Span, "Guid": GUID, "void": Void,
}

// declaredKinds are the aliases of variables and inputs, in lower case.
var declaredKinds = func() map[string]Kind {
	out := map[string]Kind{"integer": Integer, "number": Double, "duration": Span, "uri": Object}
	for n, k := range Simple {
		if k != Void {
			out[strings.ToLower(n)] = k
		}
	}
	return out
}()

// Declared gives the type of a variable or an input by its alias.
func Declared(alias string) Typ {
	low := strings.ToLower(strings.TrimSpace(alias))
	if elem, ok := strings.CutSuffix(low, "[]"); ok {
		return ListOf(declaredElement(elem), "Length")
	}
	if from := strings.IndexByte(low, '<'); from >= 0 && strings.HasSuffix(low, ">") {
		inner := low[from+1 : len(low)-1]
		if key, value, two := strings.Cut(inner, ","); two {
			if strings.TrimSpace(key) == "string" {
				return DictOf(declaredElement(value))
			}
			return Of(Object)
		}
		return ListOf(declaredElement(inner), "Count")
	}
	if low == "" {
		return Of(Dynamic)
	}
	return Of(declaredKinds[low])
}

// declaredElement is the type of what a list holds: times are texts where they are kept, and need a cast.
func declaredElement(alias string) Typ {
	t := Declared(alias)
	switch t.Kind {
	case Date, Span, GUID, Char, List, Dict:
		return Of(Object)
	}
	return t
}

// Together is the type of the arms of ? : and of a switch.
func Together(t Typ, e Expr) Typ {
	if t.Kind == Char && e.IsNumber() || t.IsNumber() && e.Kind == Char {
		scan.Fail(e.Off, "a char beside a number, which C# makes a number of", "cast it, as in (int)c, or make it a text, as in c.ToString()")
	}
	return Common(t, e.Typ)
}

// Common is the type that two branches have together.
func Common(a, b Typ) Typ {
	switch {
	case a.Kind == b.Kind && a.Name == b.Name:
		a.Nullable = a.Nullable || b.Nullable
		if a.Kind == Anonymous {
			return Of(Object)
		}
		if !a.sameElements(b) {
			return Of(Object)
		}
		return a
	case a.Kind == Null:
		return Common(b, a)
	case b.Kind == Null:
		if a.IsValue() {
			a.Nullable = true
		}
		return a
	case a.Kind == Dynamic || b.Kind == Dynamic:
		return Of(Dynamic)
	case a.IsNumber() && b.IsNumber() && (a.Kind != Double || b.Kind != Decimal) && (a.Kind != Decimal || b.Kind != Double):
		return Typ{Kind: max(a.Kind, b.Kind), Nullable: a.Nullable || b.Nullable}
	}
	return Of(Object)
}
