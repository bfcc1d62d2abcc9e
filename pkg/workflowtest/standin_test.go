package workflowtest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflowtest"
)

const charges = `id: charges
inputs: {amount: number}
variables: {receipt: string, parcel: object}
outputs: {receipt: "${{ variables.receipt }}", parcel: "${{ variables.parcel.code }}"}
root:
  - acme.Charge: {amount: "${{ inputs.amount }}"}
    id: pay
    currency: EUR
    outputs: {receipt: receipt}
  - acme.Ship: ${{ variables.receipt }}
    result: parcel
`

const chargesTest = `mocks:
  pay: {outputs: {receipt: r-1}}
  acme.Ship: {result: {code: p-1}}
cases:
  - name: goes through
    input: {amount: 3}
    expect:
      status: Finished
      output: {receipt: r-1, parcel: p-1}
      calls: {pay: [{amount: 3, currency: EUR}], acme.Ship: [{value: r-1}]}
  - name: is refused
    mocks: {pay: {fault: no money at all}}
    expect: {status: Faulted, incidents: [no money at all]}
`

// What only another program has is mocked without it, by type, id or name, in both
// notations.
func TestUnknownActivitiesCanBeMocked(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"charges.yaml": charges, "charges.test.yaml": chargesTest,
		"elsa.json": `{"id": "v1", "definitionId": "elsa", "root": {"id": "root", "type": "Elsa.Sequence", "activities": [
			{"id": "pay", "type": "acme.Charge", "amount": {"typeName": "Int32", "expression": {"type": "Literal", "value": 3}}}]}}`,
		"elsa.test.yaml": "cases:\n  - {name: a, mocks: {acme.Charge: {}}, expect: {status: Finished, calls: {pay: [{amount: 3}]}}}\n",
	})
	workflowtest.CheckFiles(t, workflowtest.FileOptions{}, filepath.Join(dir, "charges.test.yaml"), filepath.Join(dir, "elsa.test.yaml"))
}

func TestUnknownActivitiesThatNothingMocksAreRefused(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"charges.yaml": charges, "charges.test.yaml": "mocks: {pay: {}}\ncases: [{name: a, input: {amount: 1}}]\n"})
	res, err := workflowtest.RunFile(filepath.Join(dir, "charges.test.yaml"), workflowtest.FileOptions{})
	if err != nil || res.Failed() != 1 {
		t.Fatalf("%v %+v", err, res)
	}
	text := res.Cases[0].Failures[0].Message
	if !strings.Contains(text, `there is no activity type "acme.Ship"`) || strings.Contains(text, `"acme.Charge"`) || !strings.Contains(text, "may be mocked") {
		t.Error(text)
	}
}

// Timers and cron expressions that are triggers start the instance as the clock moves,
// the first of them, at its time.
func TestTriggersFireAsTheClockMoves(t *testing.T) {
	t.Parallel()
	const flow = "id: f\nroot:\n  parallel:\n    - [{TRIGGER, trigger: true}, {writeLine: \"${{ now() }}\"}, {delay: 1h}, {writeLine: later}]\n"
	files := map[string]string{}
	for name, c := range map[string]struct{ trigger, advance, want string }{
		"every":  {"timer: 20m", "3h", "2026-01-01T00:20:00Z, later"},
		"cron":   {`cron: "0 30 8 * * *"`, "9h", `2026-01-01T08:30:00Z`},
		"at":     {`startAt: "2026-01-02T00:00:00Z"`, "26h", "2026-01-02T00:00:00Z, later"},
		"before": {`cron: "0 30 8 * * *"`, "8h", ""},
	} {
		files[name+".yaml"] = strings.Replace(flow, "TRIGGER", c.trigger, 1)
		lines, status := "lines: ["+c.want+"]", ""
		if c.want == "" {
			lines = "lines: []"
		}
		files[name+".test.yaml"] = "cases:\n  - name: a\n    start: false\n    steps: [{advance: " + c.advance + "}]\n    expect: {" + lines + status + "}\n"
	}
	dir := write(t, files)
	for name := range files {
		if strings.HasSuffix(name, ".test.yaml") {
			workflowtest.CheckFiles(t, workflowtest.FileOptions{}, filepath.Join(dir, name))
		}
	}
}
