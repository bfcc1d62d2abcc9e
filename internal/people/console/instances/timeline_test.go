package instances

import (
	"testing"
	"time"

	"github.com/weft-run/weft/internal/people/console/shape"
)

// A wait of days and a step of milliseconds are both to be seen, in order and within the row.
func TestATimelineHasRoomForAll(t *testing.T) {
	t.Parallel()
	zero := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return zero.Add(d) }
	node := "n1"
	began, ended := at(0), at(20*time.Millisecond)
	j := &shape.Journal{
		Commits: []shape.Commit{{Commit: 1, Node: &node, Began: &began, Ended: &ended}, {Commit: 2}},
		Items: []shape.JournalItem{
			{Execution: 1, ActivityID: "all", ActivityType: "Sequence", Event: "Started", Time: at(0)},
			{Execution: 2, Parent: 1, ActivityID: "say", ActivityType: "WriteLine", Event: "Started", Time: at(time.Millisecond)},
			{Execution: 2, Parent: 1, ActivityID: "say", ActivityType: "WriteLine", Event: "WriteLine", Time: at(2 * time.Millisecond)},
			{Execution: 2, Parent: 1, ActivityID: "say", ActivityType: "WriteLine", Event: "Completed", Time: at(3 * time.Millisecond)},
			{Execution: 3, Parent: 1, ActivityID: "wait", ActivityType: "Event", Event: "Started", Time: at(4 * time.Millisecond)},
			{Execution: 3, Parent: 1, ActivityID: "wait", ActivityType: "Event", Event: "Suspended", Time: at(5 * time.Millisecond)},
			{Execution: 3, Parent: 1, ActivityID: "wait", ActivityType: "Event", Event: "Resumed", Time: at(72 * time.Hour)},
			{Execution: 3, Parent: 1, ActivityID: "wait", ActivityType: "Event", Event: "Completed", Time: at(72*time.Hour + time.Second)},
			{Execution: 4, Parent: 1, ActivityID: "ask", ActivityType: "Event", Event: "Suspended", Time: at(73 * time.Hour)},
			{Execution: 5, Parent: 9, ActivityID: "of an older page", ActivityType: "X", Event: "Completed", Time: at(73 * time.Hour)},
		},
	}
	tl := drawTimeline(j, nil, at(74*time.Hour))
	if len(tl.Rows) != 6 || tl.Rows[0].Type != "" || tl.Rows[0].Activity != node || tl.Rows[0].Ran != 20*time.Millisecond {
		t.Fatalf("%+v", tl.Rows)
	}
	all, say, wait, ask, old := tl.Rows[1], tl.Rows[2], tl.Rows[3], tl.Rows[4], tl.Rows[5]
	if !all.Around || !all.Open || all.Bars[0].Class != "around" || all.Ran != 74*time.Hour {
		t.Errorf("what is around the others: %+v", all)
	}
	if say.Ran != 2*time.Millisecond || say.Waited != 0 || say.Depth != 1 || len(say.Bars) != 1 || say.Bars[0].Class != "ran" {
		t.Errorf("a step: %+v", say)
	}
	if wait.Waited != 72*time.Hour-5*time.Millisecond || wait.Ran != time.Second+time.Millisecond || wait.Open || len(wait.Bars) != 3 {
		t.Errorf("a wait: %+v", wait)
	}
	if !ask.Open || ask.Waited != time.Hour || len(old.Bars) != 0 || old.Depth != 0 {
		t.Errorf("what goes on, and what began before: %+v, %+v", ask, old)
	}
	for _, r := range tl.Rows {
		for i, b := range r.Bars {
			if b.Width < 2 || b.X < 0 || b.X+b.Width > timelineWidth+0.1 {
				t.Errorf("%s: a bar from %v, %v wide", r.Activity, b.X, b.Width)
			}
			if i > 0 && b.X < r.Bars[i-1].X {
				t.Errorf("%s: bar %d is before the one before it", r.Activity, i)
			}
		}
	}
	// A clock that is behind, an instance that ended before it, and nothing at all.
	tl = drawTimeline(j, &zero, at(-time.Hour))
	if tl.Rows[4].Waited != 0 {
		t.Errorf("a wait below zero: %v", tl.Rows[4].Waited)
	}
	if tl := drawTimeline(&shape.Journal{}, nil, zero); len(tl.Rows) != 0 {
		t.Errorf("of nothing: %+v", tl.Rows)
	}
	// Of a part that something follows, what is open lasts until its end.
	more := "cursor"
	j.NextCursor = &more
	if tl = drawTimeline(j, nil, at(99*time.Hour)); tl.Rows[1].Ran != 73*time.Hour || tl.Rows[4].Waited != 0 || !tl.Rows[4].Open {
		t.Errorf("of an older part: %v, %+v", tl.Rows[1].Ran, tl.Rows[4])
	}
}
