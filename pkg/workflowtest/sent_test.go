package workflowtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		Test:       []byte("others: [../x/order.yaml]\ncases:\n  - steps: [{event: paid}]\n    expect: {status: Finished}\n"),
		Definition: []byte(child),
		Other: func(name string) ([]byte, error) {
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

// A test that somebody sent reads no file that it names, and says nothing of one.
func TestWhatIsSentReadsNoFile(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(secret, []byte("id: secret\nroot: []\n# hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{"definition: " + secret + "\n", "others: [" + secret + "]\n", "others: [" + filepath.Join("..", "..", "..", "etc", "passwd") + "]\n"} {
		res, err := workflowtest.RunSent(t.Context(), workflowtest.Sent{Test: []byte(head + "cases:\n  - input: {who: x}\n    steps: [{event: paid}]\n"), Definition: []byte(sentOrder)})
		if err != nil {
			t.Fatalf("%s: %v", head, err)
		}
		if isOther := strings.HasPrefix(head, "others"); (res.Failed() == 1) != isOther || strings.Contains(fmt.Sprint(res), "hunter2") {
			t.Errorf("%s: %+v", head, res)
		}
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
