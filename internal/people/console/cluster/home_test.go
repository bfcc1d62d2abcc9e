package cluster

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// Faults are of one kind if their messages differ in words with digits only, and a line that finds
// them can be read, whatever the message is.
func TestFaultsAreGrouped(t *testing.T) {
	t.Parallel()
	row := func(definition, message string) shape.Summary {
		s := shape.Summary{DefinitionID: definition}
		if message != "" {
			s.Incident = &message
		}
		return s
	}
	got := grouped([]shape.Summary{row("a", "timeout after 30s for order-17"), row("b", ""), row("a", "timeout after 31s for order-18"), row("b", "timeout after 30s for order-17"), row("a", "no stock")})
	if len(got) != 4 || got[0].Count != 2 || got[0].DefinitionID != "a" || got[0].Query != `status:faulted def:a incident:"timeout after"` {
		t.Errorf("%+v", got)
	}
	var many []shape.Summary
	for i := range 50 {
		many = append(many, row("a", strings.Repeat("x", i+1)))
	}
	if n := len(grouped(many)); n != faultsShown {
		t.Errorf("%d kinds are shown", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.String().Draw(t, "message")
		line := faultQuery("def", message)
		f, err := find.Parse(line, "/q")
		if err != nil {
			t.Fatalf("%q gives the line %q: %v", message, line, err)
		}
		if f.Incident != "" && !strings.Contains(message, f.Incident) {
			t.Fatalf("%q is not found by %q", message, f.Incident)
		}
	})
}

// How long an instance usually takes is known from some that ended.
func TestTheUsualTimeIsTheMiddleOne(t *testing.T) {
	t.Parallel()
	start := time.Now()
	ended := func(took ...time.Duration) (out []shape.Summary) {
		for _, d := range took {
			end := start.Add(d)
			out = append(out, shape.Summary{CreatedAt: start, FinishedAt: &end})
		}
		return append(out, shape.Summary{CreatedAt: start}) // runs
	}
	for _, c := range []struct {
		of   []shape.Summary
		want time.Duration
	}{
		{ended(), 0}, {ended(time.Second, time.Second, time.Second, time.Second), 0},
		{ended(time.Hour, time.Second, 3*time.Second, 2*time.Second, 0), 2 * time.Second}, {ended(0, 0, 0, 0, -time.Second), time.Millisecond},
	} {
		if got := median(c.of); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
