package cluster

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// lettersView is a page of the queue or of the dead letters.
type lettersView[T any] struct {
	page.ListView[T]
	Reasons []reasonCount // of dead letters on the page
	Only    string        // the filter in words; "": none
}

// filters of the queue and of dead letters, as the API has them.
var letterFilters = []string{"reason", "name", "activityType", "correlationId", "instanceId"}

// Queue lists the stimuli that wait for somebody who takes them.
func Queue(v *page.Visit) (string, any, error) {
	found, err := page.Paged[shape.QueueItem](v, "/queue", nil, letterFilters[1:]...)
	return "Queue", lettersView[shape.QueueItem]{ListView: found, Only: only(found.Filter)}, err
}

// DeadLetters lists the dead letters that a filter finds.
func DeadLetters(v *page.Visit) (string, any, error) {
	found, err := page.Paged[shape.DeadLetter](v, "/dead-letters", nil, letterFilters...)
	return "Dead letters", lettersView[shape.DeadLetter]{ListView: found, Reasons: reasons(found.Items), Only: only(found.Filter)}, err
}

// only says a filter in words.
func only(filter map[string]string) (text string) {
	for _, name := range letterFilters {
		if value := filter[name]; value != "" {
			text += ", " + map[string]string{"reason": "with the reason ", "name": "of the event ", "activityType": "of the type ", "correlationId": "with the correlation ", "instanceId": "for the instance "}[name] + value
		}
	}
	if text != "" {
		text = text[2:]
	}
	return text
}

// brought is what a stimulus brings, and what it would do if it were sent now.
type brought struct {
	Input       json.RawMessage
	InputHidden bool
	Effect      *shape.ResultView
}

// letterView is one item of the queue, or one dead letter.
type letterView struct {
	ID, List, Operation   string // below which path, and what sends it again
	Delete                string // operation
	Reason, Detail, Name  string
	ActivityType, Command string
	Stimulus              json.RawMessage
	InstanceID            *string
	CorrelationID         *string
	CreatedAt             time.Time
	ExpiresAt             *time.Time
	DroppedBytes          int64
	Brought               brought
	Payload               string // what an event brings, as JSON
	Gated                 string
	Damaged               bool
	Damage                string
	Event                 bool
}

// QueueItem shows an item of the queue.
func QueueItem(v *page.Visit) (string, any, error) {
	id := v.Request.PathValue("id")
	found, err := page.Get[struct {
		Item    shape.QueueItem
		Brought brought
	}](v, page.At("queue", id), nil)
	it := found.Item
	view := letterView{
		ID: it.ID, List: "queue", Operation: "sendQueueItem", Delete: "deleteQueueItem", Name: it.Name, ActivityType: it.ActivityType, Stimulus: it.Stimulus,
		InstanceID: it.InstanceID, CorrelationID: it.CorrelationID, CreatedAt: it.CreatedAt, ExpiresAt: &it.ExpiresAt, Gated: it.Gated,
		Damaged: it.Damaged, Damage: it.Damage, Brought: found.Brought,
	}
	view.read()
	return "Item of the queue", view, err
}

// DeadLetter shows a dead letter.
func DeadLetter(v *page.Visit) (string, any, error) {
	id := v.Request.PathValue("id")
	found, err := page.Get[struct {
		Letter  shape.DeadLetter
		Brought brought
	}](v, page.At("dead-letters", id), nil)
	it := found.Letter
	view := letterView{
		ID: it.ID, List: "dead-letters", Operation: "replayDeadLetter", Delete: "deleteDeadLetter", Reason: it.Reason, Detail: it.Detail, Name: it.Name, ActivityType: it.ActivityType,
		Command: it.Command, Stimulus: it.Stimulus, InstanceID: it.InstanceID, CorrelationID: it.CorrelationID, CreatedAt: it.CreatedAt, DroppedBytes: it.DroppedBytes,
		Damaged: it.Damaged, Damage: it.Damage, Brought: found.Brought,
	}
	view.read()
	return "Dead letter", view, err
}

// read finds what an event brings, for a field.
func (l *letterView) read() {
	l.Event = l.Name != ""
	var input struct{ Payload json.RawMessage }
	if l.Event && json.Unmarshal(l.Brought.Input, &input) == nil && len(input.Payload) > 0 {
		l.Payload = page.Pretty(input.Payload, page.ShownBytes).Text
		if len(input.Payload) > page.ShownBytes { // a part of it would be sent as the whole
			l.Payload = ""
		}
	}
}

// severalView is what became of many at once.
type severalView struct {
	Done    []string
	Refused []severalRefused
	By      map[string]int // refusals by code
	Checked bool           // nothing was done: it was only tried
	Form    url.Values     // that goes on
	Action  string
	More    bool
	Back    string
}

type severalRefused struct{ ID, Code, Detail string }

// Severals are the operations that work a page of a filter at a time.
var Severals = []string{"replayDeadLetters", "deleteDeadLetters", "sendQueueItems", "deleteQueueItems"}

// Several shows what was done to the items of a filter, and goes on with the next ones.
func Several(v *page.Visit, to *page.Answer) {
	var got struct {
		severalView
		NextCursor *string
	}
	if err := json.Unmarshal(to.Body.Bytes(), &got); err != nil {
		v.Fail("", err)
		return
	}
	view := got.severalView
	view.Back, view.Action, view.By = v.Back(), v.Request.URL.Path, map[string]int{}
	for _, r := range view.Refused {
		view.By[r.Code]++
	}
	view.Checked = v.Request.PostForm.Get("q.dryRun") != ""
	if view.More = got.NextCursor != nil; view.More {
		view.Form = url.Values{}
		for name, values := range v.Request.PostForm {
			if name != "key" && name != "b.cursor" {
				view.Form[name] = values
			}
		}
		view.Form.Set("b.cursor", *got.NextCursor)
	}
	v.Render(http.StatusOK, "several", page.Page{Title: map[bool]string{true: "Tried", false: "Done"}[view.Checked], View: view})
}
