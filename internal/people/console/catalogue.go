package console

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/apiclient"
)

// activitiesView is what definitions may be made of.
type activitiesView struct {
	Q       string
	Items   []apiclient.Activity
	All     int   // how many there are
	Unknown int64 // definitions of which it is not known what they use
}

// Open tells whether all that was found is shown whole.
func (a *activitiesView) Open() bool { return len(a.Items) <= 3 }

// catalogue shows the activities that have all words of the search in what is said of them.
func catalogue(v *visit) (string, any, error) {
	all, err := get[apiclient.Activities](v, "/activities", nil)
	view := activitiesView{Q: v.r.URL.Query().Get("q"), All: len(all.Items), Unknown: all.Unknown}
	words := strings.Fields(strings.ToLower(view.Q))
	for i := range all.Items {
		said := strings.ToLower(told(&all.Items[i]))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(said, w) }) {
			view.Items = append(view.Items, all.Items[i])
		}
	}
	slices.SortStableFunc(view.Items, func(a, b apiclient.Activity) int { // whose name it is comes first
		is := func(x *apiclient.Activity) int {
			if strings.EqualFold(x.Name, view.Q) || strings.EqualFold(x.Type, view.Q) {
				return 0
			}
			return 1
		}
		return cmp.Compare(is(&a), is(&b))
	})
	return "Activities", &view, err
}

// told is all that is said of an activity.
func told(a *apiclient.Activity) string {
	said := []string{a.Name, a.Type, a.Description}
	for _, in := range a.Inputs {
		said = append(said, in.Name, in.Description)
	}
	for _, out := range a.Outputs {
		said = append(said, out.Name, out.Description)
	}
	return strings.Join(append(append(said, a.Outcomes...), a.Branches...), "\n")
}

// auditView is the end of the audit log.
type auditView struct {
	apiclient.Audit

	Filter  map[string]string
	Results []string
	Why     string   // the person may not see it; "": may
	Silent  []string // nodes that keep none
}

// audited shows who did what. Who may not see it is told so, as with a button.
func audited(v *visit) (string, any, error) {
	view := auditView{Results: []string{"done", "accepted", "checked", "denied", "failed"}, Why: v.may("listAudit")}
	ask := url.Values{}
	view.Filter = filtered(v.r.URL.Query(), []string{"who", "operation", "target", "result"}, ask, url.Values{})
	if view.Why != "" {
		return "Audit", view, nil
	}
	var err error
	view.Audit, err = get[apiclient.Audit](v, "/audit", ask)
	for _, n := range view.Nodes {
		if !n.Kept {
			view.Silent = append(view.Silent, n.NodeID)
		}
	}
	return "Audit", view, err
}

// role is what the person who looks may do.
func (v *visit) role() auth.Role {
	switch {
	case v.who != nil:
		return v.who.Role
	case v.open():
		return auth.Admin
	}
	return 0
}

// timersView is what comes by itself, the soonest first.
type timersView struct {
	Kind      string // "": both lists from their beginning
	Timers    *listView[apiclient.TimerItem]
	Schedules *listView[apiclient.TimerItem]
	Late      int // of those that are shown
	Hour      *hour
}

// hour is what is due in the next hour, by the minute.
type hour struct {
	Bars []minute
	All  int
	More bool // others are due in it that are not counted
}

type minute struct {
	X, Y, Height int // in a picture of 1000 by hourHeight
	Count        int
	From         time.Time
}

const (
	hourHeight = 40
	hourMost   = "500" // timers that are looked at for it
)

// timersAndSchedules lists what comes by itself, the soonest first.
func timersAndSchedules(v *visit) (string, any, error) {
	const title = "Timers and schedules"
	view := timersView{Kind: v.r.URL.Query().Get("kind")}
	now := v.now()
	read := func(kind string) (*listView[apiclient.TimerItem], error) {
		if view.Kind != "" && view.Kind != kind {
			return nil, nil
		}
		found, err := paged[apiclient.TimerItem](v, "/timers", url.Values{"kind": {kind}})
		own := func(address string) string { // of a page of one of them
			if address == "" || strings.Contains(address, "kind=") {
				return address
			}
			join := "?"
			if strings.Contains(address, "?") {
				join = "&"
			}
			return address + join + "kind=" + kind
		}
		found.Next, found.First = own(found.Next), own(found.First)
		for i := range found.Items {
			if found.Items[i].DueAt.Before(now) {
				view.Late++
			}
		}
		return &found, err
	}
	var err error
	if view.Timers, err = read("timers"); err != nil {
		return title, nil, err
	}
	if view.Schedules, err = read("schedules"); err != nil {
		return title, nil, err
	}
	if view.Kind == "" {
		view.Hour, err = v.nextHour(&view, now)
	}
	return title, &view, err
}

// nextHour counts what is due in the next hour; where the lists end within it, it looks for more.
func (v *visit) nextHour(view *timersView, now time.Time) (*hour, error) {
	end := now.Add(time.Hour)
	var dues []time.Time
	more := false
	for kind, found := range map[string]*listView[apiclient.TimerItem]{"timers": view.Timers, "schedules": view.Schedules} {
		items, behind := found.Items, found.NextCursor != nil
		if n := len(items); behind && (n == 0 || items[n-1].DueAt.Before(end)) {
			whole, err := get[list[apiclient.TimerItem]](v, "/timers", url.Values{"kind": {kind}, "limit": {hourMost}})
			if err != nil {
				return nil, err
			}
			items, behind = whole.Items, whole.NextCursor != nil
		}
		for i := range items {
			dues = append(append(dues, items[i].DueAt), items[i].Then...)
		}
		n := len(items)
		more = more || behind && (n == 0 || items[n-1].DueAt.Before(end))
	}
	return drawHour(now, dues, more), nil
}

// drawHour makes the picture of an hour.
func drawHour(now time.Time, dues []time.Time, more bool) *hour {
	var counts [60]int
	h := hour{More: more}
	most := 0
	for _, due := range dues {
		if at := due.Sub(now); at >= 0 && at < time.Hour {
			m := int(at / time.Minute)
			counts[m]++
			h.All++
			most = max(most, counts[m])
		}
	}
	for m, n := range counts {
		if n > 0 {
			height := max(4, n*hourHeight/most)
			h.Bars = append(h.Bars, minute{X: m * 1000 / 60, Y: hourHeight - height, Height: height, Count: n, From: now.Add(time.Duration(m) * time.Minute)})
		}
	}
	return &h
}

// Said is the picture in words.
func (h *hour) Said() string {
	n := fmt.Sprint(h.All)
	if h.More {
		n += " or more"
	}
	return "Due in the next hour: " + n
}
