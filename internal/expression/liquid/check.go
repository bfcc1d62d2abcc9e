package liquid

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/filter"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/near"
)

var _ engine.Checker = Evaluator{}

// Check implements [engine.Checker]. The result is always text.
func (Evaluator) Check(e workflow.Expression, names *engine.Names) ([]engine.Mistake, string) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, ""
	}
	c := &checking{source: source, names: names, declared: map[string]bool{"forloop": true, "tablerowloop": true}}
	all := tokens(source)
	for _, t := range all {
		c.declare(t)
	}
	hidden := "" // the text of raw is no code
	for _, t := range all {
		switch {
		case t.kind == tag && t.name == "raw":
			hidden = "endraw"
		case t.kind == tag && t.name == hidden:
			hidden = ""
		case hidden == "":
			c.token(t)
		}
	}
	return c.found, "String"
}

type checking struct {
	source   string
	names    *engine.Names
	declared map[string]bool // by the template itself, at any place of it
	known    *near.Names     // what it may name, once that is asked for
	meant    int             // names for which another one that was meant was looked for
	found    []engine.Mistake
}

// mostMeant bounds them: a template may have thousands of names.
const mostMeant = 50

func (c *checking) report(at int, m *engine.Mistake) {
	if m != nil {
		c.found = append(c.found, m.At(c.source, at))
	}
}

var firstName = regexp.MustCompile(`^\s*([A-Za-z_][\w-]*\??)`)

// declare notes the names that tags make.
func (c *checking) declare(t token) {
	switch t.name {
	case "assign", "capture", "increment", "decrement", "for", "tablerow":
		if m := firstName.FindStringSubmatch(strings.Trim(t.text, `"'`)); m != nil {
			c.declared[m[1]] = true
		}
	case "liquid":
		for _, line := range t.lines() {
			c.declare(line)
		}
	}
}

// token looks at one part of the template.
func (c *checking) token(t token) {
	switch t.kind {
	case plainText:
		for open, shut := range map[string]string{"{{": "}}", "{%": "%}"} {
			if i := strings.Index(t.text, open); i >= 0 {
				c.report(t.at+i, &engine.Mistake{Code: "unclosed-template", Detail: open + " has no " + shut + " behind it, so it would be written as text; for the text " + open + " write {% raw %}" + open + "{% endraw %}"})
			}
		}
	case output:
		c.values(t.text, t.args)
	case tag:
		switch t.name {
		case "else":
			if t.text != "" {
				c.report(t.at, &engine.Mistake{Code: "bad-tag", Detail: "else takes no condition, and runs whatever it is; write elsif"})
			}
		case "if", "elsif", "unless", "case", "when", "assign", "for", "tablerow", "echo", "cycle":
			c.values(t.text, t.args)
		case "liquid":
			for _, line := range t.lines() {
				c.token(line)
			}
		}
	}
}

var (
	lexeme = regexp.MustCompile(`"[^"]*"|'[^']*'|[A-Za-z_][\w-]*\??|\d[\d.]*|\.\.|\S`)

	// keywords stand where a name could.
	keywords = map[string]bool{"and": true, "or": true, "contains": true, "in": true, "true": true, "false": true, "nil": true, "null": true, "empty": true, "blank": true, "reversed": true, "not": true}
)

// values looks at what stands in {{ }} or behind the name of a tag.
func (c *checking) values(args string, at int) {
	path, before := []string(nil), ""
	spans := lexeme.FindAllStringIndex(args, -1)
	for i, span := range spans {
		word := args[span[0]:span[1]]
		next := ""
		if i+1 < len(spans) {
			next = args[spans[i+1][0]:spans[i+1][1]]
		}
		isName := firstName.MatchString(word)
		switch {
		case !isName:
			path = c.chosen(path, before, word, at+span[0])
		case before == "|":
			path = nil
			c.filter(word, args, spans[i:], at)
		case before == ".":
			if path = append(path, word); len(path) == 2 {
				c.report(at+span[0], c.field(path[0], word))
			}
		case keywords[word] || next == ":", word == "continue" && before == ":": // limit: and its like
			path = nil
		default:
			path = []string{word}
			c.report(at+span[0], c.name(word))
		}
		before = word
	}
}

// chosen gives the path behind a sign: a dot goes on with it, and so does a bracket, with
// a name in quotes behind it.
func (c *checking) chosen(path []string, before, word string, at int) []string {
	switch {
	case word == ".", word == "[" && len(path) == 1:
		return path
	case before == "[" && len(path) == 1 && len(word) > 1 && (word[0] == '"' || word[0] == '\''):
		c.report(at+1, c.field(path[0], word[1:len(word)-1]))
	}
	return nil
}

// filter looks at a filter, which stands at the first of spans: whether there is one, and
// whether it is given what it takes.
func (c *checking) filter(name, args string, spans [][]int, at int) {
	known, ok := filter.Named(name)
	if !ok {
		c.report(at+spans[0][0], unknown("unknown-filter", "there is no filter ", name, workflow.Nearest(name, filter.Names())))
		return
	}
	if takes, needs := known.Takes(); needs && (len(spans) < 2 || args[spans[1][0]:spans[1][1]] != ":") {
		c.report(at+spans[0][0], &engine.Mistake{Code: "missing-argument", Detail: "the filter " + name + " takes " + takes + ", and is given nothing"})
	}
}

func (c *checking) field(of, name string) *engine.Mistake {
	if c.declared[of] {
		return nil
	}
	switch of {
	case "inputs", "Input", "Inputs":
		if name == "size" {
			return nil
		}
		return c.names.Input(name, of != "Input")
	case "variables", "Variables":
		if name == "size" {
			return nil
		}
		return c.names.Variable(name)
	}
	return nil
}

func (c *checking) name(name string) *engine.Mistake {
	if _, ok := bindable[name]; ok || c.declared[name] {
		return nil
	}
	meant := ""
	if c.meant++; c.meant <= mostMeant {
		if c.known == nil {
			c.known = near.NewNames(slices.AppendSeq(slices.Collect(maps.Keys(bindable)), maps.Keys(c.declared)))
		}
		meant = c.known.Nearest(name)
	}
	m := unknown("unknown-name", "templates have no name ", name, meant)
	if meant != "" {
		return m
	}
	if _, ok := c.names.Variables[name]; ok {
		m.Detail += "; a variable is variables." + name
	} else if _, ok := c.names.Inputs[name]; ok {
		m.Detail += "; an input is inputs." + name
	}
	return m
}

func unknown(code, what, name, near string) *engine.Mistake {
	m := &engine.Mistake{Code: code, Detail: what + workflow.Shorten(name), Meant: near}
	if m.Meant != "" {
		m.Detail += " (did you mean " + m.Meant + "?)"
	}
	return m
}
