package sql

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/native"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	maxText       = 64 << 10 // bytes
	maxParameters = 500
)

// statement is a text with parameters, as a definition has it.
type statement struct {
	pieces     []string // the text between the parameters: one more than those
	parameters []engine.Compiled
}

// of is the statement in a dialect.
func (s *statement) of(d *Dialect) string {
	var b strings.Builder
	for i, p := range s.pieces {
		if i > 0 {
			b.WriteString(d.Parameter(i))
		}
		b.WriteString(p)
	}
	return b.String()
}

// errComputed is why a text is refused whose words are not known when it is published.
var errComputed = errors.New("the text of a statement is not computed, since a value in it could be a part of the statement: write it as a text; ${{ }} in it becomes a parameter")

// read makes the statement that an input has, and reports what is wrong with it; nil if something is.
func read(p *engine.Preparation, input string) *statement {
	e, given := p.Node.Activity().Inputs[input]
	if !given {
		return nil // it is required
	}
	wrong := func(format string, args ...any) *statement {
		p.Problem("bad-literal", e.Place, "%s: %s", input, fmt.Sprintf(format, args...))
		return nil
	}
	text, ok := e.Value.(string)
	var pieces []native.Piece
	switch {
	case !ok || strings.TrimSpace(text) == "":
		return wrong("a statement of SQL is wanted")
	case len(text) > maxText:
		return wrong("it has %d bytes; up to %d are possible", len(text), maxText)
	case e.Kind == workflow.Expr:
		var err error
		if pieces, err = native.Pieces(text); err != nil {
			return wrong("%v", err)
		}
		if len(pieces) == 1 && pieces[0].Code {
			return wrong("%v", errComputed)
		}
	case e.Kind == workflow.Literal || e.Kind == sqlKind:
		pieces = []native.Piece{{Text: text}}
	default:
		return wrong("%v", errComputed)
	}
	s, scan := &statement{pieces: []string{""}}, lexer{}
	for _, piece := range pieces {
		if !piece.Code {
			if err := s.text(p, input, piece.Text, &scan, e.Place); err != nil {
				return wrong("%v", err)
			}
			continue
		}
		if err := s.parameter(p, input, piece.Text, scan.in, e.Place); err != nil {
			return wrong("%v", err)
		}
	}
	if scan.in != "" && scan.in != "-- comment" {
		return wrong("%s does not end", scan.in)
	}
	return s
}

// sqlKind is how Elsa calls a statement.
const sqlKind = "Sql"

// text adds what stands between two parameters, which may have others as Elsa writes them.
func (s *statement) text(p *engine.Preparation, input, text string, scan *lexer, place workflow.Place) error {
	for {
		open := strings.Index(text, "{{")
		if open < 0 {
			scan.read(text)
			s.pieces[len(s.pieces)-1] += text
			return nil
		}
		scan.read(text[:open])
		s.pieces[len(s.pieces)-1] += text[:open]
		end := strings.Index(text[open:], "}}")
		if end < 0 {
			return errors.New("{{ has no closing }}")
		}
		key := strings.TrimSpace(text[open+2 : open+end])
		code, err := elsaKey(key)
		if err != nil {
			return err
		}
		if err := s.parameter(p, input, code, scan.in, place); err != nil {
			return err
		}
		text = text[open+end+2:]
	}
}

// parameter adds a parameter that an expression gives; in is where it stands, if not in the statement itself.
func (s *statement) parameter(p *engine.Preparation, input, code, in string, place workflow.Place) error {
	switch {
	case in != "":
		return fmt.Errorf("the expression %s stands in %s, where the database does not look for a parameter; a parameter needs no quotes around it", workflow.Shorten(strings.TrimSpace(code)), in)
	case len(s.parameters) >= maxParameters:
		return fmt.Errorf("there are more than %d expressions in it", maxParameters)
	}
	compiled := p.Compile("input "+input+" of "+p.Node.LocalID(), workflow.Expression{Kind: workflow.Expr, Value: "${{" + code + "}}", Place: place})
	s.parameters, s.pieces = append(s.parameters, compiled), append(s.pieces, "")
	return nil
}

