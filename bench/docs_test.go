package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was not measured is no row of zeros, and is told below with its reason. Large figures have all their digits.
func TestWhatWasNotMeasuredIsNoRow(t *testing.T) {
	t.Parallel()
	r := report{Points: []point{
		{Pass: passShards, Kind: "workload", Name: "timers", Concurrency: 64, Error: "the machine is too slow"},
		{Pass: passShards, Kind: "workload", Name: "queue", Concurrency: 1000, Ops: 1000, Failed: 2, Error: "no answer", Notes: map[string]float64{"most per second": 17623.4, "resume p50 ms": 1.23456}},
	}}
	table := r.rows(passShards, func(*point) bool { return true })
	if strings.Contains(table, "| timers") || !strings.Contains(table, "| queue") {
		t.Errorf("rows:\n%s", table)
	}
	for _, words := range []string{"- timers at 64: not measured: the machine is too slow\n", "2 failed, such as: no answer", "most per second 17623,", "resume p50 ms 1.235,"} {
		if !strings.Contains(table, words) {
			t.Errorf("no %q in\n%s", words, table)
		}
	}
	var b strings.Builder
	if err := r.table(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "timers") != 1 || !strings.Contains(text, "not measured: the machine") {
		t.Errorf("table:\n%s", text)
	}
}

// What nodes cost at rest is a goal like the others, of a run of its own.
func TestRestIsAGoal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rest atRest
	rest.of(&idleness{took: 10, members: []float64{0.1, 0.1, 0.1}},
		&idleness{took: 20, members: []float64{0.4, 0.4, 0.4}, nodes: []float64{0.1, 0.1, 0.1}, asked: map[string]int{"Range": 100, "Txn": 60, eventsOf + "x": 9}, operations: 800, watchers: 47})
	if rest.Together < 7.49 || rest.Together > 7.51 || rest.Requests != 8 || rest.Operations != 40 || rest.Watchers != 47 {
		t.Errorf("%+v", rest)
	}
	rest.Machine, rest.Started = "a machine", time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	if err := rest.write(dir); err != nil {
		t.Fatal(err)
	}
	if err := (&atRest{}).write(""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	document, evidence := filepath.Join(dir, "performance.md"), filepath.Join(dir, "evidence", "performance.md")
	if err := os.Mkdir(filepath.Dir(evidence), 0o700); err != nil {
		t.Fatal(err)
	}
	var written []byte
	for _, name := range []string{document, evidence} {
		page, err := os.ReadFile(filepath.Join("..", "docs", strings.TrimPrefix(name, dir)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, page, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeDocs(document, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{document, evidence} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, page...)
	}
	for _, row := range []string{"that have nothing to do, all six | ≤ 8 % of a core | 7.50 % of a core | yes |", "| nodes | 0.5 / 0.5 / 0.5 % |", "| requests a second of all three nodes | 8.0 |"} {
		if !strings.Contains(string(written), row) {
			t.Errorf("the page has no %q", row)
		}
	}
	if table := (&report{}).goalTable(); !strings.Contains(table, "all six | ≤ 8 % of a core | not measured | – |") {
		t.Errorf("without a run:\n%s", table)
	}
}
