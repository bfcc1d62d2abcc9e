package ask

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// An instance that has no status says why.
func TestWhatHasNoStatusSaysWhy(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &Asker{Out: &out, ErrOut: &out, noHeaders: true}
	rows := []any{
		map[string]any{"instanceId": "a", "definitionId": "d", "subStatus": "Suspended"},
		map[string]any{"instanceId": "b", "damaged": true},
		map[string]any{"instanceId": "c", "gone": true},
	}
	if err := a.Table(InstanceView, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{"Suspended", "damaged", "gone"} {
		if len(lines) != 3 || !strings.Contains(lines[i], want) {
			t.Fatalf("line %d has no %s:\n%s", i, want, &out)
		}
	}
}

// A task may be due in centuries, which no duration has.
func TestATimeInCenturiesIsItsYear(t *testing.T) {
	t.Parallel()
	a := &Asker{Now: func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }}
	for at, want := range map[string]string{"9999-12-31T23:59:59Z": "in 9999", "2026-12-03T01:00:00Z": "in 2d1h", "0001-01-01T00:00:00Z": "106751d23h ago"} {
		if got := When(a, at, nil); got != want {
			t.Errorf("%s: %s", at, got)
		}
	}
}
