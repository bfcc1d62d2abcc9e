package workflowtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest"
)

const sentOrder = "id: order\ninputs: {who: {type: string}}\noutputs: {who: \"${{ inputs.who }}\"}\nroot:\n  - event: paid\n  - writeLine: done\n"

func sentTests(cases string) []byte { return []byte("cases:\n" + cases) }

func TestWhatIsSentIsTested(t *testing.T) {
	t.Parallel()
	good := "  - name: good\n    input: {who: Ada}\n    steps: [{event: paid}]\n    expect: {status: Finished, output: {who: Ada}}\n"
	bad := "  - name: bad\n    input: {who: Ada}\n    expect: {status: Finished}\n"
	res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: sentTests(good + bad), Definition: []byte(sentOrder)})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Cases) != 2 || len(res.Cases[0].Failures) != 0 || res.Failed() != 1 || res.Cases[1].Failures[0].Field != "status" || len(res.Cases[1].Journal) == 0 {
		t.Errorf("%+v", res)
	}
	child := "id: parent\nroot:\n  - executeWorkflow: order\n    input: {who: Bob}\n    waitForCompletion: true\n"
	res, err = workflowtest.RunSent(t.Context(), workflowtest.Sent{
		Test:       []byte("others: [order.yaml]\ncases:\n  - steps: [{event: paid}]\n    expect: {status: Finished}\n"),
		Definition: []byte(child),
		Other: func(_ context.Context, name string) ([]byte, error) {
			if id := workflowtest.DefinitionID(name); id != "order" {
				return nil, fmt.Errorf("there is no %s", id)
			}
			return []byte(sentOrder), nil
		},
	})
	if err != nil || res.Failed() != 0 {
		t.Errorf("with another definition: %+v %v", res, err)
	}
}

// A test that somebody sent reads no file, also not to learn the types of its activities: an
// output that only a file knows of stays unknown.
func TestWhatIsSentReadsNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"definition", "test", "order.yaml"} {
		if err := os.WriteFile(name, []byte("id: secret\nvariables: {code: string}\nroot:\n  - acme.Ship: hunter2\n    outputs: {code: code}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const here = "id: here\nroot:\n  - acme.Ship: x\n    id: ship\n  - writeLine: ${{ outputs('ship', 'code') }}\n"
	asked := 0
	test := "others: [order.yaml]\nmocks: {acme.Ship: {}}\ncases:\n"
	one := "  - expect: {status: Finished}\n"
	res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
		Test: []byte(test + one + one), Definition: []byte(here),
		Other: func(context.Context, string) ([]byte, error) { asked++; return []byte(sentOrder), nil },
	})
	if err != nil || res.Failed() != 2 || strings.Contains(fmt.Sprint(res), "hunter2") || !strings.Contains(fmt.Sprint(res), `which has no outputs`) {
		t.Errorf("%+v %v", res, err)
	}
	if asked > 1 {
		t.Errorf("the other definition was asked for %d times", asked)
	}
	// RunFile does learn them from the file: it is this that a test that was sent must not.
	if err := os.WriteFile("here.yaml", []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("here.test.yaml", []byte(test+one), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, err := workflowtest.RunFile("here.test.yaml", workflowtest.FileOptions{}); err != nil || strings.Contains(fmt.Sprint(res), "has no outputs") {
		t.Errorf("of files: %+v %v", res, err)
	}
}

// Paths are refused where no file is read, as are too many definitions, and one that is named
// twice, before any is asked for.
func TestOtherDefinitionsOfWhatIsSent(t *testing.T) {
	t.Parallel()
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf("d%d", i)
	}
	for others, want := range map[string]string{
		"/etc/passwd": "is a path", "../order.yaml": "name the published definition, order", `'..\order.yaml'`: "is a path", "/proc/self/environ": "is a path",
		"order, order.yaml": "given twice", strings.Join(many, ", "): "51 other definitions",
	} {
		var wrong *workflowtest.FileError
		_, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
			Test: []byte("others: [" + others + "]\ncases: [{}]\n"), Definition: []byte(sentOrder),
			Other: func(_ context.Context, name string) ([]byte, error) {
				t.Errorf("%s: %s was asked for", others, name)
				return nil, os.ErrNotExist
			},
		})
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", others, err)
		}
	}
	// Fifty are read, as long as they are not too large together, and each once for all cases.
	asked := map[string]int{}
	run := func(size int) workflowtest.FileResult {
		res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
			Test:       []byte("others: [" + strings.Join(many[:50], ", ") + "]\ncases: [{expect: {status: Finished}}, {expect: {status: Finished}}]\n"),
			Definition: []byte("id: here\nroot: [{writeLine: x}]\n"),
			Other: func(_ context.Context, name string) ([]byte, error) {
				asked[name]++
				return []byte("id: " + name + "\nroot: [{writeLine: x}]\n#" + strings.Repeat("x", size)), nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := run(1); res.Failed() != 0 || len(asked) != 50 || asked["d49"] != 1 {
		t.Errorf("%v %+v", asked, res)
	}
	if res := run(500_000); res.Failed() != 2 || !strings.Contains(fmt.Sprint(res), "bytes together") {
		t.Errorf("%+v", res)
	}
}

// The reading of other definitions ends with the context too.
func TestTheReadingOfOtherDefinitionsEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	_, err := workflowtest.RunSent(ctx, workflowtest.Sent{
		Test: []byte("others: [a, b, c]\ncases: [{}]\n"), Definition: []byte(sentOrder),
		Other: func(got context.Context, name string) ([]byte, error) {
			asked++
			cancel()
			if got.Err() == nil {
				t.Error("another context is handed on")
			}
			return []byte("id: " + name + "\nroot: []\n"), nil
		},
	})
	if !errors.Is(err, context.Canceled) || asked != 1 {
		t.Errorf("%v after %d", err, asked)
	}
}

