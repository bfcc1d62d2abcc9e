package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/workflow"
)

func passed(name, correlation, first string, met int, at time.Duration) Sent {
	return Sent{Node: "n2", Event: recent.Event{ID: name + correlation, Name: name, CorrelationID: correlation, First: first, Met: met, At: ago(at)}}
}

// What went to others is told, and is the cause only if it had this very correlation.
func TestWhatWentElsewhereIsANearMiss(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		recent []Sent
		kind   Cause
		cause  Cause
		says   string // "": no near miss
	}{
		"another correlation": {[]Sent{passed("approved", "o-1", "other", 1, time.Minute)}, CauseCorrelation, CauseEvent,
			`it came for correlation "o-1", and this one has "o-2", and went to instance other`},
		"another spelling":      {[]Sent{passed("aproved", "o-2", "", 2, time.Minute)}, CauseSpelling, CauseEvent, `it came as "aproved", and this one waits for "approved", and started 2`},
		"another instance":      {[]Sent{{Node: "n2", Event: recent.Event{ID: "x", Name: "approved", InstanceID: "j", First: "j", Met: 1, At: ago(time.Minute)}}}, CauseAddress, CauseEvent, "it was for instance j, and went to instance j"},
		"too early, to another": {[]Sent{passed("approved", "o-2", "first", 1, 3*time.Hour)}, CauseElsewhere, CauseElsewhere, "it came 2 h before this one waited, and went to instance first"},
		// This one may have been one of them, and waits again.
		"too early, to several": {[]Sent{passed("approved", "o-2", "first", 3, 3*time.Hour)}, CauseElsewhere, CauseEvent,
			"it came 2 h before this one waited, and went to instance first and 2 more"},
		"too early, for all": {[]Sent{passed("approved", "", "first", 1, 3*time.Hour)}, CauseElsewhere, CauseEvent, "it came 2 h before this one waited, and went to instance first"},
		"into the queue":     {[]Sent{passed("approved", "o-1", "", 0, time.Minute)}, CauseCorrelation, CauseEvent, "met nobody, and was put into the queue"},
		// It waited in the queue for this very instance, perhaps, which waits again now.
		"taken from the queue": {[]Sent{func() Sent { s := passed("approved", "o-2", "", 0, 3*time.Hour); s.taken = true; return s }()}, CauseElsewhere, CauseEvent,
			"it came 2 h before this one waited, met nobody, and was taken from the queue, or deleted, since"},
		"this one":             {[]Sent{passed("approved", "o-2", "i", 1, 3*time.Hour)}, "", CauseEvent, ""},
		"since this one waits": {[]Sent{passed("approved", "o-2", "other", 1, time.Minute)}, "", CauseEvent, ""},
		"another event":        {[]Sent{passed("shipped", "o-2", "other", 1, time.Minute)}, "", CauseEvent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := suspended(event("approved"))
			f.Record.Header.CorrelationID, f.recent = "o-2", tc.recent
			x := judge("i", f)
			if tc.says == "" {
				if len(x.NearMisses) > 0 || x.Cause != tc.cause {
					t.Errorf("cause %s, %+v", x.Cause, x.NearMisses)
				}
				return
			}
			if len(x.NearMisses) != 1 || !strings.Contains(x.NearMisses[0].Text, tc.says) || x.NearMisses[0].Kind != tc.kind || x.NearMisses[0].Where != "sent" || x.Cause != tc.cause {
				t.Errorf("cause %s, %+v, want %s %s of %s", x.Cause, x.NearMisses, tc.cause, tc.says, tc.kind)
			}
			if likely := x.Cause == CauseElsewhere; likely != strings.Contains(x.Summary, "; nearly: ") {
				t.Errorf("it says %q", x.Summary)
			}
		})
	}
}

// What lies in the queue is told as that, and not a second time; and there are not many.
func TestWhatIsRememberedIsToldOnce(t *testing.T) {
	t.Parallel()
	f := suspended(event("approved"))
	f.Record.Header.CorrelationID = "o-2"
	f.sent = []sent{came("queue", "approved", "o-1", time.Minute)}
	f.recent = []Sent{passed("approved", "o-1", "", 0, time.Minute)}
	for _, c := range strings.Split("a b c d e f g h", " ") {
		f.recent = append(f.recent, passed("approved", c, "other", 1, time.Minute))
	}
	x := judge("i", f)
	if len(x.NearMisses) != 1+mostLately || x.NearMisses[0].Where != "queue" {
		t.Errorf("%+v", x.NearMisses)
	}
}

func TestNamesOfEvents(t *testing.T) {
	t.Parallel()
	marks := []workflow.Bookmark{event("a"), event("a"), timer(ago(0)), event("b")}
	for _, n := range []string{"c", "d", "e", "f"} {
		marks = append(marks, event(n))
	}
	if got := strings.Join(eventNames(marks), " "); got != "a b c d e" {
		t.Errorf("got %s", got)
	}
}
