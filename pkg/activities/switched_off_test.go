package activities_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// compileWith gives a definition in YAML, compiled with these languages.
func compileWith(source string, languages []engine.Evaluator) (*engine.Program, workflow.Problems) {
	types := activities.Default()
	def, problems := yaml.Read([]byte(source), "off.yaml", types)
	if len(problems) > 0 {
		return nil, problems
	}
	if def.ID == "" {
		def.ID = "off"
	}
	resolve := func(workflow.DefinitionRef) (*workflow.Definition, bool) {
		scripted := seq(act("WriteLine", inputs{"text": workflow.JS("1")}))
		return &workflow.Definition{ID: "child", Root: scripted, Options: workflow.Options{UsableAsActivity: true}}, true
	}
	return engine.Compile(def, engine.Options{Registry: types, Evaluators: languages, Resolve: resolve})
}

const needsJavaScript = "expression:JavaScript"

// A program without JavaScript refuses it wherever it stands, with the place; one
// that has it says that the definition needs it.
func TestJavaScriptIsRefusedWhereItIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		line, column int
	}{
		{"an input", "root:\n  - writeLine: {javascript: '1'}\n", 2, 16},
		{"an input in a branch", "root:\n  if: true\n  then:\n    - writeLine: {javascript: '1'}\n", 4, 18},
		{"a script", "root:\n  - runJavaScript: |\n      1\n", 2, 20},
		{"a script that is an expression", "root:\n  - runJavaScript: {javascript: '1'}\n", 2, 20},
		{"a script that is worked out", "root:\n  - runJavaScript: \"${{ '1' + '2' }}\"\n", 2, 20},
		{"a script in a variable", "variables:\n  s: string\nroot:\n  - runJavaScript: {variable: s}\n", 4, 20},
		{"a case", "root:\n  - switch:\n      - when: {javascript: '1'}\n        then: {writeLine: x}\n", 3, 15},
		{"a branch of a flowchart", "root:\n  flowchart:\n    activities:\n      a:\n        flowSwitch: [{label: L, when: {javascript: '1'}}]\n", 5, 39},
		{"a transition", "root:\n  stateMachine:\n    initial: A\n    states:\n      A:\n        transitions:\n          - {on: {event: e}, when: {javascript: '1'}, to: B}\n      B: {final: true}\n", 7, 36},
		{"an output", "outputs:\n  x: {javascript: '1'}\nroot:\n  - writeLine: x\n", 2, 6},
		{"a trigger", "root:\n  - event: {javascript: '\"e\"'}\n    trigger: true\n", 2, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with, problems := compileWith(c.source, expression.All())
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if !slices.Contains(with.Needs(), needsJavaScript) {
				t.Errorf("it needs %q", with.Needs())
			}
			_, problems = compileWith(c.source, expression.Except(workflow.JavaScript))
			if len(problems) != 1 {
				t.Fatalf("%d problems: %v", len(problems), problems)
			}
			p := problems[0]
			if p.Code != "unsupported-expression" || !strings.Contains(p.Detail, "--javascript=off") || p.Place.Line != c.line || p.Place.Column != c.column {
				t.Errorf("%+v", p)
			}
		})
	}
}

// The definitions that a definition uses are its own, also in this.
func TestJavaScriptOfAUsedDefinitionIsRefusedToo(t *testing.T) {
	t.Parallel()
	use := useOf("used", nil)
	use.Place = workflow.Place{File: "off.yaml", Line: 7, Column: 3}
	def := &workflow.Definition{ID: "def", Root: seq(use)}
	used := usable("used", seq(act("WriteLine", inputs{"text": workflow.JS("1")})))
	resolve := func(workflow.DefinitionRef) (*workflow.Definition, bool) { return used, true }
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: expression.All(), Resolve: resolve})
	if len(problems) > 0 || !slices.Contains(prog.Needs(), needsJavaScript) {
		t.Fatal(problems, prog.Needs())
	}
	_, problems = engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: expression.Except(workflow.JavaScript), Resolve: resolve})
	if len(problems) != 1 || problems[0].Code != "unsupported-expression" || problems[0].Place != use.Place {
		t.Errorf("%v", problems)
	}
}

// What a program is said to need is what it cannot be compiled without: of all
// definitions of the examples, of the page about the notation, and of the tests.
func TestADefinitionNeedsTheLanguagesThatItUses(t *testing.T) {
	t.Parallel()
	used := map[string]int{}
	for _, source := range sources(t) {
		with, problems := compileWith(source, expression.All())
		if len(problems) > 0 {
			continue
		}
		for _, kind := range []string{workflow.JavaScript, workflow.Expr, workflow.VariableOf} {
			_, problems := compileWith(source, expression.Except(kind))
			needs := slices.Contains(with.Needs(), "expression:"+kind)
			if needs != (len(problems) > 0) {
				t.Errorf("it needs %q, and without %s: %v\n%s", with.Needs(), kind, problems, source)
			}
			if needs {
				used[kind]++
			}
		}
	}
	if len(used) < 3 {
		t.Errorf("only these were needed: %v", used)
	}
}