// An activity of another program is mocked in what was sent, as it is in files.
func TestActivitiesOfOtherProgramsAreMockedInWhatIsSent(t *testing.T) {
	t.Parallel()
	res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: []byte(chargesTest), Definition: []byte(charges)})
	if err != nil || len(res.Cases) != 2 || res.Failed() != 0 {
		t.Errorf("%+v %v", res, err)
	}
	res, err = workflowtest.RunSent(t.Context(), workflowtest.Sent{
		Test:       []byte("others: [charges]\nmocks: {pay: {outputs: {receipt: r}}, acme.Ship: {result: {code: p}}}\ncases:\n  - expect: {status: Finished, calls: {acme.Ship: 1}}\n"),
		Definition: []byte("id: parent\nroot:\n  - executeWorkflow: charges\n    input: {amount: 1}\n    waitForCompletion: true\n"),
		Other:      func(context.Context, string) ([]byte, error) { return []byte(charges), nil },
	})
	if err != nil || res.Failed() != 0 {
		t.Errorf("in another definition: %+v %v", res, err)
	}
}

// A test that has no end is ended.
func TestWhatIsSentComesToAnEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	endless := "id: order\nroot:\n  - forEach: ${{ 0..5000 }}\n    body: [{delay: 1s}]\n"
	_, err := workflowtest.RunSent(ctx, workflowtest.Sent{Test: sentTests(strings.Repeat("  - steps: [{advance: 100h}]\n    expect: {status: Finished}\n", 50)), Definition: []byte(endless)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: sentTests("  - steps: [{advance: 100h}]\n    expect: {status: Finished}\n"), Definition: []byte(endless)})
	if err != nil || res.Failed() != 1 || !strings.Contains(fmt.Sprint(res.Cases[0].Failures), "run it with weft test") {
		t.Errorf("%+v %v", res.Cases, err)
	}
	if n := len(res.Cases[0].Journal); n > 201 {
		t.Errorf("%d lines of the journal are told", n)
	}
	if _, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: sentTests(strings.Repeat("  - start: false\n", 101)), Definition: []byte(sentOrder)}); err == nil || !strings.Contains(err.Error(), "101 cases") {
		t.Errorf("101 cases: %v", err)
	}
}

// What a case keeps has a bound, also within one burst.
func TestWhatIsSentKeepsLittle(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 100_000)
	for name, body := range map[string]string{
		"lines": "writeLine: ${{ inputs.text }}", "events": "publishEvent: gone\n        payload: ${{ inputs.text }}", "inputs": "setVariable: {variable: v, value: \"${{ inputs.text }}\"}",
		"children": "dispatchWorkflow: child\n        input: {text: \"${{ inputs.text }}\"}",
	} {
		run := func(times int) string {
			res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
				Test:       []byte("children: {child: {}}\ncases:\n  - input: {text: " + text + "}\n    expect: {status: Finished}\n"),
				Definition: []byte("id: order\ninputs: {text: string}\nvariables: {v: string}\nroot:\n  - forEach: ${{ 1.." + fmt.Sprint(times) + " }}\n    body:\n      - " + body + "\n"),
			})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(res.Cases[0].Failures)
		}
		if got := run(10); got != "[]" {
			t.Errorf("%s, few: %s", name, got)
		}
		many := 50 // of which the inputs alone are not too much
		if name == "inputs" {
			many = 100
		}
		if got := run(many); !strings.Contains(got, "keeps more than") || !strings.Contains(got, "weft test") {
			t.Errorf("%s, many: %.300s", name, got)
		}
	}
}

