package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

func TestAHistoryIsPeriods(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		commits string // node and fence, ! for a takeover, ? for one that cannot be read; the oldest first
		want    string // node, commits, fences
	}{
		"none":                      {"", ""},
		"one node":                  {"a1 a1 a4", "a 1-3 1-4"},
		"two nodes":                 {"a1 b2 b2 a3", "a 1-1 1-1, b 2-3 2-2, a 4-4 3-3"},
		"a takeover":                {"a1 b2! b2", "a 1-1 1-1, b 2-3 2-2!"},
		"of itself, started again":  {"a1 a2! a2", "a 1-1 1-1, a 2-3 2-2!"},
		"without locks":             {"a0 a0", "a 1-2 0-0"},
		"some without a lock":       {"a0 a3 a0", "a 1-3 3-3"},
		"unreadable in a period":    {"a1 ? a2 b3", "a 1-3 1-2, b 4-4 3-3"},
		"unreadable first and last": {"? a1 ?", "a 1-2 1-1,  3-3 0-0"},
		"unreadable, then taken":    {"a1 ? b2!", "a 1-1 1-1,  2-2 0-0, b 3-3 2-2!"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var entries []workflow.JournalEntry
			for i, c := range strings.Fields(tc.commits) {
				e := workflow.JournalEntry{Sequence: int64(i + 1), Takeover: strings.HasSuffix(c, "!")}
				if c != "?" {
					e.Commit, e.Node, e.Fence = "c", c[:1], int64(c[1]-'0')
					e.Began = now.Add(time.Duration(i) * time.Minute)
					e.Ended = e.Began.Add(time.Second)
				}
				entries = append(entries, e)
			}
			h := &History{}
			for i := range slices.Backward(entries) {
				h.add(&entries[i])
			}
			slices.Reverse(h.Periods)
			var got []string
			for _, p := range h.Periods {
				text := fmt.Sprintf("%s %d-%d %d-%d", p.Node, p.From, p.To, p.FirstFence, p.LastFence)
				if p.Takeover {
					text += "!"
				}
				got = append(got, text)
				if p.Node != "" && (p.Ended.Sub(p.Began) < 0 || p.Ended.Sub(p.Began) > time.Duration(len(entries))*time.Minute) {
					t.Errorf("%s lasts from %v to %v", text, p.Began, p.Ended)
				}
			}
			if all := strings.Join(got, ", "); all != tc.want {
				t.Errorf("got %q, want %q", all, tc.want)
			}
		})
	}
}

// An explanation has the newest of a long history, and says that there is more.
func TestWhatIsExplainedOfAHistoryIsBounded(t *testing.T) {
	t.Parallel()
	f := suspended(event("approved"))
	f.history = &History{First: 1, Last: 40}
	for i := range 40 {
		f.history.Periods = append(f.history.Periods, Period{Node: fmt.Sprint(i % 2), From: int64(i + 1), To: int64(i + 1)})
		f.history.Refusals = append(f.history.Refusals, Refused{Node: fmt.Sprint(i)})
	}
	h := judge("i", f).History
	if len(h.Periods) != recentPeriods || h.Before != 31 || h.Periods[0].From != 31 || len(h.Refusals) != recentPeriods || h.Refusals[0].Node != "30" {
		t.Errorf("%+v", h)
	}
}
