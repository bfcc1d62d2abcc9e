package cluster

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/apiclient"
)

// timersView is what comes by itself, the soonest first.
type timersView struct {
	Kind      string // "": both lists from their beginning
	Timers    *page.ListView[apiclient.TimerItem]
	Schedules *page.ListView[apiclient.TimerItem]
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

// Timers lists what comes by itself, the soonest first.
func Timers(v *page.Visit) (string, any, error) {
	const title = "Timers and schedules"
	view := timersView{Kind: v.Request.URL.Query().Get("kind")}
	now := v.Now()
	read := func(kind string) (*page.ListView[apiclient.TimerItem], error) {
		if view.Kind != "" && view.Kind != kind {
			return nil, nil
		}
		found, err := page.Paged[apiclient.TimerItem](v, "/timers", url.Values{"kind": {kind}})
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
		view.Hour, err = nextHour(v, &view, now)
	}
	return title, &view, err
}

// nextHour counts what is due in the next hour; where the lists end within it, it looks for more.
func nextHour(v *page.Visit, view *timersView, now time.Time) (*hour, error) {
	end := now.Add(time.Hour)
	var dues []time.Time
	more := false
	for _, of := range []struct {
		kind  string
		found *page.ListView[apiclient.TimerItem]
	}{{"timers", view.Timers}, {"schedules", view.Schedules}} {
		items, behind := of.found.Items, of.found.NextCursor != nil
		if n := len(items); behind && (n == 0 || items[n-1].DueAt.Before(end)) {
			whole, err := page.Get[page.List[apiclient.TimerItem]](v, "/timers", url.Values{"kind": {of.kind}, "limit": {hourMost}})
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
