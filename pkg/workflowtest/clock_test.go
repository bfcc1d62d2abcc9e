package workflowtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest"
)

const century = 100 * 365 * 24 * time.Hour

// Timers of all years fire in the order of their times, each at its own.
func TestTheClockKeepsTheOrderOfAllYears(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, workflowtest.Config{Definition: definition(t, `
id: far
root:
  - parallel:
      - [{startAt: 9999-12-31T23:59:58Z}, {writeLine: "9999"}]
      - [{startAt: 2600-01-01T00:00:00Z}, {writeLine: "2600"}]
      - [{delay: 100000d}, {writeLine: "2299"}]
      - [{startAt: "2286-11-20T17:46:40Z"}, {writeLine: "2286, 14 digits"}]
      - [{startAt: "2286-11-20T17:46:39.999Z"}, {writeLine: "2286, 13 digits"}]
      - [{delay: 1s}, {writeLine: "2026"}]
`)})
	want := []string{"2026", "2286, 13 digits", "2286, 14 digits", "2299", "2600", "9999"}
	w.Advance(time.Second)
	if got := w.Run().Lines(); !slices.Equal(got, want[:1]) {
		t.Errorf("%v", got)
	}
	for w.Run().Now().Year() < 9900 {
		w.Advance(century)
	}
	w.Advance(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Sub(w.Run().Now()))
	if got := w.Run().Lines(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := w.Run().Advance(time.Second); err == nil || !strings.Contains(err.Error(), "up to the year 9999") {
		t.Errorf("%v", err)
	}
}

// A timer that is a trigger comes due at its interval, however long the clock has gone.
func TestATriggersIntervalHoldsForCenturies(t *testing.T) {
	t.Parallel()
	run, err := workflowtest.New(workflowtest.Config{Definition: definition(t, "id: far\nroot:\n  - timer: 100000d\n    trigger: true\n  - writeLine: x\n"), Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Advance(2 * century); err != nil || len(run.Lines()) != 0 {
		t.Errorf("%v, %v", err, run.Lines())
	}
	if err := run.Advance(century); err != nil || len(run.Lines()) != 1 {
		t.Errorf("%v, %v", err, run.Lines())
	}
}

// What would wait until a year that no timer can be of ends as an incident that says so.
func TestAWaitBehindTheLastYearIsAnIncident(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, workflowtest.Config{Definition: definition(t, "id: far\nroot:\n  - delay: 2h\n"), Now: time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)})
	in := w.Run().Instance()
	if in.SubStatus != workflow.Faulted || len(in.Incidents) != 1 || !strings.Contains(in.Incidents[0].Message, "until the year 10000") {
		t.Errorf("%s, %+v", in.SubStatus, in.Incidents)
	}
}