var (
	elsaPath = regexp.MustCompile(`^([^.\[\]]+)((\.[^.\[\]]+|\[\d+\])*)$`)
	segment  = regexp.MustCompile(`\.([^.\[\]]+)|\[(\d+)\]`)
)

// elsaNames are what Elsa's placeholders may name beside variables and inputs.
var elsaNames = map[string]string{
	"LastResult":                                      "lastResult",
	"Workflow.Identity.DefinitionId":                  "definitionId",
	"Workflow.Identity.Version":                       "version",
	"Workflow.Definition.Id":                          "definitionId",
	"Workflow.Definition.Version":                     "version",
	"Workflow.Instance.Id":                            "instanceId",
	"Correlation.Id":                                  "correlationId",
	"Activity.WorkflowExecutionContext.Id":            "instanceId",
	"Activity.WorkflowExecutionContext.CorrelationId": "correlationId",
	"Execution.Id":                                    "instanceId",
	"Execution.CorrelationId":                         "correlationId",
}

// elsaKey is a placeholder of Elsa, such as Variable.Order.Lines[0].Sku, as an expression.
func elsaKey(key string) (string, error) {
	if name := elsaNames[key]; name != "" {
		return name, nil
	}
	scope, rest, _ := strings.Cut(key, ".")
	root := map[string]string{"Variable": "variables", "Variables": "variables", "Input": "inputs"}[scope]
	m := elsaPath.FindStringSubmatch(rest)
	if root == "" || m == nil {
		return "", fmt.Errorf("{{%s}} is no placeholder that is known: there are Variable.Name, Input.Name, with .Field and [0] behind them, LastResult, Workflow.Identity.DefinitionId and Correlation.Id; ${{ }} takes any expression", workflow.Shorten(key))
	}
	code := root + "[" + strconv.Quote(m[1]) + "]"
	for _, s := range segment.FindAllStringSubmatch(m[2], -1) {
		if s[2] != "" {
			code += "[" + s[2] + "]"
		} else {
			code += "[" + strconv.Quote(s[1]) + "]"
		}
	}
	return code, nil
}

// lexer tells whether a place of a statement is within quotes or a comment.
type lexer struct {
	in    string // what it is within; "": the statement itself
	end   string // how that ends
	depth int    // of comments in comments
}

var dollarQuote = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)?\$`)

// read goes on over a piece of text.
func (l *lexer) read(text string) {
	for i := 0; i < len(text); {
		if l.in == "" {
			i += l.open(text, i)
		} else {
			i += l.within(text[i:])
		}
	}
}

// open looks at a place of the statement itself, and gives how much it took.
func (l *lexer) open(text string, i int) int {
	rest := text[i:]
	for _, o := range openings {
		if strings.HasPrefix(rest, o.begin) {
			l.in, l.end, l.depth = o.in, o.end, 1
			if o.begin == "'" && i > 0 && (text[i-1] == 'E' || text[i-1] == 'e') && (i == 1 || !isWord(text[i-2])) {
				l.end = escaped
			}
			return len(o.begin)
		}
	}
	if rest[0] == '$' && (i == 0 || !isWord(text[i-1])) {
		if tag := dollarQuote.FindString(rest); tag != "" {
			l.in, l.end, l.depth = "a text in "+tag, tag, 1
			return len(tag)
		}
	}
	return 1
}

// within looks at a place in quotes or in a comment, and gives how much it took.
func (l *lexer) within(rest string) int {
	switch {
	case l.end == "*/" && strings.HasPrefix(rest, "/*"):
		l.depth++
		return 2
	case l.end == escaped && rest[0] == '\\':
		return 2
	case l.end == escaped && rest[0] == '\'':
		l.in = "" // two of them begin another one at once
	case l.end != escaped && strings.HasPrefix(rest, l.end):
		if l.depth--; l.depth == 0 {
			l.in = ""
		}
		return len(l.end)
	}
	return 1
}

// escaped is the end of a text in quotes in which a backslash takes the meaning of what follows.
const escaped = `\'`

// openings begin what is no part of the statement itself.
var openings = []struct{ begin, in, end string }{
	{"'", "a text in quotes", "'"}, {`"`, "a name in quotes", `"`}, {"`", "a name in quotes", "`"}, {"--", "-- comment", "\n"}, {"/*", "a comment", "*/"},
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
