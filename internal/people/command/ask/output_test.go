package ask

import (
	"bytes"
	"strings"
	"testing"
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
