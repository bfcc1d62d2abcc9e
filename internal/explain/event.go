package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/intake"
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
	Refused          *workflow.Error // why it would be refused; nil: it would be taken
	// Others wait for the same and would not be met: for another correlation. 10 at
	// most, and only looked for where nothing is met.
	Others []Place
	// Recent are events of this name, or one nearly spelt so, that nodes remember: the newest first.
	Recent   []Sent
	Revision int64 // of etcd
}

// Place is a bookmark that a stimulus meets.
type Place struct{ InstanceID, BookmarkID, CorrelationID string }

// Trigger is a definition that a stimulus meets.
type Trigger struct {
	DefinitionID string
	Version      int
	ActivityID   string
	Activation   string // "": each event starts one
	// Holder is the instance that runs, and holds the gate of the activation strategy: the start is refused
	// if it is all that the stimulus meets, and else waits for the end of that one. "": it starts.
	Holder string
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
	const what = "list of what waits for it"
	m, err := x.cfg.Stimuli.Match(ctx, st, hash, "")
	var refused error
	switch {
	case errors.Is(err, etcdstore.ErrDamaged): // the instance that it is for
		m, refused = &etcdstore.Match{}, etcdstore.Damaged("what the stimulus is for", err)
	case err != nil:
		return nil, etcdstore.ReadFailed(what, err)
	case st.InstanceID != "":
		refused = m.Addressable()
	}
	all := places(m.Bookmarks)
	e := &Effect{Resumes: all[:min(len(all), mostListed)], Resumed: len(m.Bookmarks), Started: len(m.Triggers), More: m.More, Revision: m.Revision}
	e.Queued = refused == nil && e.Resumed == 0 && e.Started == 0 && !e.More
	if e.Starts, err = x.triggers(ctx, m, st.CorrelationID); err != nil {
		return nil, etcdstore.ReadFailed("gates of what it would start", err)
	}
	if refused == nil {
		refused = x.refuses(e)
	}
	errors.As(refused, &e.Refused)
	if e.Queued && st.CorrelationID != "" && st.InstanceID == "" {
		st.CorrelationID = ""
		others, err := x.cfg.Stimuli.Match(ctx, st, hash, "")
		if err != nil {
			return nil, etcdstore.ReadFailed(what, err)
		}
		e.Others = places(others.Bookmarks[:min(len(others.Bookmarks), mostOthers)])
	}
	if name := st.EventName(); name != "" {
		names := []string{name}
		e.Recent = x.lately(names, ask(ctx, x.others(), Question{Names: names}, peers))
		e.Recent = e.Recent[:min(len(e.Recent), mostOthers)]
	}
	return e, nil
}

// triggers are what a stimulus meets beside bookmarks, and who holds their gates.
func (x *Explainer) triggers(ctx context.Context, m *etcdstore.Match, correlation string) ([]Trigger, error) {
	out := make([]Trigger, 0, min(len(m.Triggers), mostListed))
	var gates []store.Gate
	var gated []int
	for i, t := range m.Triggers[:min(len(m.Triggers), mostListed)] {
		out = append(out, Trigger{DefinitionID: t.DefinitionID, Version: t.Version, ActivityID: t.ActivityID, Activation: t.Activation})
		if g := store.GateOf(t.Activation, &workflow.Start{DefinitionID: t.DefinitionID, CorrelationID: correlation}); g != nil {
			gates, gated = append(gates, *g), append(gated, i)
		}
	}
	holders, err := x.cfg.Reader.Gates(ctx, gates, m.Revision)
	if err != nil {
		return nil, err
	}
	for n, i := range gated {
		out[i].Holder = holders[n]
	}
	return out, nil
}

// refuses is why a stimulus with such an effect would be refused now; nil: it would be taken.
func (x *Explainer) refuses(e *Effect) error {
	if err := x.cfg.Intake.Refuses(intake.GoesOn); err != nil {
		return err
	}
	if e.Started > 0 {
		if err := x.cfg.Intake.Refuses(intake.Starts); err != nil {
			return err
		}
	}
	switch {
	case e.More:
		return etcdstore.TooMany()
	case e.Started == 1 && e.Resumed == 0 && e.Starts[0].Holder != "":
		return workflow.Fail(workflow.CodeInstanceGated, fmt.Sprintf("definition %q lets one instance run at a time (%s), and %q runs", e.Starts[0].DefinitionID, e.Starts[0].Activation, e.Starts[0].Holder))
	}
	return nil
}

func places(marks []store.BookmarkRef) []Place {
	out := make([]Place, len(marks))
	for i, b := range marks {
		out[i] = Place{b.InstanceID, b.ID, b.CorrelationID}
	}
	return out
}
