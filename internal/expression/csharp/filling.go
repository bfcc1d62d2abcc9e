package csharp

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
)

// filled reads a text with holes.
func (p *reader) filled() typed.Expr {
	at := p.Tok.Off
	i := at
	dollars, verbatim := 0, false
	for ; p.Src[i] == '$' || p.Src[i] == '@'; i++ {
		if p.Src[i] == '$' {
			dollars++
		} else {
			verbatim = true
		}
	}
	quotes := len(p.Src[i:]) - len(strings.TrimLeft(p.Src[i:], `"`))
	raw := quotes >= 3 && !verbatim
	if !raw {
		quotes = 1
	}
	if dollars > 1 && !raw {
		scan.Fail(at, "more than one $ before a text", "write one")
	}
	f := filling{p: p, At: at, dollars: dollars, raw: raw, verbatim: verbatim, closing: strings.Repeat(`"`, quotes)}
	f.parse(i + quotes)
	return f.result()
}

// filling reads one text with holes: what is written and what is filled in take turns.
type filling struct {
	p             *reader
	At, dollars   int
	raw, verbatim bool
	closing       string
	texts         []string // one more than holes
	holes         []typed.Expr
}

// unended tells that a text goes on where it may not.
func (f *filling) unended(i int) bool {
	return i >= len(f.p.Src) || f.p.Src[i] == '\n' && !f.raw && !f.verbatim
}

// letter gives a letter that is written twice, or that a text of this kind takes as it is.
func (f *filling) letter(rest, opening string) (written string, size int) {
	switch {
	case f.verbatim && strings.HasPrefix(rest, `""`), !f.raw && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
		return rest[:1], 2
	case f.raw && strings.HasPrefix(rest, opening+"{"), f.raw && strings.HasPrefix(rest, f.closing+`"`):
		return rest[:1], 1
	}
	return "", 0
}

// parse reads the text from i to its end.
func (f *filling) parse(i int) {
	p := f.p
	var b strings.Builder
	opening, shutting := strings.Repeat("{", f.dollars), strings.Repeat("}", f.dollars)
	for {
		if f.unended(i) {
			scan.Fail(f.At, "a text that does not end", "end it with "+f.closing)
		}
		rest := p.Src[i:]
		switch written, size := f.letter(rest, opening); {
		case size > 0:
			b.WriteString(written)
			i += size
		case strings.HasPrefix(rest, f.closing):
			f.texts = append(f.texts, b.String())
			p.Pos, p.Last = i+len(f.closing), i+len(f.closing)
			p.Tok = scan.Token{End: p.Pos}
			p.Advance()
			return
		case strings.HasPrefix(rest, opening):
			f.texts = append(f.texts, b.String())
			b.Reset()
			if len(f.holes) > mostChain {
				scan.Fail(i, "more than 100 holes in a text", "split it up")
			}
			i = f.hole(i+len(opening), shutting)
		case rest[0] == '}' && !f.raw:
			scan.Fail(i, "a } that no { belongs to", "write }} for the letter")
		case rest[0] == '\\' && !f.raw && !f.verbatim:
			i = p.Unit(&b, i)
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
}

// hole reads what is filled in, with its width and its format, and gives where the text goes on.
func (f *filling) hole(i int, shutting string) int {
	p := f.p
	p.enter(i)
	defer p.leave()
	holes := p.holes
	p.holes++
	p.Pos, p.Tok = i, scan.Token{End: i}
	p.Advance()
	e := typed.Done(p.expression())
	p.holes = holes
	width := 0
	if p.Take(",") {
		back := p.Take("-")
		n, err := strconv.Atoi(p.Tok.Text)
		if p.Tok.Class != scan.Number || err != nil || n > 1000 {
			scan.Fail(p.Tok.Off, "this width", "write a whole number, of at most 1000")
		}
		p.Advance()
		if width = n; back {
			width = -n
		}
	}
	to := p.Tok.Off
	if p.Is(":") || p.Is("::") {
		from := p.Tok.Off + 1
		n := strings.Index(p.Src[from:], shutting)
		if n < 0 {
			scan.Fail(i, "a hole that does not end", "end it with "+shutting)
		}
		e, to = p.m.Formatted(e, f.unescaped(from, from+n), i), from+n
	} else {
		e = p.m.TextOf(e)
	}
	if !strings.HasPrefix(p.Src[to:], shutting) {
		scan.Fail(p.Tok.Off, p.Found(), "here the hole of the text ends: "+shutting)
	}
	if width != 0 {
		e = typed.Call(i, typed.Of(typed.Text), "CSharp.pad(%s, %d)", e.JS, width)
	}
	f.holes = append(f.holes, e)
	return to + len(shutting)
}

// result writes the text as a template.
func (f *filling) result() typed.Expr {
	if f.raw {
		f.margins()
	}
	if len(f.holes) == 0 {
		s := f.texts[0]
		return typed.Expr{Typ: typed.Of(typed.Text), JS: typed.Quote(s), Prec: typed.Primary, Off: f.At, Val: s, Constant: true, Written: true}
	}
	var b strings.Builder
	b.WriteByte('`')
	for i, s := range f.texts {
		for n, r := range s {
			if r == '$' && (n+1 == len(s) || s[n+1] == '{') {
				b.WriteByte('\\')
			}
			typed.Escape(&b, r, '`')
		}
		if i < len(f.holes) {
			b.WriteString("${" + f.holes[i].JS + "}")
		}
	}
	b.WriteByte('`')
	return typed.Expr{Typ: typed.Of(typed.Text), JS: b.String(), Prec: typed.Primary, Off: f.At}
}

// margins takes away what a raw text over several lines does not say.
func (f *filling) margins() {
	const hole = "\x01"
	all := strings.Join(f.texts, hole)
	if strings.Count(all, hole) != len(f.holes) {
		scan.Fail(f.At, "a raw text with a control character", "take it out")
	}
	s := f.p.Save()
	f.p.Pos = f.At
	f.texts = strings.Split(f.p.Raw(all), hole)
	f.p.Restore(s)
}

// unescaped is a format as the text that it stands in says it.
func (f *filling) unescaped(from, to int) string {
	if f.raw || f.verbatim {
		return f.p.Src[from:to]
	}
	var b strings.Builder
	for i := from; i < to; {
		i = f.p.Unit(&b, i)
	}
	return b.String()
}
