package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Sent is an event that a node sent lately.
type Sent struct {
	Node string
	recent.Event
	taken bool // it met nobody, and is in the queue no more
}

// Events of the last lately are told, mostNames names of an instance are asked for, and
// mostSent events kept of all nodes.
const (
	lately    = time.Hour
	mostNames = 5
	mostSent  = 50
)

// Recent are the events that this node sent lately with one of these names, or nearly so,
// the newest first.
func (x *Explainer) Recent(names []string) []recent.Event { return x.cfg.Recent.Like(names) }

// lately are the events like these that nodes sent. One that did not answer is left out: what
// nodes remember is never all.
func (x *Explainer) lately(names []string, all []told) []Sent {
	if len(names) == 0 {
		return nil
	}
	since := x.cfg.Now().Add(-lately)
	var out []Sent
	for _, t := range append([]told{{node: x.cfg.Session.NodeID(), Known: Known{Events: x.Recent(names)}}}, all...) {
		for _, e := range t.Events {
			if e.At.After(since) {
				out = append(out, Sent{Node: t.node, Event: e})
			}
		}
	}
	slices.SortFunc(out, func(a, b Sent) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
	return recent.Chosen(out, mostSent, func(e *Sent) bool { return e.Met == 0 })
}

// whereabouts finds out where those events are now that met nobody when they were sent: a node remembers
// what it did with them, and not what became of them. So what lies in the queue, or among the dead letters,
// is found there however much does.
func (x *Explainer) whereabouts(ctx context.Context, f *facts) error {
	var unmet []store.SentStimulus
	for i := range f.recent {
		if e := &f.recent[i]; e.Met == 0 {
			unmet = append(unmet, store.SentStimulus{ID: e.ID, Stimulus: e.stimulus()})
		}
	}
	if len(unmet) == 0 {
		return nil
	}
	found, err := x.cfg.Reader.Whereabouts(ctx, unmet)
	if err != nil {
		return err
	}
	met := f.recent[:0]
	for _, e := range f.recent {
		if e.Met > 0 {
			met = append(met, e)
			continue
		}
		is, st := found[0], e.stimulus()
		found = found[1:]
		s := sent{where: "queue", id: e.ID, stimulus: &st, at: e.At}
		if is.Letter != "" {
			s.where, s.id = "dead-letter", is.Letter
		}
		switch {
		case !is.Queued && is.Letter == "":
			e.taken = true
			met = append(met, e)
		case !slices.ContainsFunc(f.sent, func(o sent) bool { return o.where == s.where && o.id == s.id }):
			f.take(s)
		}
	}
	f.recent = met
	return nil
}

// stimulus is what the event was sent as, without what it brought.
func (e *Sent) stimulus() workflow.Stimulus {
	st := workflow.EventStimulus(e.Name, nil)
	st.CorrelationID, st.InstanceID = e.CorrelationID, e.InstanceID
	return st
}

// eventNames are those of the events that an instance waits for.
func eventNames(marks []workflow.Bookmark) (names []string) {
	for i := range marks {
		if b := &marks[i]; b.ActivityType == workflow.EventType && !slices.Contains(names, b.Name) && len(names) < mostNames {
			names = append(names, b.Name)
		}
	}
	return names
}

// mostLately bounds the near misses of one explanation that are no more than remembered.
const mostLately = 5

// lately adds events that came lately, met others or nobody, and were nearly what the
// instance waits for. What took them was right, so they are no cause, unless they have this
// very correlation, and met one instance only: of several, this one may have been one. What lies in the queue or among the dead letters is told as that.
func (x *Explanation) lately(f *facts) {
	told := 0
	for i := range f.recent {
		e := &f.recent[i]
		for j := range x.Instance.Bookmarks {
			b := &x.Instance.Bookmarks[j]
			if b.ActivityType != workflow.EventType || told == mostLately || x.tells(e) {
				continue
			}
			kind, text := x.whyNot(e, b)
			if text == "" {
				continue
			}
			x.NearMisses = append(x.NearMisses, NearMiss{Kind: kind, Where: "sent", ID: e.ID, Bookmark: b.ID, Name: e.Name, CorrelationID: e.CorrelationID,
				InstanceID: e.InstanceID, CreatedAt: e.At, Text: text, likely: kind == CauseElsewhere && e.CorrelationID != "" && e.Met == 1})
			told++
		}
	}
}

// tells whether such an event is among the near misses already.
func (x *Explanation) tells(e *Sent) bool {
	return len(x.NearMisses) >= mostMisses || slices.ContainsFunc(x.NearMisses, func(m NearMiss) bool {
		return m.ID == e.ID || m.Name == e.Name && m.CorrelationID == e.CorrelationID && m.InstanceID == e.InstanceID
	})
}

// whyNot tells what kept an event that came lately from a bookmark, and where it went; "":
// nothing did, or it has nothing to do with it.
func (x *Explanation) whyNot(e *Sent, b *workflow.Bookmark) (kind Cause, text string) {
	h := &x.Instance
	switch {
	case e.Name != b.Name:
		if workflow.Nearest(e.Name, []string{b.Name}) == "" {
			return "", ""
		}
		kind, text = CauseSpelling, fmt.Sprintf("it came as %q, and this one waits for %q", e.Name, b.Name)
	case e.InstanceID != "" && e.InstanceID != h.ID:
		kind, text = CauseAddress, "it was for instance "+e.InstanceID
	case e.CorrelationID != "" && e.CorrelationID != h.CorrelationID:
		kind, text = CauseCorrelation, fmt.Sprintf("it came for correlation %q, and this one has %s", e.CorrelationID, quotedOr(h.CorrelationID, "none"))
	case e.First == h.ID || !e.At.Before(b.CreatedAt):
		return "", ""
	default:
		kind, text = CauseElsewhere, fmt.Sprintf("it came %s before this one waited", about(b.CreatedAt.Sub(e.At)))
	}
	switch {
	case e.taken:
		text += ", met nobody, and was taken from the queue, or deleted, since"
	case e.Met == 0:
		text += ", met nobody, and was put into the queue"
	case e.First != "" && e.Met > 1:
		text += fmt.Sprintf(", and went to instance %s and %d more", e.First, e.Met-1)
	case e.First != "":
		text += ", and went to instance " + e.First
	default:
		text += fmt.Sprintf(", and started %d", e.Met)
	}
	return kind, text
}

func quotedOr(text, or string) string {
	if text == "" {
		return or
	}
	return fmt.Sprintf("%q", text)
}
