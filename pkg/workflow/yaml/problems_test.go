package yaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// badInputs are sources with what must be said of them: line:column code of each
// problem, in order, and what the details must hold.
var badInputs = []struct {
	name, src string
	want      string
	says      []string
}{
	{"nothing", "", "1:1 bad-yaml", nil},
	{"broken", "id: x\nroot: [a\nb: 1", "3:2 bad-yaml", nil},
	{"a colon too many", "id: a: b", "1:6 bad-yaml", nil},
	{"a tab", "id: x\nroot:\n\t- writeLine: a", "3:1 bad-yaml", nil},
	{"no UTF-8", "id: \xff", "1:1 bad-yaml", nil},
	{"an unknown anchor", "id: x\nroot: *a", "2:7 bad-yaml", nil},
	{"two documents", "id: x\nroot: []\n---\nid: y\n", "3:1 bad-yaml", nil},
	{"a list", "- a", "1:1 wrong-shape", nil},
	{"no root", "id: x", "1:1 missing-root", nil},
	{"an empty root", "id: x\nroot:", "2:6 wrong-shape", nil},
	{"no id", "root: []", "1:1 missing-id", nil},
	{"a bad id", "id: a/b\nroot: []", "1:5 invalid-id", nil},
	{"an unknown field", "id: x\nroots: []\ninput: {}", "1:1 missing-root\n2:1 unknown-key\n3:1 unknown-key", []string{"did you mean root?", "did you mean inputs?"}},
	{"an unknown type", "id: x\nroot:\n  - writeLin: a\n  - Writeline: b\n  - acme.Shop: {}\n  - zzzzzzz: a",
		"3:5 unknown-activity-type\n4:5 unknown-activity-type\n5:5 unknown-activity-type\n6:5 unknown-activity-type", []string{"did you mean writeLine?", "did you mean acme.Ship?", `"zzzzzzz"`}},
	{"inside an unknown type", "id: x\nroot:\n  - iff: true\n    then:\n      - writeLin: a\n", "3:5 unknown-activity-type\n5:9 unknown-activity-type", nil},
	{"no type", "id: x\nroot:\n  - id: a\n    name: b", "3:5 missing-activity-type", nil},
	{"two types", "id: x\nroot:\n  - writeLine: a\n    finish:", "4:5 two-activity-types", []string{"begin a new item with -"}},
	{"unknown inputs", "id: x\nroot:\n  - sendHttpRequest: {urll: a, method: GET}\n    expectedStatusCode: {}\n    resullt: x", "3:23 unknown-key\n4:5 unknown-key\n5:5 unknown-key",
		[]string{"did you mean url?", "did you mean expectedStatusCodes?", "did you mean result?"}},
	{"doubled keys", "id: x\nid: y\nroot:\n  - if: true\n    then: []\n    then: []\n  - writeLine: {text: a}\n    text: b", "2:1 duplicate-key\n6:5 duplicate-key\n8:5 duplicate-key", nil},
	{"values where there are none", "id: x\nroot:\n  - finish: now\n  - setVariable: 3\n  - setOutput: [1]", "3:13 no-main-input\n4:18 no-main-input\n5:16 no-main-input", []string{"variable, value"}},
	{"outputs", "id: x\nroot:\n  - writeLine: a\n    result: r\n  - event: a\n    outputs: {resultt: r}\n  - workflow: c\n    result: r", "4:5 no-output\n6:15 unknown-output\n8:5 no-output", []string{"did you mean result?"}},
	{"triggers", "id: x\nroot:\n  - writeLine: a\n    trigger: true\n  - event: a\n    trigger: maybe", "4:5 not-a-trigger\n6:14 wrong-shape", nil},
	{"types and options", "id: x\ninputs: {a: strin, b: {typ: x}, c: [1]}\nvariables: {v: hello}\noptions: {activation: Single, commits: x}\nroot: []",
		"2:13 unknown-type\n2:24 unknown-key\n2:36 wrong-shape\n3:16 unknown-type\n4:23 bad-value\n4:31 unknown-key", []string{"did you mean string?", "did you mean commit?"}},
	{"connections", "id: x\nroot:\n  flowchart:\n    start: aks\n    activities:\n      ask: {start: }\n      b: {end: }\n    connections:\n      - ask -> c\n      - ask\n      - {from: ask}\n      - {from: ask, too: b}\n      - [a]",
		"4:12 unknown-activity\n9:9 unknown-activity\n10:9 wrong-shape\n11:9 wrong-shape\n12:9 wrong-shape\n12:21 unknown-key\n13:9 wrong-shape", []string{"did you mean ask?", "did you mean to?"}},
	{"timeouts", "id: x\nroot:\n  - event: a\n    onTimeout: []", "4:5 missing-timeout", nil},
	{"retries", "id: x\nroot:\n  - event: a\n    onGiveUp: []\n  - event: b\n    retry: [1]\n  - event: c\n    retry: {attempt: 1}", "4:5 missing-retry\n6:12 wrong-shape\n8:13 unknown-key", nil},
	{"numbers that JSON lacks", "id: x\nroot:\n  - setVariable: {variable: v, value: .inf}\n", "3:39 bad-value", nil},
	{"a tag", "id: x\nroot:\n  - setVariable: {variable: v, value: !foo bar}\n", "3:39 unknown-tag", nil},
	{"two ids", "id: x\nroot:\n  flowchart: {activities: {a: {start: , id: b}}}", "3:45 two-ids", nil},
	{"cases", "id: x\nroot:\n  - switch: [{whn: 1}, [2]]\n  - flowSwitch: [{label: a, then: []}]", "3:15 unknown-key\n3:24 wrong-shape\n4:29 wrong-shape", []string{"did you mean when?"}},
	{"states", "id: x\nroot:\n  stateMachine: {states: {a: {entri: x}, b: 3, c: {transitions: [{on: break}, 4]}}}", "3:31 unknown-key\n3:45 wrong-shape\n3:66 wrong-shape\n3:79 wrong-shape", []string{"did you mean entry?"}},
	{"an empty item", "id: x\nroot:\n  -\n  - writeLine: a", "3:4 wrong-shape", nil},
	{"a key that is a list", "id: x\nroot:\n  - {[a]: b, writeLine: c}", "3:6 wrong-shape", nil},
	{"a definition without id", "id: x\nroot:\n  - workflow:\n  - workflow: {message: a}", "3:14 wrong-shape\n4:15 missing-id", nil},
}

func TestEveryProblemIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range badInputs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, problems := yaml.Read([]byte(c.src), "", testTypes(t))
			var got, details []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Place.Line, p.Place.Column, p.Code))
				details = append(details, p.Detail)
				if p.Detail == "" || p.Excerpt == "" && c.src != "" {
					t.Errorf("%+v lacks a detail or an excerpt", p)
				}
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), c.want, strings.Join(details, "\n"))
			}
			for _, s := range c.says {
				if !strings.Contains(strings.Join(details, "\n"), s) {
					t.Errorf("nothing says %q:\n%s", s, strings.Join(details, "\n"))
				}
			}
		})
	}
}

func TestAProblemShowsItsLine(t *testing.T) {
	t.Parallel()
	_, problems := yaml.Read([]byte("id: x\nroot:\n  - writeLin: é\n"), "a.yaml", testTypes(t))
	if len(problems) != 1 {
		t.Fatal(problems)
	}
	want := "3 |   - writeLin: é\n        ^"
	if problems[0].Excerpt != want {
		t.Errorf("got\n%s\nwant\n%s", problems[0].Excerpt, want)
	}
	if got := problems.Error(); got != `a.yaml: line 3, column 5: there is no activity type "writeLin" (did you mean writeLine?)` {
		t.Error(got)
	}
}

func TestLimitsEndCleanly(t *testing.T) {
	t.Parallel()
	nested := func(n int) string {
		return "id: x\nroot: " + strings.Repeat("{flowNode: ", n) + "{finish: }" + strings.Repeat("}", n)
	}
	bomb := "id: x\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	for name, c := range map[string]struct{ src, want string }{
		"large":          {"id: x\nname: " + strings.Repeat("x", workflow.MaxSource), "too-large"},
		"brackets":       {strings.Repeat("[", 100_000), "bad-yaml"},
		"nested lists":   {"id: x\nroot: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "too-deep"},
		"nested 199":     {nested(199), ""},
		"nested 200":     {nested(200), "too-deep"},
		"nested 1000":    {nested(1000), "too-deep"},
		"bomb":           {bomb + "root: *a9", "too-large"},
		"cycle":          {"id: x\nroot: &r [*r]", "too-deep"},
		"10000 in a row": {"id: x\nroot:\n" + strings.Repeat("  - finish:\n", 9_999), ""},
		"10001 in a row": {"id: x\nroot:\n" + strings.Repeat("  - finish:\n", 10_000), "too-many-activities"},
		"50000 in a row": {"id: x\nroot:\n" + strings.Repeat("  - finish:\n", 50_000), "too-many-activities"},
		"timeouts":       {"id: x\nroot:\n" + strings.Repeat("  - {event: a, timeout: 1s}\n", 4_000), "too-many-activities"},
	} {
		_, problems := yaml.Read([]byte(c.src), "", testTypes(t))
		code := ""
		if len(problems) > 0 {
			code = problems[0].Code
		}
		if code != c.want || len(problems) > 1 {
			t.Errorf("%s: got %q (%d problems), want %q", name, code, len(problems), c.want)
		}
	}
}

func TestManyProblemsAreBounded(t *testing.T) {
	t.Parallel()
	_, problems := yaml.Read([]byte("id: x\nroot:\n"+strings.Repeat("  - writeLin: a\n", 9_000)), "", testTypes(t))
	if len(problems) == 0 || len(problems) > 200 {
		t.Error(len(problems))
	}
}
