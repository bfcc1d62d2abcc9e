package workflowtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflowtest"
)

// tells is a t whose errors are looked at.
type tells struct{ errors []string }

func (*tells) Helper() {}

func (c *tells) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

func (c *tells) Fatalf(format string, args ...any) { c.Errorf("fatal: "+format, args...) }

func TestCrashesOfAGoTest(t *testing.T) {
	t.Parallel()
	approved := func(w *workflowtest.Test) {
		w.Event("approved", map[string]any{"by": "Ann"})
		w.WantOutput("approvedBy", "Ann")
	}
	cfg := workflowtest.Config{
		File: "../../examples/order-approval.yaml", Input: map[string]any{"orderId": "o-2", "amount": 2000},
		Mocks: workflowtest.Mocks{"sendHttpRequest": workflowtest.Reply{Outputs: map[string]any{"statusCode": 202}}},
	}
	for _, of := range []struct {
		name string
		test func(w *workflowtest.Test)
		want string // part of the only error; "": there is none
	}{
		{"it holds", func(w *workflowtest.Test) { _ = w.Run().Start(); approved(w) }, ""},
		{"it fails anyway", func(w *workflowtest.Test) { _ = w.Run().Start(); w.WantStatus("Finished") }, "without a failure of a node: status"},
		{"it cannot be done", func(w *workflowtest.Test) { approved(w) }, "without a failure of a node"},
	} {
		c := &tells{}
		rep := workflowtest.Crashes(c, cfg, of.test)
		switch {
		case of.want == "" && (len(c.errors) > 0 || rep.Runs != 18 || len(rep.Repeated) != 2):
			t.Errorf("%s: %v, %+v", of.name, c.errors, rep)
		case of.want != "" && (len(c.errors) != 1 || !strings.Contains(c.errors[0], of.want)):
			t.Errorf("%s: %v", of.name, c.errors)
		}
	}
	defer func() {
		if why := recover(); why != "mine" {
			t.Errorf("a panic of the test became %v", why)
		}
	}()
	workflowtest.Crashes(&tells{}, cfg, func(*workflowtest.Test) { panic("mine") })
}

func TestCrashesOfATestThatWasSent(t *testing.T) {
	t.Parallel()
	sent := workflowtest.Sent{
		Test:       []byte("mocks: {sendHttpRequest: {outputs: {statusCode: 200}}}\ncases: [{name: a}]\n"),
		Definition: []byte("id: d\nroot:\n  - for: {start: 1, end: 100, step: 1}\n    body: {sendHttpRequest: {url: 'https://a.test'}}\n"),
		Crash:      true,
	}
	res, err := workflowtest.RunSent(t.Context(), sent)
	if err != nil {
		t.Fatal(err)
	}
	c := res.Cases[0]
	if c.Crash == nil || c.Crash.Runs != 300 || c.Crash.Left != 402 {
		t.Errorf("%+v", c.Crash)
	}
	if !slices.ContainsFunc(c.Failures, func(f workflowtest.Failure) bool { return f.Field == "crash" }) {
		t.Errorf("%+v", c.Failures)
	}
}
