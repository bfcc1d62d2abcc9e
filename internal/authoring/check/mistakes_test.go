package check_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

var update = flag.Bool("update", false, "write what is found behind each mistake of testdata/mistakes")

// mark begins the lines that say what is found.
const mark = "\n#! "

// TestMistakesAreFound holds each file of testdata/mistakes, a definition with a mistake in
// YAML or in Elsa's JSON, against what stands at its end: every problem with its place, code and text.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	files := map[string][]string{}
	for pattern, least := range map[string]int{"*.yaml": 480, "*.json": 45} {
		found, err := filepath.Glob("testdata/mistakes/" + pattern)
		if err != nil || len(found) < least {
			t.Fatalf("%d files %s: %v", len(found), pattern, err)
		}
		files[pattern] = found
	}
	for _, file := range slices.Concat(files["*.yaml"], files["*.json"]) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src, want, _ := strings.Cut(string(raw), mark)
			got := strings.ReplaceAll(found(t, src+"\n"), "\n", mark)
			if *update {
				if err := os.WriteFile(file, []byte(src+mark+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want = strings.TrimSuffix(want, "\n"); got != want {
				t.Errorf("found\n%s\nand not\n%s", got, want)
			}
			if got == "" {
				t.Error("nothing is found")
			}
		})
	}
}

// found says what is wrong with a definition, one problem a line.
func found(t *testing.T, src string) string {
	t.Helper()
	read := yaml.Read
	if elsajson.Looks([]byte(src)) {
		read = elsajson.Read
	}
	def, problems := read([]byte(src), "", activities.Default())
	if def != nil {
		opts := options()
		opts.Defined = func(id string) bool { return id == "child" || id == "ship" }
		opts.Child = func(id string) *workflow.Definition { return map[string]*workflow.Definition{"ship": ship(t)}[id] }
		_, more := check.Definition(def, opts)
		problems = problems.Join(more)
	}
	problems = problems.WithExcerpts([]byte(src))
	problems.Sort()
	var lines []string
	for _, p := range problems {
		text := fmt.Sprintf("%d:%d %s %s: %s", p.Place.Line, p.Place.Column, p.Severity(), p.Code, p.Detail)
		lines = append(lines, strings.ReplaceAll(text, "\n", " / "))
	}
	return strings.Join(lines, "\n")
}

// ship is a definition that others run as a child.
func ship(t *testing.T) *workflow.Definition {
	t.Helper()
	def, problems := yaml.Read([]byte("id: ship\ninputs:\n  order: {type: string, required: true}\n  weight: number\nroot: []\n"), "", activities.Default())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return def
}

// What may be meant is an error only for those who want it so.
func TestWarningsAreErrorsOnlyIfStrict(t *testing.T) {
	t.Parallel()
	ps := workflow.Problems{{Code: "a", Warning: true}, {Code: "b"}}
	errs, warnings := ps.Split()
	if len(errs) != 1 || errs[0].Code != "b" || len(warnings) != 1 || warnings[0].Severity() != "warning" {
		t.Errorf("errors %v, warnings %v", errs, warnings)
	}
	if errs, warnings = ps.Strict().Split(); len(errs) != 2 || warnings != nil {
		t.Errorf("strict: errors %v, warnings %v", errs, warnings)
	}
}

