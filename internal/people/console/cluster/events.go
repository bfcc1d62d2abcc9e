package cluster

import (
	"net/url"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

type eventsView struct {
	Name, CorrelationID string
	Effect              *shape.ResultView
	Waiting             page.ListView[awaiting]
	Groups              []awaitedEvent // what is on this page, by the event
}

// awaiting is a place where an instance waits.
type awaiting struct {
	BookmarkID, InstanceID string
	Name, CorrelationID    *string
	Since                  *time.Time
	Damaged                bool
	Damage                 string
}

// awaitedEvent is an event with who waits for it, as far as one page has them.
type awaitedEvent struct {
	Name  string
	Items []awaiting
}

// Events tells who waits for which event, what one would do and which were sent lately, and sends one.
func Events(v *page.Visit) (string, any, error) {
	query := v.Request.URL.Query()
	view := eventsView{Name: query.Get("name"), CorrelationID: query.Get("correlationId")}
	title, waits := "Events", url.Values{"activityType": {workflow.EventType}}
	if view.Name != "" {
		title, waits = "Event "+view.Name, url.Values{"event": {view.Name}}
	}
	var err error
	if view.Waiting, err = page.Paged[awaiting](v, "/bookmarks", waits, "correlationId"); err != nil {
		return "", nil, err
	}
	view.Waiting.Next, view.Waiting.First = page.WithParam(view.Waiting.Next, "name", view.Name), page.WithParam(view.Waiting.First, "name", view.Name)
	for _, w := range view.Waiting.Items {
		name := view.Name
		if w.Name != nil {
			name = *w.Name
		}
		if n := len(view.Groups); n == 0 || view.Groups[n-1].Name != name { // they come by the event
			view.Groups = append(view.Groups, awaitedEvent{Name: name})
		}
		last := &view.Groups[len(view.Groups)-1]
		last.Items = append(last.Items, w)
	}
	if view.Name == "" {
		return title, &view, nil
	}
	ask := url.Values{}
	if view.CorrelationID != "" {
		ask.Set("correlationId", view.CorrelationID)
	}
	effect, err := page.Get[shape.ResultView](v, page.At("events", view.Name), ask)
	view.Effect = &effect
	return title, &view, err
}
