package csharp

import (
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
)

// typeName reads a type; ok is false, and nothing is read, where there is none.
func (p *reader) typeName() (t typed.Typ, ok bool) {
	start := p.Save()
	if t, ok = p.typeAt(0); !ok {
		p.Restore(start)
	}
	return t, ok
}

const mostTypeArguments, mostTypeDepth = 2, 4

func (p *reader) typeAt(depth int) (t typed.Typ, ok bool) {
	if p.Tok.Class != scan.Name || depth > mostTypeDepth || scan.Words[p.Tok.Text] {
		return t, false
	}
	if t, ok = p.simpleType(depth); !ok {
		return t, false
	}
	for range mostTypeDepth {
		switch {
		case p.Is("?") && t.Kind != typed.Void && p.nullableHere():
			p.Advance()
			if t.IsValue() {
				t.Nullable = true
			}
		case p.Is("[") && strings.HasPrefix(strings.TrimLeft(p.Src[p.Pos:], " "), "]"):
			p.Advance()
			p.Advance()
			t = typed.ListOf(t, "Length")
		default:
			return t, true
		}
	}
	return t, true
}

// otherNumbers are types whose numbers have other digits or bounds than those that are here.
var otherNumbers = scan.Set("float Single uint ulong sbyte ushort short byte Int16 Byte UInt16 UInt32 UInt64 SByte")

// simpleType reads a type without ? and [].
func (p *reader) simpleType(depth int) (t typed.Typ, ok bool) {
	at, first := p.Tok, p.Tok.Text
	for p.Advance(); p.Is(".") && (first == "System" || first == "Collections" || first == "Generic" || first == "Dynamic"); p.Advance() {
		if p.Advance(); p.Tok.Class != scan.Name {
			return t, false
		}
		first = p.Tok.Text
	}
	if p.Is("<") {
		return p.generic(first, depth)
	}
	if otherNumbers[first] && (depth > 0 || p.Tok.Class == scan.Name || p.Is(")") || p.Is("?") || p.Is("[") || p.Is(">")) { // and so is a type
		scan.Fail(at.Off, "the type "+first, "write int, long, double or decimal")
	}
	k, known := typed.Simple[first]
	return typed.Of(k), known && !otherNumbers[first]
}

// nullableHere tells int? x from a ? b : c: what follows the type is a name, a bracket or an end.
func (p *reader) nullableHere() bool {
	rest := strings.TrimLeft(p.Src[p.Pos:], " \t\r\n")
	if rest == "" {
		return false
	}
	if strings.IndexByte(")>,]", rest[0]) >= 0 || strings.HasPrefix(rest, "[]") {
		return true
	}
	r := p.Save()
	defer p.Restore(r)
	p.Advance()
	if p.Tok.Class != scan.Name {
		return false
	}
	p.Advance()
	return p.Is("=") || p.Is(";") || p.Is(",") || p.Tok.Class == scan.Name && p.Tok.Text == "in"
}

func (p *reader) generic(outer string, depth int) (typed.Typ, bool) {
	p.Advance()
	var args []typed.Typ
	for len(args) < mostTypeArguments {
		a, ok := p.typeAt(depth + 1)
		if !ok {
			return a, false
		}
		args = append(args, a)
		if !p.Is(",") {
			break
		}
		p.Advance()
	}
	if !p.Is(">") {
		return typed.Typ{}, false
	}
	p.Advance()
	switch outer {
	case "List", "IList", "ICollection", "IEnumerable", "IReadOnlyList", "IReadOnlyCollection", "Collection":
		if len(args) == 1 {
			return typed.ListOf(args[0], "Count"), true
		}
	case "Dictionary", "IDictionary", "IReadOnlyDictionary":
		if len(args) == 2 && args[0].Kind == typed.Text {
			return typed.DictOf(args[1]), true
		}
	case "Nullable":
		if len(args) == 1 {
			args[0].Nullable = true
			return args[0], true
		}
	case "KeyValuePair":
		if len(args) == 2 {
			return typed.Typ{Kind: typed.Pair, Elem: &args[1]}, true
		}
	}
	return typed.Typ{}, false
}
