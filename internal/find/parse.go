package find

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow"
)

// Limits of a line.
const (
	MaxLine  = 8192 // bytes; a page of ids as long as they may be fits
	MaxWords = 50
)

// Parse reads a line. An empty one selects all. The error is of [workflow.CodeInvalid], and has
// a problem for each word that cannot be read, with its column, a caret below it, and
// pointer as the place of the line in what was sent.
func Parse(line, pointer string) (Filter, error) {
	p := &parser{line: line, rest: line, pointer: pointer}
	f := p.parse()
	if p.problems == nil {
		return f, nil
	}
	p.problems = p.problems.WithExcerpts([]byte(line))
	detail := p.problems[0].Detail
	if p.problems[0].Excerpt != "" {
		detail += "\n" + p.problems[0].Excerpt
	}
	if more := len(p.problems) - 1; more > 0 {
		detail += fmt.Sprintf("\n(and %d more)", more)
	}
	return Filter{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: detail, Problems: p.problems}
}

type parser struct {
	line, rest, pointer string
	problems            workflow.Problems
	filter              Filter
	version             int // where the version stands; the end of the line before it
}

// fail adds a problem of what begins where rest bytes of the line are left.
func (p *parser) fail(code string, left int, detail string) {
	column := utf8.RuneCountInString(p.line[:len(p.line)-left]) + 1
	p.problems = append(p.problems, workflow.Problem{Code: code, Detail: detail, Place: workflow.Place{Line: 1, Column: column, Pointer: p.pointer}})
}

func (p *parser) parse() Filter {
	if len(p.line) > MaxLine {
		p.line = "" // to be shown
		p.fail("query-too-long", 0, fmt.Sprintf("the query has %d bytes, and may have %d", len(p.rest), MaxLine))
		return Filter{}
	}
	if !utf8.ValidString(p.line) {
		p.fail("bad-character", len(p.line), "the query is not valid UTF-8")
		return Filter{}
	}
	for n := 0; ; n++ {
		p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
		if p.rest == "" {
			break
		}
		if n == MaxWords {
			p.fail("too-many-words", len(p.rest), fmt.Sprintf("the query has more than %d words", MaxWords))
			break
		}
		if !p.word() {
			break
		}
	}
	if p.filter.DefinitionID == "" && p.version > 0 {
		p.fail("missing-word", p.version, "version goes with def: versions are numbered by definition")
	}
	return p.filter
}

// word reads the next one. It gives false when what follows cannot be told apart.
func (p *parser) word() bool {
	at := len(p.rest)
	rest, not := strings.CutPrefix(p.rest, "-")
	end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`:<>="`, r) })
	name := rest
	if end >= 0 {
		name = rest[:end]
	}
	p.rest = rest[len(name):]
	if p.rest == "" || !strings.ContainsRune(`:<>=`, rune(p.rest[0])) {
		return p.bare(name, at)
	}
	t := term{op: p.rest[0]}
	p.rest = p.rest[1:]
	if t.op != ':' && strings.HasPrefix(p.rest, "=") {
		p.fail("bad-operator", at, fmt.Sprintf("%s takes < or >, and no =", name))
		_, ok := p.value(&t)
		return ok
	}
	value := len(p.rest)
	starred, ok := p.value(&t)
	if !ok {
		return false
	}
	w, label := wordNamed(name)
	switch {
	case w == nil:
		p.fail("unknown-word", at, fmt.Sprintf("there is no word %q%s; the words are %s", name, workflow.DidYouMean(name, Words()), strings.Join(Words(), ", ")))
		return true
	case !strings.ContainsRune(w.ops, rune(t.op)):
		p.fail("bad-operator", at, fmt.Sprintf("%s takes %s, and not %c", name, strings.Join(strings.Split(w.ops, ""), " or "), t.op))
		return true
	case not && w.always:
		p.fail("bad-operator", at, fmt.Sprintf("%s selects nothing that could be left out; write it without -", name))
		return true
	case starred && w.prefixes:
		t.prefix = true
	case starred:
		t.value += "*"
	}
	t.label = label
	p.take(w, t, not, at, value)
	return true
}

