package workflowtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflowtest"
)

// files writes files into a directory and gives it.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// failed runs a test file and gives the failures of its case, as field: message.
func failed(t *testing.T, file string, against ...string) []string {
	t.Helper()
	res, err := workflowtest.RunFile(file, workflowtest.FileOptions{Against: against})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range res.Cases {
		for _, f := range c.Failures {
			if f.Line == 0 {
				t.Errorf("no line: %+v", f)
			}
			out = append(out, f.String())
		}
	}
	return out
}

func holds(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("no %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d differences, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

// The same order in Elsa's JSON and in YAML.
const (
	orderJSON = `{"definitionId": "order", "name": "order", "outputs": [{"name": "Total", "type": "Int32"}], "root": {"type": "Elsa.Sequence", "id": "root", "activities": [
  {"type": "Elsa.Event", "id": "paid", "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "paid"}}},
  {"type": "Elsa.Delay", "id": "pause", "timeSpan": {"typeName": "TimeSpan", "expression": {"type": "Literal", "value": "01:00:00"}}},
  {"type": "Elsa.WriteLine", "id": "say", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "'shipped ' + getLastResult()"}}},
  {"type": "Elsa.SetOutput", "id": "out", "outputName": {"typeName": "String", "expression": {"type": "Literal", "value": "Total"}}, "outputValue": {"typeName": "Object", "expression": {"type": "Literal", "value": 12}}}]}}`
	orderYAML = "id: order\noutputs: {Total: {type: Int32}}\nroot:\n  - {event: paid, id: paid}\n  - {delay: 1h, id: pause}\n  - {writeLine: \"shipped 5\", id: say}\n  - {setOutput: {outputName: Total, outputValue: 12}, id: out}\n"
	orderTest = `
definition: %s
now: 2026-11-29T09:00:00Z
cases:
  - name: order 7
    %s
    steps:
      - {at: 2026-11-29T10:00:00.5Z, event: paid, payload: 5}
      - expect: {status: Suspended}
      - at: 2026-11-29T11:00:00.5Z
`
)

// Recorded stimuli are run, each at its time, on two sides: what is the same on both is no difference, and each
// difference says both values, and for lines the places.
func TestCasesAreRunOnAnotherSideToo(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"order.json": orderJSON, "replay.test.yaml": fmt.Sprintf(orderTest, "order.json", "expect: {status: Finished, lines: [shipped 5]}"),
		"same/order.yaml": orderYAML, "same/other.json": `{"name": "no definition"}`, "same/x.test.yaml": "cases: []",
		"lines/order.yaml":   strings.Replace(orderYAML, "shipped 5", "sent", 1),
		"output/order.yaml":  strings.Replace(orderYAML, "outputValue: 12", "outputValue: 13", 1),
		"missing/order.yaml": strings.Replace(orderYAML, "  - {setOutput: {outputName: Total, outputValue: 12}, id: out}\n", "", 1),
		"later/order.yaml":   strings.Replace(orderYAML, "1h", "2h", 1),
		"event/order.yaml":   strings.Replace(orderYAML, "event: paid", "event: payed", 1),
		"fault/order.yaml":   strings.Replace(orderYAML, "{writeLine: \"shipped 5\", id: say}", "{fault: no, id: say}", 1),
		"none/other.yaml":    "id: other\nroot:\n  - writeLine: x\n",
	})
	test := filepath.Join(dir, "replay.test.yaml")
	holds(t, failed(t, test))
	holds(t, failed(t, test, filepath.Join(dir, "same")))
	holds(t, failed(t, test, filepath.Join(dir, "lines", "order.yaml")), `lines: line 1: here "shipped 5" (activity say`)
	holds(t, failed(t, test, filepath.Join(dir, "output")), "output.Total: here 12, with order.yaml 13")
	holds(t, failed(t, test, filepath.Join(dir, "missing")), "output.Total: here 12, with order.yaml not set", "completed.out: here 1 times, with order.yaml 0 times")
	holds(t, failed(t, test, filepath.Join(dir, "later")), "status: here Finished, with order.yaml Suspended", "lines: line 1", "output.Total", "completed.out", "completed.pause", "completed.root", "completed.say")
	holds(t, failed(t, test, filepath.Join(dir, "event")), "against: with order.yaml: nothing waits for the event paid")
	holds(t, failed(t, test, filepath.Join(dir, "fault")), "status: here Finished, with order.yaml Faulted", "incidents: here 0, with order.yaml 1", "lines: line 1", "output.Total", "completed.out", "completed.root", "completed.say")
	holds(t, failed(t, test, filepath.Join(dir, "none")), "none of the definitions has the id of one that the case runs")

	back := filepath.Join(dir, "back.test.yaml")
	if err := os.WriteFile(back, []byte(strings.Replace(fmt.Sprintf(orderTest, "order.json", ""), "11:00", "09:30", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, failed(t, back), "it happens at 2026-11-29T09:30:00.5Z, and the clock shows 2026-11-29T10:00:00.5Z by then")
	if _, err := workflowtest.RunFile(test, workflowtest.FileOptions{Against: []string{filepath.Join(dir, "same"), filepath.Join(dir, "lines")}}); err == nil || !strings.Contains(err.Error(), "are both order") {
		t.Errorf("%v", err)
	}
}

// An instance that Elsa exported with its logs (WorkflowInstances/Export with IncludeWorkflowExecutionLog and IncludeActivityExecutionLog:
// records by SafeSerializer) is what a case is to do.
func TestACaseDoesWhatElsaRecorded(t *testing.T) {
	t.Parallel()
	log := func(of ...string) string {
		var out []string
		for i, e := range of {
			activity, event, _ := strings.Cut(e, " ")
			kind := map[string]string{"paid": "Elsa.Event", "pause": "Elsa.Delay", "say": "Elsa.WriteLine", "out": "Elsa.SetOutput", "root": "Elsa.Sequence", "Workflow1": "Elsa.Workflow"}[activity]
			out = append(out, fmt.Sprintf(`{"id": "l%d", "activityInstanceId": "c-%s", "activityId": %q, "activityType": %q, "sequence": %d, "eventName": %q}`, i, activity, activity, kind, 100-len(of)+i, event))
		}
		slices.Reverse(out) // they are in order by their sequence
		return "[" + strings.Join(out, ", ") + "]"
	}
	usual := log("Workflow1 Started", "root Started", "paid Started", "paid Suspended", "paid Resumed", "paid Completed", "pause Completed", "say Started", "say Completed", "out Completed", "root Completed", "Workflow1 Completed")
	ran := `[{"id": "c-say", "activityId": "say", "activityType": "Elsa.WriteLine", "status": "completed", "startedAt": "2026-11-29T11:00:00.6+00:00", "activityState": {"Text": "shipped 5"}}, {"id": "c-paid", "activityId": "paid", "activityType": "Elsa.Event", "status": "completed", "startedAt": "2026-11-29T10:00:00+00:00"}]`
	export := func(sub, output, logs, ran string) string {
		return fmt.Sprintf(`{"WorkflowState": {"id": "i", "definitionId": "order", "subStatus": %q, "output": %s, "incidents": {"$id": "1", "$values": []}}, "Bookmarks": null, "ActivityExecutionRecords": %s, "WorkflowExecutionLogRecords": %s}`, sub, output, ran, logs)
	}
	for name, c := range map[string]struct {
		recorded string
		want     []string
	}{
		"the same":          {export("Finished", `{"Total": 12}`, usual, ran), nil},
		"a text not kept":   {export("Finished", `{"Total": 12}`, usual, "null"), nil},
		"another end":       {export("Faulted", `{"Total": 12}`, usual, ran), []string{"status: here Finished, in Elsa Faulted"}},
		"another output":    {export("Finished", `{"Total": 13, "More": true}`, usual, ran), []string{"output.More: not set here, in Elsa true", "output.Total: here 12, in Elsa 13"}},
		"another line":      {export("Finished", `{"Total": 12}`, usual, strings.Replace(ran, "shipped 5", "sent", 1)), []string{`in Elsa "sent" (activity say, elsa.json /WorkflowExecutionLogRecords/3)`}},
		"a loop":            {export("Finished", `{"Total": 12}`, strings.Replace(usual, "[", `[{"activityId": "out", "activityType": "Elsa.SetOutput", "eventName": "Completed"}, `, 1), ran), []string{"completed.out: here 1 times, in Elsa 2 times"}},
		"by its executions": {export("Finished", `{"Total": 12}`, "null", ran), []string{"completed.out: here 1 times, in Elsa 0 times", "completed.pause", "completed.root"}},
		"no log":            {export("Finished", `{}`, "null", "null"), []string{"recorded: "}},
		"no export":         {"[]", []string{"recorded: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, map[string]string{"order.json": orderJSON, "elsa.json": c.recorded, "order.test.yaml": fmt.Sprintf(orderTest, "order.json", "recorded: elsa.json")})
			holds(t, failed(t, filepath.Join(dir, "order.test.yaml")), c.want...)
		})
	}
}
