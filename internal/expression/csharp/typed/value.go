package typed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
)

// Expr is what was read, as JavaScript.
type Expr struct {
	Typ
	JS       string
	Prec     int    // of the outermost operator of JS
	Off      int    // where it begins
	Val      string // of a constant text or char
	Constant bool
	Written  bool // a text or a number as it is written, without operators
	Bits     int  // > 0: a sum of ints that does not wrap yet, and how many bits it has
	Call     bool // it may stand as a statement
	Read     bool // a whole number from outside, which may be beyond what numbers hold exactly
	Target   *Target
}

// Target is what can be given a value.
type Target struct {
	Typ
	Plain bool // it may be named twice
	Local bool // a variable of the script's own
	Write func(js string) string
}

// Precedences of JavaScript, as far as they are used.
const (
	Lowest     = 0
	Arm        = 2 // of ? :
	Either     = 3 // || ?? |
	Both       = 4 // &&
	BitOr      = 5
	Equals     = 8
	Relates    = 9
	Adds       = 12
	Multiplies = 13
	Prefix     = 15
	Primary    = 20
)

// At is the JavaScript as a part of something that binds like prec.
func (e Expr) At(prec int) string {
	if e.Prec < prec {
		return "(" + e.JS + ")"
	}
	return e.JS
}

// Done is a value that is finished: a sum of ints wraps.
func Done(e Expr) Expr {
	switch {
	case e.Kind == Static:
		scan.Fail(e.Off, e.Name+" as a value", "name one of its members")
	case e.Kind == Void && !e.Call:
		scan.Fail(e.Off, "this as a value", "write what gives one")
	case e.Bits > 0:
		e.JS, e.Prec, e.Bits = e.At(BitOr+1)+" | 0", BitOr, 0
	}
	return e
}

// Exact is a long that was not rounded as it was read.
func Exact(e Expr) Expr {
	if e.Read {
		e.JS, e.Prec, e.Read = "CSharp.long("+e.JS+")", Primary, false
	}
	return e
}

// Call is a call of a function of JavaScript.
func Call(off int, t Typ, format string, args ...any) Expr {
	return Expr{Typ: t, JS: fmt.Sprintf(format, args...), Prec: Primary, Off: off}
}

// Quote is a text as JavaScript writes it.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		Escape(&b, r, '"')
	}
	b.WriteByte('"')
	return b.String()
}

// Escape writes a letter of a text of JavaScript.
func Escape(b *strings.Builder, r, Quote rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == '\\' || r == Quote:
		b.WriteByte('\\')
		b.WriteRune(r)
	case r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		b.WriteRune(r)
	}
}

// ObjectOf is an object with these members.
func ObjectOf(parts []string) string {
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// Property is a name as a key of an object.
func Property(key string) string {
	for i, r := range key {
		if r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return Quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

// Note is what a translation says of itself.
type Note struct {
	Code, Detail string
	Of           string // the variable or the input that it is about
	Off          int
}

// Maker makes JavaScript of values, and notes what may be otherwise than in C#.
type Maker struct {
	Notes []Note
	Wide  bool // a whole number that is read is to become a long or a fraction
}

// Note adds one, with its place.
func (p *Maker) Note(off int, code, format string, args ...any) {
	n := Note{Code: code, Detail: fmt.Sprintf(format, args...), Off: off}
	if len(args) > 0 {
		n.Of, _ = args[0].(string)
	}
	if len(p.Notes) < mostNotes && !slices.Contains(p.Notes, n) {
		p.Notes = append(p.Notes, n)
	}
}

const mostNotes = 20

// Strip takes away brackets around a single name or number.
func Strip(js string) string {
	inner := js[1 : len(js)-1]
	if strings.IndexFunc(inner, func(r rune) bool {
		return r != '_' && r != '.' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return inner
	}
	return js
}