// TestDurationsAreNoMistake has durations of the language where a duration is wanted.
func TestDurationsAreNoMistake(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`duration("1h")`, `date(inputs.when) - now()`} {
		if got := found(t, "id: nap\ninputs: {when: {type: string}}\nroot:\n  - delay: ${{ "+value+" }}\n"); got != "" {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// TestWhatIsMeantIsNoMistake has what looks nearly like one.
func TestWhatIsMeantIsNoMistake(t *testing.T) {
	t.Parallel()
	const head = "id: fine\ninputs: {orderId: string, formal: boolean}\nvariables: {n: 0, total: 0}\nroot:\n"
	for name, src := range map[string]string{
		"a loop that counts":              head + "  - while: ${{ variables.n < 3 }}\n    body: [{setVariable: {variable: n, value: \"${{ variables.n + 1 }}\"}}]\n",
		"a loop that a result ends":       head + "  - while: ${{ variables.n < 3 }}\n    body: {sendHttpRequest: \"https://a.example\", outputs: {statusCode: n}}\n",
		"a loop that a script ends":       head + "  - while: ${{ variables.n < 3 }}\n    body: {runJavaScript: \"setN(3)\"}\n",
		"a loop that waits":               head + "  - while: true\n    body: [{writeLine: a}, {delay: 1h}]\n",
		"a loop with a way out":           head + "  - while: true\n    body: [{if: \"${{ inputs.formal }}\", then: [break]}]\n",
		"a loop that looks at the time":   head + "  - while: ${{ now().Year() < 3000 }}\n    body: {writeLine: a}\n",
		"a loop beside what ends it":      head + "  - parallel:\n      - {while: \"${{ variables.n < 3 }}\", body: {writeLine: a}}\n      - {setVariable: {variable: n, value: 3}}\n",
		"a count down":                    head + "  - for: {start: 3, end: 1, step: -1}\n    body: {writeLine: a}\n",
		"one round":                       head + "  - for: {start: 3, end: 3}\n    body: {writeLine: a}\n",
		"an amount of dollars":            head + "  - writeLine: \"it costs ${5} or $${{ inputs.orderId }}\"\n",
		"a text about inputs":             head + "  - writeLine: inputs are what a start passes\n",
		"a template of the other side":    head + "  - sendHttpRequest: {url: \"https://a.example/{id}\", method: POST, content: {html: \"Dear {{ name }}\"}}\n",
		"all cases":                       head + "  - switch:\n      - {when: true, then: {writeLine: a}}\n      - {when: \"${{ inputs.formal }}\", then: {writeLine: b}}\n    mode: MatchAny\n",
		"a round with a decision":         head + "  - flowchart:\n      activities: {a: {writeLine: a}, b: {flowDecision: \"${{ inputs.formal }}\"}, c: {writeLine: c}}\n      connections: [a -> b, b.True -> a, b.False -> c]\n",
		"a round that waits":              head + "  - flowchart:\n      activities: {a: {writeLine: a}, b: {delay: 1h}}\n      connections: [a -> b, b -> a]\n",
		"states that go round":            head + "  - stateMachine:\n      initial: A\n      states:\n        A: {transitions: [{on: {event: x}, to: B}, {on: {delay: 1h}, to: B}]}\n        B: {transitions: [{when: \"${{ inputs.formal }}\", to: C}, {to: A}]}\n        C: {final: true}\n",
		"an output that a script sets":    "id: fine\noutputs: {sum: number}\nroot: [{runJavaScript: \"setOutput('sum', 3)\"}]\n",
		"an output that a result sets":    "id: fine\noutputs: {answer: object}\nroot: [{event: paid, result: answer}]\n",
		"outputs that nobody declares":    "id: fine\nroot: [{setOutput: {outputName: sum, outputValue: 3}}]\n",
		"a name that a script makes":      head + "  - runJavaScript: \"variables.somethingElse = 3\"\n",
		"outcomes within a composite":     "id: fine\noutcomes: [Ok]\nroot:\n  - composite:\n    root: {complete: Inner}\n  - complete: Ok\n",
		"an attempt that may be given up": head + "  - {sendHttpRequest: \"https://a.example\", retry: 1, onGiveUp: {writeLine: a}}\n",
		"itself, if":                      head + "  - if: ${{ inputs.formal }}\n    then: {dispatchWorkflow: {workflowDefinitionId: fine, input: {formal: false}}}\n",
		"fields that are there":           head + "  - {sendHttpRequest: \"https://a.example\", id: call}\n  - writeLine: ${{ outputs(\"call\").statusCode }} ${{ outputs(\"call\", \"parsedContent\").anything }}\n",
		"names in brackets":               head + "  - writeLine: {liquid: \"{{ inputs['orderId'] }} {{ variables['n'] | plus: 1 }}\"}\n",
		"an else that trims":              head + "  - writeLine: {liquid: \"{% if inputs.formal %}a{% else -%}b{% endif %}{% if inputs.formal %}a{%- else -%}b{% endif %}{% if inputs.formal %}a{% else  %}b{% endif %}\"}\n",
		"a body that is too large":        "id: fine\nroot:\n  - {httpEndpoint: big, id: ep, trigger: true}\n  - if: ${{ outputs(\"ep\").tooLarge }}\n    then: {writeLine: a}\n",
		"a time that is a number":         "id: fine\ninputs: {since: {type: datetime, default: 1700000000000}}\nroot: [{writeLine: \"${{ inputs.since + 60000 }}\"}, {if: \"${{ inputs.since > 0 }}\", then: {writeLine: a}}]\n",
		"a function below":                "id: fine\ninputs: {status: string}\nroot: [{runJavaScript: \"const o = {}; setStatus(o, 'new'); return o; function setStatus(order, s) { order.status = s }\"}]\n",
		"outcomes that are taken back":    head + "  - runJavaScript: \"setOutcomes('a'); if (inputs.formal) setOutcomes()\"\n    possibleOutcomes: [a, Done]\n",
		"no headers":                      head + "  - sendHttpRequest: {url: \"https://a.example\", headers: []}\n",
		"a host of secrets":               head + "  - sendHttpRequest: {url: \"https://a.example\", headers: {Origin: \"https://secrets.example.com\", Via: \"1.1 secrets.example.com\"}}\n",
		"itself, unless it ends":          head + "  - if: ${{ inputs.formal }}\n    then: [finish]\n  - dispatchWorkflow: {workflowDefinitionId: fine, input: {formal: false}}\n",
		"itself, later":                   head + "  - delay: 24h\n  - dispatchWorkflow: {workflowDefinitionId: fine, input: {formal: false}}\n",
		"a full name of a strategy":       `{"definitionId": "fine", "options": {"commitStrategyName": "Elsa.Workflows.CommitStates.Strategies.PeriodicWorkflowStrategy, Elsa.Workflows.Core", "commitInterval": "00:00:30"}, "root": {"type": "Elsa.WriteLine", "id": "say", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "a"}}}}`,
		"names of files":                  "id: fine\ninputs: {file: {type: string, default: inputs.csv}}\nvariables: {other: {type: string, value: variables.json}}\nroot: [{writeLine: a}]\n",
		"a label that provides for nil":   "id: fine\nvariables: {tier: string}\nlabels: {tier: '${{ variables.tier ?? \"new\" }}', is: '${{ variables.tier == nil ? \"new\" : variables.tier }}'}\nroot: [{writeLine: a}]\n",
		"numbers without a sign":          "id: fine\nvariables: {a: {type: UInt16}, b: {type: UInt32}, c: {type: UInt64}, d: {type: SByte}}\nroot: [{writeLine: a}]\n",
		"a type of somebody's own":        "id: fine\nvariables: {a: {type: Acme.Order}, b: {type: Parcel}}\nroot: [{writeLine: a}]\n",
	} {
		if got := found(t, src); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestHeadersOfOthersMayBeAList has an activity of somebody's own whose headers are not those of HTTP.
func TestHeadersOfOthersMayBeAList(t *testing.T) {
	t.Parallel()
	opts := options()
	kafka := workflow.Descriptor{Type: "Acme.Kafka", Inputs: []workflow.InputDescriptor{{Name: "headers", Type: "Object"}}}
	if err := opts.Registry.Register(kafka, struct{ engine.Activity }{}); err != nil {
		t.Fatal(err)
	}
	def, problems := yaml.Read([]byte("id: fine\nroot: [{"+kafka.ShortName()+": {headers: [{key: a, value: b}]}}]\n"), "", opts.Registry)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, problems = check.Definition(def, opts); len(problems) > 0 {
		t.Error(problems)
	}
}

// TestALookHasABound holds that a definition made to be long to look at is not.
func TestALookHasABound(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("id: long\noutputs: {sum: number}\nvariables:\n") // the output is set by a script that is not read
	for i := range 5000 {
		fmt.Fprintf(&src, "  v%d: {type: string}\n", i)
	}
	src.WriteString("root:\n")
	for i := range 2000 {
		fmt.Fprintf(&src, "  - writeLine: ${{ variables.v%d + variables.v%d + variables.v%d }}\n", i, i+1, i+2)
	}
	src.WriteString("  - runJavaScript: setOutput('sum', 3) //" + strings.Repeat("x", 10_000) + "\n")
	if got := found(t, src.String()); !strings.Contains(got, "not-all-checked") || strings.Count(got, "\n") > 0 {
		t.Errorf("%.500s", got)
	}
}

// TestHostileDefinitionsAreLookedAtInBounds holds that no definition of a megabyte exhausts the stack or takes minutes to look at,
// whatever it has much of. Without the bounds most of these would not end before the tests do, and the first would end the process.
func TestHostileDefinitionsAreLookedAtInBounds(t *testing.T) {
	t.Parallel()
	many := func(n int, text string) string { // each with its number
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	names := "variables:\n" + many(8000, "  v#: {type: string}\n")
	for name, src := range map[string]string{
		"code that is too deep":          "root:\n  - writeLine: ${{ " + strings.Repeat("(", 1<<20-1000) + " }}\n",
		"deep code within a tree":        "root:\n  - setVariable: {variable: x, value: {a: [\"${{ " + strings.Repeat("[", 1<<19) + " }}\"]}}\n",
		"signs before a value":           "root:\n  - writeLine: ${{ " + strings.Repeat("!", 120<<10) + "true }}\n",
		"unknown names of a script":      "root:\n  - runJavaScript: |\n      " + many(12_000, "u#();") + "\n" + "  - runJavaScript: |\n      " + many(9000, "var d#;") + many(3000, "u#;") + "\n",
		"scripts that make variables":    "root:\n" + many(6, "  - runJavaScript: |\n      "+many(3500, "setVariable('m#',1);")+many(3500, "setM#(1);")+"\n"),
		"unknown names of a template":    "root:\n  - writeLine: {liquid: \"" + many(3500, "{% assign d# = 1 %}") + many(3500, "{{ u# }}") + "\"}\n",
		"a tree of code beside names":    names + "root:\n  - setVariable: {variable: v1, value: [" + many(15_000, "\"${{ variables.v# }}\", ") + "1]}\n",
		"code in one text beside names":  names + "root:\n  - writeLine: \"" + many(15_000, "${{ variables.v# }}") + "\"\n",
		"loops within names":             names + "root:\n" + many(4000, "  - forEach: {items: [1], body: {writeLine: x}}\n"),
		"scopes within names":            names + "root:\n" + many(4000, "  - sequence: [{writeLine: x}]\n    variables: {w: {type: string}}\n"),
		"texts that look like inputs":    "inputs:\n" + many(10_000, "  i#: string\n") + "root:\n  - writeLine: \"" + many(80_000, "{q#}") + "\"\n",
		"ways of a fork that has many":   "root:\n  flowchart:\n    activities:\n      f: {flowFork: [" + many(30_000, "b#, ") + "z]}\n      w: {writeLine: x}\n    connections: [" + many(20_000, "f.c# -> w, ") + "f.z -> w]\n",
		"ways of many activities":        "root:\n  flowchart:\n    activities:\n" + many(4000, "      a#: {writeLine: x}\n") + "    connections: [" + many(20_000, "a1.c# -> a2, ") + many(3998, "a# -> a3999, ") + "a1 -> a2]\n",
		"states that follow each other":  "root:\n  stateMachine:\n    states:\n" + many(4000, "      s#: {transitions: [{to: s#}]}\n"),
		"outcomes of many":               "outcomes: [" + many(30_000, "o#, ") + "z]\nroot:\n  - complete: [" + many(30_000, "q#, ") + "z]\n",
		"unknown inputs of many":         "inputs:\n" + many(10_000, "  i#: string\n") + "root:\n" + many(8000, "  - writeLine: ${{ inputs.q# }}\n"),
		"a text of one unknown variable": names + "root:\n  - writeLine: \"" + many(15_000, "${{ variables.q }}") + "\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := found(t, "id: hostile\n"+src); got == "" && !strings.Contains(name, "names") && !strings.Contains(name, "look like") {
				t.Error("nothing is found")
			}
		})
	}
}
