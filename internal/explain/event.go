package explain

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Effect is what a stimulus would do if it were sent now.
type Effect struct {
	Resumes []Place   // 100 at most
	Starts  []Trigger // 100 at most
	Queued  bool      // it meets nothing, and would wait in the queue
	// Counts of all, also of those that are not listed; More: there are more than one
	// stimulus may have, and it would be refused.
	Resumed, Started int
	More             bool
	// Others wait for the same and would not be met: for another correlation. 10 at
	// most, and only looked for where nothing is met.
	Others []Place
	// Recent are events of this name, or one nearly spelt so, that nodes remember: the newest first.
	Recent   []Sent
	Revision int64 // of etcd
}

// Place is a bookmark that a stimulus meets.
type Place struct{ InstanceID, BookmarkID, CorrelationID string }

// Trigger is a definition that a stimulus starts. Whether the gate of its activation
// strategy is free is not looked at.
type Trigger struct {
	DefinitionID string
	Version      int
	ActivityID   string
	Activation   string // "": each event starts one
}

// Of what a stimulus meets so much is listed.
const (
	mostListed = 100
	mostOthers = 10
)

// Event tells what a stimulus would do: what it would meet, at one revision. It
// changes nothing, and what is sent a moment later may meet something else. An error
// of the payload is [workflow.CodeInvalid].
func (x *Explainer) Event(ctx context.Context, st workflow.Stimulus, peers Peers) (*Effect, error) {
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	read := func(st workflow.Stimulus) ([]Place, *Effect, error) {
		m, err := x.cfg.Stimuli.Match(ctx, st, hash, "")
		if err != nil {
			return nil, nil, etcdstore.ReadFailed("list of what waits for it", err)
		}
		e := &Effect{Resumed: len(m.Bookmarks), Started: len(m.Triggers), More: m.More, Revision: m.Revision}
		for _, t := range m.Triggers[:min(len(m.Triggers), mostListed)] {
			e.Starts = append(e.Starts, Trigger{t.DefinitionID, t.Version, t.ActivityID, t.Activation})
		}
		return places(m.Bookmarks), e, nil
	}
	all, e, err := read(st)
	if err != nil {
		return nil, err
	}
	e.Resumes = all[:min(len(all), mostListed)]
	e.Queued = e.Resumed == 0 && e.Started == 0 && !e.More
	if e.Queued && st.CorrelationID != "" && st.InstanceID == "" {
		st.CorrelationID = ""
		others, _, err := read(st)
		if err != nil {
			return nil, err
		}
		e.Others = others[:min(len(others), mostOthers)]
	}
	if name := st.EventName(); name != "" {
		names := []string{name}
		e.Recent = x.lately(names, ask(ctx, x.others(), Question{Names: names}, peers))
		e.Recent = e.Recent[:min(len(e.Recent), mostOthers)]
	}
	return e, nil
}

func places(marks []store.BookmarkRef) []Place {
	out := make([]Place, len(marks))
	for i, b := range marks {
		out[i] = Place{b.InstanceID, b.ID, b.CorrelationID}
	}
	return out
}
