package main

import (
	"strings"
	"testing"
	"time"
)

// It shows that the machinery works; what it measures in so short a time says nothing.
func TestASustainedRunLooksAtEverything(t *testing.T) {
	t.Parallel()
	const rate, seconds = 20, 6
	run, err := sustain(t.Context(), options{dir: t.TempDir(), duration: seconds * time.Second}, 2, rate)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Looks) != looksPerRun {
		t.Fatalf("%d looks: %v", len(run.Looks), run.Why)
	}
	ended := 0
	for i := range run.Looks {
		l := &run.Looks[i]
		ended += l.Ended
		if l.Failed > 0 || l.InUse == 0 || l.Allocated == 0 || l.Resident == 0 {
			t.Errorf("look %d: %+v", i, *l)
		}
	}
	end := run.Looks[looksPerRun-1]
	if due := int(rate * end.Second); ended+end.Unfinished < due-rate || ended > due+rate { // looks may take longer than they are apart
		t.Errorf("%d starts ended and %d did not, of %d", ended, end.Unfinished, due)
	}
	s := sustained{Runs: []steady{run}}
	if table := s.table(); strings.Count(table, "| 2 GiB | 20 |") != 1 || !strings.Contains(table, "A run is level if") {
		t.Errorf("the table is\n%s", table)
	}
}
