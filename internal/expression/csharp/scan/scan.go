package scan

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow"
)

// Class is what a token is.
type Class uint8

// The classes.
const (
	End    Class = iota
	Name         // an identifier or a word of the language
	Number       // Text is its spelling
	Quoted       // Val is the text
	Letter       // Val is the text of a char
	Filled       // the beginning of a text with holes; the parser reads on
	Sign
)

// Token is one word, sign or text.
type Token struct {
	Class
	Text     string
	Val      string
	Off, End int
	At       bool // an identifier written @name
}

// Scanner reads tokens, one ahead.
type Scanner struct {
	Src  string
	Pos  int // of what is read next
	Tok  Token
	Last int // where the token before ended
}

// signs are longest first.
var signs = []string{
	"??=", "<<=", ">>=", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "..", "->",
}

// Advance reads the next token.
func (p *Scanner) Advance() {
	p.skip()
	p.Last = p.Tok.End
	p.Tok = p.lex()
	p.Pos = p.Tok.End
}

// skip passes over white space and comments.
func (p *Scanner) skip() {
	for p.Pos < len(p.Src) {
		rest := p.Src[p.Pos:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			p.Pos += size
		case strings.HasPrefix(rest, "//"):
			i := strings.IndexByte(rest, '\n')
			if i < 0 {
				i = len(rest)
			}
			p.Pos += i
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				Fail(p.Pos, "a comment that does not end", "end it with */")
			}
			p.Pos += i + 4
		default:
			return
		}
	}
}

func (p *Scanner) lex() Token {
	t := Token{Off: p.Pos, End: p.Pos}
	if p.Pos >= len(p.Src) {
		return t
	}
	rest := p.Src[p.Pos:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case isDollar(rest):
		t.Class, t.End = Filled, p.Pos
		return t
	case rest[0] == '"' || strings.HasPrefix(rest, `@"`):
		return p.textToken()
	case rest[0] == '\'':
		return p.charToken()
	case r == '@' || r == '_' || unicode.IsLetter(r):
		return p.word()
	case r >= '0' && r <= '9' || startsFraction(rest):
		return p.number()
	case r == '#':
		Fail(p.Pos, "a directive of the compiler", "leave it out")
	}
	t.Class, t.Text = Sign, rest[:size]
	for _, s := range signs {
		if strings.HasPrefix(rest, s) && (s != "?." || !startsFraction(rest[1:])) { // a ? .5 : …
			t.Text = s
			break
		}
	}
	t.End = p.Pos + len(t.Text)
	return t
}

func startsFraction(s string) bool { return len(s) > 1 && s[0] == '.' && s[1] >= '0' && s[1] <= '9' }

// isDollar tells the beginning of a text with holes.
func isDollar(s string) bool {
	t := strings.TrimLeft(s, "$")
	return t != s && (strings.HasPrefix(t, `"`) || strings.HasPrefix(t, `@"`)) || strings.HasPrefix(s, `@$"`)
}