// What is told of cases has a bound, however they fail.
func TestWhatIsSentIsToldShortly(t *testing.T) {
	t.Parallel()
	outputs := ""
	for i := range 500 {
		outputs += fmt.Sprintf("o%d: 1, ", i)
	}
	one := "  - input: {text: " + strings.Repeat("é", 15_000) + "}\n    expect: {status: Faulted, lines: [], output: {" + outputs + "}}\n"
	res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
		Test:       sentTests(strings.Repeat(one, 60)),
		Definition: []byte("id: order\ninputs: {text: string}\nvariables: {v: {type: string}, w: {type: string}, n: number}\nroot:\n  - {setVariable: {variable: v, value: \"${{ inputs.text }}\"}}\n  - {setVariable: {variable: n, value: 7}}\n  - forEach: ${{ 1..60 }}\n    body:\n      - writeLine: ${{ inputs.text }}\n"),
	})
	if err != nil || res.Failed() != 60 {
		t.Fatalf("%d failed: %v", res.Failed(), err)
	}
	raw, err := json.Marshal(res)
	if err != nil || len(raw) > 8<<20 {
		t.Errorf("%d bytes are told: %v", len(raw), err)
	}
	first := res.Cases[0]
	if n := len(first.Failures); n < 90 || n > 102 || first.Variables["n"] != int64(7) && fmt.Sprint(first.Variables["n"]) != "7" || !utf8.Valid(raw) {
		t.Errorf("%d failures, n is %v", n, first.Variables["n"])
	}
	for _, c := range res.Cases {
		for _, f := range c.Failures {
			if len(f.Message) > 17_000 {
				t.Errorf("a message has %d bytes", len(f.Message))
			}
		}
		if v, _ := c.Variables["v"].(string); len(v) > 3_000 {
			t.Errorf("a variable has %d bytes", len(v))
		}
	}
}

// After more failures than are told a case goes no further.
func TestWhatIsSentFailsOnlySoOften(t *testing.T) {
	t.Parallel()
	for wrong, further := range map[int]bool{99: true, 101: false, 500: false} {
		outputs := ""
		for i := range wrong {
			outputs += fmt.Sprintf("o%d: 1, ", i)
		}
		res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
			Test: sentTests("  - steps: [{expect: {output: {" + outputs + "}}}, {event: paid}]\n"), Definition: []byte(sentOrder),
		})
		if err != nil || len(res.Cases[0].Failures) != min(wrong, 101) || strings.Contains(fmt.Sprint(res.Cases[0].Journal), "WriteLine") != further {
			t.Errorf("%d wrong: %d failures, %v %v", wrong, len(res.Cases[0].Failures), res.Cases[0].Journal, err)
		}
	}
}

// Long lines are the same only if all of them is.
func TestLongLinesOfWhatIsSentAreCompared(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_000)
	for want, failed := range map[string]int{long + "a": 0, long + "b": 1, long: 1} {
		res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{
			Test: sentTests("  - expect: {lines: [" + want + "]}\n"), Definition: []byte("id: order\nroot:\n  - writeLine: " + long + "a\n"),
		})
		if err != nil || res.Failed() != failed {
			t.Errorf("%d failed, want %d: %v", res.Failed(), failed, err)
		}
	}
}

// A small file that repeats a text does not become a large one.
func TestTextsThatAliasesRepeatAreCounted(t *testing.T) {
	t.Parallel()
	bomb := "cases:\n  - input: {a: &a " + strings.Repeat("x", 100_000) + ", b: [" + strings.Repeat("*a, ", 200) + "]}\n"
	var wrong *workflowtest.FileError
	if _, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: []byte(bomb), Definition: []byte(sentOrder)}); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "aliases repeat") {
		t.Errorf("%v", err)
	}
}

// What is wrong with a test has its place, a language that is switched off stays so, and an activity
// of another program has to be mocked.
func TestWhatIsSentIsHeldToItsBounds(t *testing.T) {
	t.Parallel()
	var wrong *workflowtest.FileError
	for _, text := range []string{"", "cases: [", "casez: []\n", "cases:\n  - nmae: x\n"} {
		if _, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: []byte(text), Definition: []byte(sentOrder)}); !errors.As(err, &wrong) || wrong.Problems[0].Place.Line < 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
	script := []byte("id: order\nroot:\n  - runJavaScript: 1 + 1\n")
	run := func(s workflowtest.Sent) string {
		s.Test = sentTests("  - expect: {status: Finished}\n")
		res, err := workflowtest.RunSent(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.Cases[0].Failures)
	}
	if got := run(workflowtest.Sent{Definition: script}); got != "[]" {
		t.Errorf("JavaScript: %s", got)
	}
	if got := run(workflowtest.Sent{Definition: script, Evaluators: expression.Except(workflow.JavaScript)}); got == "[]" {
		t.Error("JavaScript runs where it is switched off")
	}
	if got := run(workflowtest.Sent{Definition: []byte("id: order\nroot:\n  - acmeShip: x\n")}); !strings.Contains(got, "may be mocked") {
		t.Errorf("an activity of another program: %s", got)
	}
	if got := run(workflowtest.Sent{Definition: []byte("id: order\nroot:\n  - sendHttpRequest: https://weft.example/\n")}); got == "[]" {
		t.Error("a request goes out")
	}
}
