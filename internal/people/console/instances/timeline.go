package instances

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/engine"
)

// timelineWidth is on how many units the bars of a timeline are drawn.
const timelineWidth = 1000

// timeline shows when what is in a page of the journal ran and waited. Its scale is not
// even: between two moments at which something began or ended there is the more room the
// longer it lasted, but by the logarithm, so that neither a wait of days nor a step of a
// millisecond is lost.
type timeline struct {
	Rows        []timelineRow
	From, Until time.Time
}

type timelineRow struct {
	Activity, Type string // Type is empty where the row is a node's
	Execution      int64
	Depth          int
	Around         bool // others ran in it
	Open           bool // it had not ended
	Bars           []bar
	Ran, Waited    time.Duration
}

// bar is a part of a row; what it is, is its class: ran, waited, around, commit.
type bar struct {
	Class      string
	Began      time.Time
	Ended      time.Time
	X, Width   float64
	unfinished bool
}

// Lasted is how long the bar stands for.
func (b bar) Lasted() string { return page.Lasted(b.Ended.Sub(b.Began)) }

// drawTimeline reads the timeline from a part of the journal, with the oldest item first. What had
// not ended there lasts until the end of that part, or, if it is the newest, until now.
func drawTimeline(j *shape.Journal, ended *time.Time, now time.Time) *timeline {
	last := now
	switch {
	case j.NextCursor != nil && len(j.Items) > 0:
		last = j.Items[len(j.Items)-1].Time
	case ended != nil:
		last = *ended
	}
	t := &timeline{Rows: append(nodeRows(j), activityRows(j, last)...)}
	t.place()
	return t
}

// nodeRows have a row for each node, with the commits that it made.
func nodeRows(j *shape.Journal) []timelineRow {
	var rows []timelineRow
	for _, c := range j.Commits {
		if c.Node == nil || c.Began == nil || c.Ended == nil {
			continue
		}
		at := slices.IndexFunc(rows, func(r timelineRow) bool { return r.Activity == *c.Node })
		if at < 0 {
			at = len(rows)
			rows = append(rows, timelineRow{Activity: *c.Node})
		}
		r := &rows[at]
		r.Bars = append(r.Bars, bar{Class: "commit", Began: *c.Began, Ended: *c.Ended})
		r.Ran += c.Ended.Sub(*c.Began)
	}
	return rows
}

// activityRows have a row for each execution of an activity, in the order in which they began.
func activityRows(j *shape.Journal, last time.Time) []timelineRow {
	var rows []timelineRow
	at := map[int64]int{} // by execution
	for _, it := range j.Items {
		i, known := at[it.Execution]
		if !known {
			i = len(rows)
			at[it.Execution] = i
			row := timelineRow{Activity: it.ActivityID, Type: it.ActivityType, Execution: it.Execution}
			if p, ok := at[it.Parent]; ok && it.Parent != it.Execution {
				rows[p].Around = true
				row.Depth = rows[p].Depth + 1
			}
			rows = append(rows, row)
		}
		rows[i].note(it.Event, it.Time)
	}
	for i := range rows {
		rows[i].end(last)
	}
	return rows
}

// note takes an item of the journal: it may end the bar that is drawn, and begin another.
func (r *timelineRow) note(event string, at time.Time) {
	class := ""
	switch event {
	case engine.EventStarted, engine.EventResumed:
		class = "ran"
	case engine.EventSuspended:
		class = "waited"
	case engine.EventCompleted, engine.EventFaulted, engine.EventCanceled:
	default:
		return // it says something, and goes on
	}
	if n := len(r.Bars); n > 0 && r.Bars[n-1].unfinished {
		r.Bars[n-1].Ended, r.Bars[n-1].unfinished = at, false
	}
	if class != "" {
		r.Bars = append(r.Bars, bar{Class: class, Began: at, Ended: at, unfinished: true})
	}
}

// end ends the row at the last moment that is known, and counts.
func (r *timelineRow) end(last time.Time) {
	for i := range r.Bars {
		b := &r.Bars[i]
		if b.unfinished {
			r.Open = true
			b.Ended = b.Began
			if last.After(b.Began) { // the clock of another node may be behind
				b.Ended = last
			}
		}
		switch {
		case b.Class == "waited":
			r.Waited += b.Ended.Sub(b.Began)
		case r.Around:
			b.Class = "around"
			r.Ran += b.Ended.Sub(b.Began)
		default:
			r.Ran += b.Ended.Sub(b.Began)
		}
	}
}

// place gives each bar its place on the scale.
func (t *timeline) place() {
	var moments []time.Time
	for _, r := range t.Rows {
		for _, b := range r.Bars {
			moments = append(moments, b.Began, b.Ended)
		}
	}
	if len(moments) == 0 {
		return
	}
	slices.SortFunc(moments, time.Time.Compare)
	moments = slices.CompactFunc(moments, time.Time.Equal)
	t.From, t.Until = moments[0], moments[len(moments)-1]
	scale := make([]float64, len(moments))
	for i := 1; i < len(moments); i++ {
		scale[i] = scale[i-1] + 1 + math.Log2(1+float64(moments[i].Sub(moments[i-1]))/float64(time.Millisecond))
	}
	whole := cmp.Or(scale[len(scale)-1], 1)
	x := func(at time.Time) float64 {
		i, _ := slices.BinarySearchFunc(moments, at, time.Time.Compare)
		return math.Round(scale[i]/whole*timelineWidth*10) / 10
	}
	for _, r := range t.Rows {
		for i := range r.Bars {
			b := &r.Bars[i]
			b.X = x(b.Began)
			b.Width = max(2, x(b.Ended)-b.X)
			b.X = min(b.X, timelineWidth-b.Width)
		}
	}
}
