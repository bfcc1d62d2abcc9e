package csharp

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
	"github.com/weft-run/weft/internal/expression/csharp/typed"
	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/workflow"
)

// Bounds of a script beside its length, which is that of all expressions.
const (
	mostDepth = 50  // brackets within brackets; the JavaScript has up to four times as many
	mostChain = 100 // operators and members one after the other
	mostText  = 128 << 10
)

// names are what a script may name at its place; each gives the alias of its type.
type names struct {
	variable, input func(name string) (alias string, ok bool)
}

// reader reads expressions of C# and gives JavaScript.
type reader struct {
	scan.Scanner
	m        *typed.Maker
	names    names
	depth    int
	holes    int // within holes of texts, where : and } end an expression
	scopes   []map[string]local
	unique   int
	out      *strings.Builder
	lastLine string // that was written
	fixed    bool   // no line can be written before what is read
	indent   int
	made     []string // variables that it sets
	others   bool     // it sets some whose names are not known
}

// local is a name that the script declares.
type local struct {
	JS string
	typed.Typ
	fixed bool // const, or the variable of a foreach
	open  bool // out var, whose type its method says
}

// translate gives the JavaScript of a script, or an error with the place of what is not translated.
func translate(src string, at names) (js string, t *reader, err error) {
	p := &reader{Scanner: scan.Scanner{Src: src}, m: &typed.Maker{}, names: at, scopes: []map[string]local{{}}, out: &strings.Builder{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case scan.Refusal:
			e := &evaluation.Error{Kind: workflow.CSharp, Message: fmt.Sprintf("%s is not translated: %s", r.What, r.Instead)}
			if strings.HasPrefix(r.Instead, "here ") { // it is no C#
				e.Message = r.What + ": " + r.Instead
			}
			e.Line, e.Column, e.Source = evaluation.LineAt(src, r.Off)
			js, err = "", e
		default:
			js, err = "", &evaluation.Error{Kind: workflow.CSharp, Source: evaluation.Excerpt(src), Message: fmt.Sprintf("this cannot be read: %v", r)}
		}
	}()
	p.Advance()
	(&script{p: p}).all()
	return strings.TrimRight(p.out.String(), "\n"), p, nil
}

func (p *reader) enter(off int) {
	if p.depth++; p.depth > mostDepth {
		scan.Fail(off, fmt.Sprintf("more than %d levels", mostDepth), "split it up with local variables")
	}
}

func (p *reader) leave() { p.depth-- }

// line writes a line of JavaScript.
func (p *reader) line(format string, args ...any) {
	p.lastLine = fmt.Sprintf(format, args...)
	p.out.WriteString(strings.Repeat("  ", p.indent) + p.lastLine + "\n")
	if p.out.Len() > mostText {
		scan.Fail(p.Tok.Off, "a script whose JavaScript is longer than 128 KiB", "split it up")
	}
}

// taken are names that mean something in JavaScript, or to what is written.
var taken = scan.Set("arguments async await class const debugger delete enum eval export extends function import instanceof let package super this typeof undefined var void with yield " +
	"variables inputs secrets String Number Object Math Error Array Date JSON NaN Infinity CSharp DateTime TimeSpan Guid getVariable setVariable getInput getOutputFrom getLastResult " +
	"setOutcomes getWorkflowInstanceId getCorrelationId setCorrelationId getWorkflowInstanceName setWorkflowInstanceName implements interface private protected public static")

// declare gives a name to a local.
func (p *reader) declare(t scan.Token, as typed.Typ, fixed bool) local {
	for _, s := range p.scopes {
		if _, there := s[t.Text]; there {
			scan.Fail(t.Off, "a second "+workflow.Shorten(t.Text), "give it another name")
		}
	}
	l := local{JS: t.Text, Typ: as, fixed: fixed}
	if taken[t.Text] || scan.Words[t.Text] || strings.ContainsFunc(t.Text, func(r rune) bool { return r > 127 }) {
		p.unique++
		l.JS = fmt.Sprintf("%s$%d", strings.Map(func(r rune) rune {
			if r > 127 {
				return '_'
			}
			return r
		}, t.Text), p.unique)
	}
	p.scopes[len(p.scopes)-1][t.Text] = l
	return l
}

func (p *reader) local(name string) (local, bool) {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if l, ok := p.scopes[i][name]; ok {
			return l, true
		}
	}
	return local{}, false
}

func (p *reader) open() { p.scopes = append(p.scopes, map[string]local{}); p.indent++ }

func (p *reader) shut() { p.scopes = p.scopes[:len(p.scopes)-1]; p.indent-- }