func (p *Scanner) word() Token {
	t := Token{Class: Name, Off: p.Pos}
	from := p.Pos
	if p.Src[from] == '@' {
		t.At = true
		from++
	}
	to := from
	for to < len(p.Src) {
		r, size := utf8.DecodeRuneInString(p.Src[to:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		to += size
	}
	t.Text, t.End = p.Src[from:to], to
	if t.Text == "" {
		Fail(p.Pos, "@ without a name or a text", "write a name after it, or leave it out")
	}
	return t
}

func (p *Scanner) number() Token {
	i := p.Pos
	hex := strings.HasPrefix(p.Src[i:], "0x") || strings.HasPrefix(p.Src[i:], "0X") || strings.HasPrefix(p.Src[i:], "0b") || strings.HasPrefix(p.Src[i:], "0B")
	for i < len(p.Src) {
		c := p.Src[i]
		switch {
		case c >= '0' && c <= '9', c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case c == '.' && !hex && i+1 < len(p.Src) && p.Src[i+1] >= '0' && p.Src[i+1] <= '9':
		case (c == '+' || c == '-') && !hex && (p.Src[i-1] == 'e' || p.Src[i-1] == 'E') && i > p.Pos:
		default:
			return Token{Class: Number, Text: p.Src[p.Pos:i], Off: p.Pos, End: i}
		}
		i++
	}
	return Token{Class: Number, Text: p.Src[p.Pos:i], Off: p.Pos, End: i}
}

func (p *Scanner) charToken() Token {
	val, to := p.escaped(p.Pos+1, '\'')
	if n := len(utf16.Encode([]rune(val))); n != 1 {
		Fail(p.Pos, "a char that is not one letter of UTF-16", `write a text in double quotes`)
	}
	return Token{Class: Letter, Val: val, Off: p.Pos, End: to}
}

// textToken reads a text without holes: "…", @"…" or """…""".
func (p *Scanner) textToken() Token {
	t := Token{Class: Quoted, Off: p.Pos}
	rest := p.Src[p.Pos:]
	switch {
	case rest[0] == '@':
		var b strings.Builder
		for i := p.Pos + 2; ; i++ {
			switch {
			case i >= len(p.Src):
				Fail(p.Pos, "a text that does not end", `end it with "`)
			case strings.HasPrefix(p.Src[i:], `""`):
				b.WriteByte('"')
				i++
			case p.Src[i] == '"':
				t.Val, t.End = b.String(), i+1
				return t
			default:
				b.WriteByte(p.Src[i])
			}
		}
	case strings.HasPrefix(rest, `"""`):
		quotes := len(rest) - len(strings.TrimLeft(rest, `"`))
		closing := strings.Index(rest[quotes:], rest[:quotes])
		if closing < 0 {
			Fail(p.Pos, "a text that does not end", "end it with "+rest[:quotes])
		}
		for to := quotes + closing + quotes; to < len(rest) && rest[to] == '"'; to++ { // quotes at its end are its own
			closing++
		}
		t.Val, t.End = p.Raw(rest[quotes:quotes+closing]), p.Pos+quotes+closing+quotes
		return t
	}
	t.Val, t.End = p.escaped(p.Pos+1, '"')
	return t
}

// Raw is what a text between three quotes or more says: over several lines it loses the first and the last line break,
// and the white space before the closing quotes.
func (p *Scanner) Raw(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	margin := lines[len(lines)-1]
	if strings.TrimSpace(lines[0]) != "" || strings.TrimSpace(margin) != "" || len(lines) < 2 {
		Fail(p.Pos, "a raw text whose quotes do not stand on lines of their own", `put the text on lines between the quotes`)
	}
	lines = lines[1 : len(lines)-1]
	for i, l := range lines {
		cut, ok := strings.CutPrefix(l, margin)
		if !ok && strings.TrimSpace(l) != "" {
			Fail(p.Pos, "a line of a raw text that begins left of its closing quotes", "move the line or the quotes")
		}
		lines[i] = cut
	}
	return strings.Join(lines, "\n")
}

// escaped reads a text with escapes from i up to a quote, and gives where it ends.
func (p *Scanner) escaped(i int, quote byte) (string, int) {
	var b strings.Builder
	for i < len(p.Src) && p.Src[i] != quote {
		if p.Src[i] == '\n' {
			break
		}
		i = p.Unit(&b, i)
	}
	if i >= len(p.Src) || p.Src[i] != quote {
		Fail(min(i, len(p.Src)), "a text that does not end on its line", `end it with its quote; over several lines write @"…"`)
	}
	return b.String(), i + 1
}

var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '"': "\"", '\'': "'", '0': "\x00", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", 'e': "\x1b"}

// Unit reads one letter or escape of a text, and gives where the next one begins.
func (p *Scanner) Unit(b *strings.Builder, i int) int {
	if p.Src[i] != '\\' {
		b.WriteByte(p.Src[i])
		return i + 1
	}
	bad := func() { Fail(i, "an escape that there is not", `write \\ for a backslash`) }
	if i+1 >= len(p.Src) {
		bad()
	}
	c := p.Src[i+1]
	if s, ok := escapes[c]; ok {
		b.WriteString(s)
		return i + 2
	}
	digits := map[byte]int{'u': 4, 'U': 8, 'x': 4}[c]
	to := i + 2
	for to < len(p.Src) && to < i+2+digits && strings.IndexByte("0123456789abcdefABCDEF", p.Src[to]) >= 0 {
		to++
	}
	code, err := strconv.ParseUint(p.Src[i+2:to], 16, 32)
	if err != nil || c != 'x' && to != i+2+digits || code > unicode.MaxRune {
		bad()
	}
	r := rune(code)
	if utf16.IsSurrogate(r) {
		low, err := uint64(0), strconv.ErrSyntax
		if strings.HasPrefix(p.Src[to:], `\u`) && len(p.Src) >= to+6 {
			low, err = strconv.ParseUint(p.Src[to+2:to+6], 16, 32)
		}
		if r = utf16.DecodeRune(r, rune(low)); err != nil || r == unicode.ReplacementChar {
			Fail(i, "half of a pair of UTF-16", "write the letter itself")
		}
		to += 6
	}
	b.WriteRune(r)
	return to
}

// Refusal ends the translation.
type Refusal struct {
	Off           int
	What, Instead string
}

// Fail refuses what stands at off.
func Fail(off int, what, instead string) {
	panic(Refusal{off, what, instead})
}

// Saved is a place to come back to.
type Saved struct {
	pos, last int
	Tok       Token
}

// Save gives the place where it is.
func (p *Scanner) Save() Saved { return Saved{p.Pos, p.Last, p.Tok} }

// Restore goes back to a place.
func (p *Scanner) Restore(s Saved) { p.Pos, p.Last, p.Tok = s.pos, s.last, s.Tok }

// Is tells whether the token is a sign or a word of the language.
func (p *Scanner) Is(what string) bool {
	return p.Tok.Text == what && (p.Tok.Class == Sign || p.Tok.Class == Name && !p.Tok.At)
}

// Take reads a sign or a word if it is there.
func (p *Scanner) Take(what string) bool {
	if !p.Is(what) {
		return false
	}
	p.Advance()
	return true
}

// Want reads a sign or a word that has to be there.
func (p *Scanner) Want(what string) {
	if !p.Take(what) {
		Fail(p.Tok.Off, p.Found(), "here "+what+" is expected")
	}
}

// Found names the token for an error.
func (p *Scanner) Found() string {
	if p.Tok.Class == End {
		return "the end of the script"
	}
	return workflow.Shorten(p.Src[p.Tok.Off:max(p.Tok.End, p.Tok.Off+1)])
}

// Identifier reads a name.
func (p *Scanner) Identifier() Token {
	t := p.Tok
	if t.Class != Name || Words[t.Text] && !t.At {
		Fail(t.Off, p.Found(), "here a name is expected")
	}
	p.Advance()
	return t
}

// Words are C#'s own: no names.
var Words = Set("abstract as base break case catch checked class const continue default delegate do else enum event explicit extern false finally fixed for foreach goto if " +
	"implicit in interface internal is lock namespace new null operator out override params private protected public readonly ref return sealed sizeof stackalloc static struct " +
	"switch this throw true try typeof unchecked unsafe using virtual volatile while")

// Set is the words of a list.
func Set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}