func (p *parser) take(w *word, t term, not bool, at, value int) {
	into := &p.filter
	if not {
		into = &Filter{}
	}
	switch err := w.take(into, t); {
	case errors.Is(err, errTwice) && w.always:
		p.fail("said-twice", at, w.name+" is said twice, and a list has one order")
	case errors.Is(err, errTwice):
		p.fail("said-twice", at, fmt.Sprintf("%s is said twice, and no instance has both", w.name+t.label))
	case err != nil:
		p.fail("bad-value", value, err.Error())
	case not:
		p.filter.Not = append(p.filter.Not, *into)
	}
	if w.name == "version" {
		p.version = at
	}
}

// bare complains of a word without an operator.
func (p *parser) bare(name string, at int) bool {
	switch known, _ := wordNamed(name); {
	case known != nil:
		p.fail("missing-value", at, fmt.Sprintf("%s has no value; it takes %s and one", name, strings.Join(strings.Split(known.ops, ""), " or ")))
	case strings.HasPrefix(p.rest, `"`):
		p.fail("unknown-word", at, "a quoted text says nothing by itself; say what it is of, such as name:\"…\" or incident:\"…\"")
		_, ok := p.value(&term{})
		return ok
	default:
		p.fail("unknown-word", at, fmt.Sprintf("%q says nothing by itself; say what it is of, such as name:%s or corr:%s", name, name, name)+workflow.DidYouMean(name, Words()))
	}
	return true
}

// value reads a value, and tells whether an unquoted * stands behind it.
func (p *parser) value(t *term) (starred, ok bool) {
	if strings.HasPrefix(p.rest, `"`) {
		return p.quotedValue(t)
	}
	end := strings.IndexFunc(p.rest, unicode.IsSpace)
	if end < 0 {
		end = len(p.rest)
	}
	t.value = p.rest[:end]
	if i := strings.IndexByte(t.value, '"'); i >= 0 {
		p.fail("bad-quote", len(p.rest)-i, `a quote stands inside a value; quote all of it, and write \" inside`)
		return false, false
	}
	p.rest = p.rest[end:]
	t.value, starred = strings.CutSuffix(t.value, "*")
	return starred, true
}

func (p *parser) quotedValue(t *term) (starred, ok bool) {
	var out strings.Builder
	escaped := false
	for i, r := range p.rest[1:] {
		switch {
		case escaped:
			if r != '"' && r != '\\' {
				p.fail("bad-escape", len(p.rest)-i, `inside quotes \ stands before " or \ only`)
				return false, false
			}
			out.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			opened := len(p.rest)
			p.rest = p.rest[i+2:]
			p.rest, starred = strings.CutPrefix(p.rest, "*")
			if next, _ := utf8.DecodeRuneInString(p.rest); p.rest != "" && !unicode.IsSpace(next) {
				p.fail("bad-quote", opened, "something stands behind the closing quote; put a space there")
				return false, false
			}
			t.value = out.String()
			return starred, true
		default:
			out.WriteRune(r)
		}
	}
	p.fail("half-quote", len(p.rest), "this quote is not closed")
	return false, false
}

// Words are the names of all words.
func Words() []string {
	var out []string
	for _, w := range words() {
		name := w.name
		if name == labelPrefix {
			name += "<name>"
		}
		out = append(out, name)
	}
	return out
}

// String writes the filter as a line that [Parse] reads as the same filter. "" selects all.
func (f Filter) String() string {
	var out []string
	for _, w := range words() {
		for _, t := range w.terms(&f) {
			out = append(out, w.shown(t))
		}
	}
	for i := range f.Not {
		for _, w := range words() {
			for _, t := range w.terms(&f.Not[i]) {
				out = append(out, "-"+w.shown(t))
			}
		}
	}
	return strings.Join(out, " ")
}

func needsQuotes(value string) bool {
	return value == "" || strings.HasSuffix(value, "*") || strings.ContainsFunc(value, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
}

func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
