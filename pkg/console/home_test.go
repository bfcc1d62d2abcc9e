package console

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/find"
)

// Faults are of one kind if their messages differ in words with digits only, and a line that finds
// them can be read, whatever the message is.
func TestFaultsAreGrouped(t *testing.T) {
	t.Parallel()
	row := func(definition, message string) summary {
		s := summary{DefinitionID: definition}
		if message != "" {
			s.Incident = &message
		}
		return s
	}
	got := grouped([]summary{row("a", "timeout after 30s for order-17"), row("b", ""), row("a", "timeout after 31s for order-18"), row("b", "timeout after 30s for order-17"), row("a", "no stock")})
	if len(got) != 4 || got[0].Count != 2 || got[0].DefinitionID != "a" || got[0].Query != `status:faulted def:a incident:"timeout after"` {
		t.Errorf("%+v", got)
	}
	var many []summary
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
	ended := func(took ...time.Duration) (out []summary) {
		for _, d := range took {
			end := start.Add(d)
			out = append(out, summary{CreatedAt: start, FinishedAt: &end})
		}
		return append(out, summary{CreatedAt: start}) // runs
	}
	for _, c := range []struct {
		of   []summary
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

// What an event may bring is guessed from what is read of it, and from nothing else.
func TestASampleIsGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, event, want string }{
		{"root:\n  - event: paid\n    result: p\n  - writeLine: ${{ variables.p.by + variables.p.by + variables.other.x }}\n  - if: ${{ variables.p.n >= 3 }}\n", "paid", `{"by": "…", "n": 0}`},
		{"outputs:\n  granted: ${{ variables.d?.granted }}\nroot:\n  - event: decided\n    result: d\n  - if: ${{ variables.d.granted }}\n    then: [{writeLine: \"${{ variables.d.by }}\"}]\n", "decided", `{"granted": true, "by": "…"}`},
		{"root:\n  - event: 'paid' # it\n    timeout: 3h\n\n    result: \"p\"\n  - writeLine: ${{ variables.p.by }}\n", "paid", `{"by": "…"}`},
		{"root:\n  - event: paid\n  - event: sent\n    result: p\n  - writeLine: ${{ variables.p.by }}\n", "paid", ""},
		{"root:\n  - event: paid\n    result: p\n", "paid", ""},
		{"root:\n  - event: paid\n    result: p\n  - writeLine: ${{ variables.p.by }}\n", "other", ""},
		{"", "paid", ""}, {"{\"root\": {}}", "", ""}, {"- event:", "", ""},
	} {
		if got := sample(c.source, c.event); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.event, c.source, got, c.want)
		}
	}
}

// Numbers and sizes are written for people.
func TestNumbersAreWritten(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 4 << 30: "4.0 GiB", 5 << 50: "5120.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
