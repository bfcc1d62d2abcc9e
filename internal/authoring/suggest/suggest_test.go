package suggest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/suggest"
	"github.com/weft-run/weft/pkg/activities"
)

func book(t *testing.T) *suggest.Book {
	t.Helper()
	b, err := suggest.New(activities.Default())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// place takes the mark ¦ out of a text, and gives where it stood.
func place(source string) (text string, line, column int) {
	before, after, _ := strings.Cut(source, "¦")
	line = strings.Count(before, "\n") + 1
	return before + after, line, len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
}

func TestWhatMayStandAtAPlace(t *testing.T) {
	t.Parallel()
	b := book(t)
	for what, c := range map[string]struct {
		source    string
		has, hasn []string
		none      bool
	}{
		"of a definition":            {source: "id: x\n¦", has: []string{"root", "inputs", "options"}, hasn: []string{"id", "writeLine"}},
		"begun":                      {source: "id: x\nro¦", has: []string{"root"}},
		"an activity":                {source: "id: x\nroot:\n  - ¦", has: []string{"writeLine", "event", "if", "id"}, hasn: []string{"Elsa.WriteLine", "payload", "root"}},
		"a list at its key's column": {source: "root:\n- wri¦", has: []string{"writeLine"}, hasn: []string{"inputs-of"}},
		"beside a type":              {source: "root:\n  - event: paid\n    ¦", has: []string{"result", "timeout", "retry", "eventName"}, hasn: []string{"writeLine", "event", "text"}},
		"before what is beside":      {source: "root:\n  - event: paid\n    ¦\n    result: got\n", has: []string{"timeout"}, hasn: []string{"result"}},
		"below a type":               {source: "root:\n  - sendHttpRequest:\n      ¦", has: []string{"url", "method"}, hasn: []string{"writeLine"}},
		"in a branch":                {source: "root:\n  - if: ${{ true }}\n    then:\n      - ¦", has: []string{"writeLine", "break"}, hasn: []string{"then"}},
		"branches":                   {source: "root:\n  - if: ${{ true }}\n    ¦", has: []string{"then", "else"}},
		"another item":               {source: "root:\n  - if: ${{ true }}\n    then:\n      - writeLine: a\n  - ¦", has: []string{"writeLine"}, hasn: []string{"then"}},
		"an option":                  {source: "options:\n  ¦\nroot:\n  - break\n", has: []string{"catchUp", "activation"}, hasn: []string{"root"}},
		"the value of an option":     {source: "options:\n  catchUp: ¦", has: []string{"skip", "one", "all"}},
		"a truth":                    {source: "root:\n  - event: a\n    trigger: ¦", has: []string{"true", "false"}},
		"a type":                     {source: "inputs:\n  a: ¦", has: []string{"string", "number"}},
		"in one line":                {source: "inputs:\n  a: {¦", has: []string{"type", "default", "required"}},
		"in one line, another":       {source: "inputs:\n  a: {type: string, ¦", has: []string{"default"}, hasn: []string{"type"}},
		"in one line, a value":       {source: "inputs:\n  a: {type: ¦", has: []string{"string"}, hasn: []string{"type"}},
		"deep in one line":           {source: "root:\n  - sendHttpRequest: {url: \"x\", retry: {¦", none: true},
		"a name":                     {source: "inputs:\n  amount: number\nvariables:\n  got: object\nroot:\n  - writeLine: a ${{ ¦", has: []string{"inputs.amount", "variables.got", "len"}},
		"a name, begun":              {source: "inputs:\n  amount: number\nroot:\n  - writeLine: ${{ inputs.¦", has: []string{"inputs.amount"}, hasn: []string{"len"}},
		"behind an expression":       {source: "root:\n  - writeLine: ${{ 1 }} ¦", none: true},
		"a variable":                 {source: "root:\n  - event: a\n    result: ¦\nvariables:\n  got: object\n", has: []string{"got"}},
		"a comment":                  {source: "root:\n  # wri¦", none: true},
		"a text":                     {source: "root:\n  - runJavaScript: |\n      wri¦", none: true},
		"no space behind the colon":  {source: "id:¦", none: true},
		"connections":                {source: flowchart + "      - ¦", has: []string{"one", "two"}},
		"an outcome":                 {source: flowchart + "      - one.¦", has: []string{"one.True", "one.False"}, hasn: []string{"two"}},
		"the other end":              {source: flowchart + "      - one.True -> ¦", has: []string{"two"}},
		"nowhere":                    {source: "¦", has: []string{"id", "root"}},
		"wide characters before":     {source: "inputs:\n  a: string\nroot:\n  - writeLine: 漢字 ${{ inputs.¦", has: []string{"inputs.a"}},
		"no YAML above":              {source: "id: [\nroot:\n  - ¦", has: []string{"writeLine"}},
	} {
		text, line, column := place(c.source)
		got := b.At(text, line, column)
		var labels []string
		for _, it := range got.Items {
			labels = append(labels, it.Label)
		}
		for _, want := range c.has {
			if !slices.Contains(labels, want) {
				t.Errorf("%s: no %s among %v", what, want, labels)
			}
		}
		for _, bad := range c.hasn {
			if slices.Contains(labels, bad) {
				t.Errorf("%s: %s", what, bad)
			}
		}
		if c.none && len(labels) > 0 {
			t.Errorf("%s: %v", what, labels)
		}
		if got.From < 1 || got.From > column {
			t.Errorf("%s: begins at %d, and the place is %d", what, got.From, column)
		}
	}
}

const flowchart = `root:
  flowchart:
    activities:
      one: {flowDecision: "${{ true }}"}
      two:
        writeLine: x
    connections:
`

func TestWhatStandsAtAPlace(t *testing.T) {
	t.Parallel()
	b := book(t)
	for source, want := range map[string]string{
		"root:\n  - write¦Line: x\n":                 "Inputs:",
		"root:\n  - event: a\n    re¦sult: b\n":      "first output",
		"root:\n  - sendHttpRequest:\n      ur¦l: x": "",
		"root:\n  - writeLine: writ¦eLine\n":         "-",
		"# ro¦ot\n":                                  "-",
	} {
		text, line, column := place(source)
		got := b.At(text, line, column)
		if want == "-" {
			if got.Doc != "" {
				t.Errorf("%q: %q", source, got.Doc)
			}
			continue
		}
		if got.Word == "" || !strings.Contains(got.Doc, want) {
			t.Errorf("%q: %q %q", source, got.Word, got.Doc)
		}
	}
}

// FuzzAt asks at each place of any text: it answers, and about that line.
func FuzzAt(f *testing.F) {
	for _, s := range []string{"", flowchart, "id: x\r\nroot:\n- a: {b: {c: d}}}\n", "- - - a: |\n  - \"", "\x00\xff: {", "a:\n\t- b", "- -\n-\n -  "} {
		f.Add(s, 3, 3)
	}
	b, err := suggest.New(activities.Default())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, line, column int) {
		if got := b.At(s, line, column); len(got.Items) > 300 {
			t.Errorf("%d items", len(got.Items))
		}
		for n := range strings.Split(s, "\n") {
			b.At(s, n+1, column)
		}
	})
}
