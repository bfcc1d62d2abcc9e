package operate

import (
	"time"

	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
)

type ownersView struct {
	InstanceID string      `json:"instanceId"`
	History    historyView `json:"history"`
	Owner      *claimView  `json:"owner" doc:"The node that has the instance's lock now; null: nobody."`
	Revision   int64       `json:"revision" doc:"Of etcd, at which journal and lock were read."`
}

type historyView struct {
	Periods  []periodView     `json:"periods" doc:"Rows of commits that one node made without a takeover in between, the oldest first."`
	Refusals []ownRefusalView `json:"refusals" doc:"Commits that a fence refused, as another node had the instance by then, the oldest first; of those that live nodes remember."`
	Unasked  []string         `json:"unasked" doc:"Live nodes that could not be asked for refusals."`
	Before   int64            `json:"before" doc:"Commits before this one are not told; 0: all are that the journal has."`
	First    int64            `json:"first" doc:"The oldest commit that the journal still has."`
	Last     int64            `json:"last" doc:"The newest commit."`
}

type periodView struct {
	NodeID     *string    `json:"nodeId"`
	From       int64      `json:"from" doc:"Its first commit of the row."`
	To         int64      `json:"to" doc:"Its last."`
	FirstFence int64      `json:"firstFence" doc:"Of the first commit under a lock; 0: all were made without."`
	LastFence  int64      `json:"lastFence"`
	Began      *time.Time `json:"began"`
	Ended      *time.Time `json:"ended"`
	Gap        float64    `json:"gapSeconds" doc:"From the end of the commit before the row to its beginning, by the clocks of both nodes; 0 at the first. Of a takeover, how long nobody worked; otherwise how long there was no work."`
	Takeover   bool       `json:"takeover" doc:"Its first commit repeated what another process had begun or left."`
}

type ownRefusalView struct {
	NodeID  string        `json:"nodeId"`
	Refusal peers.Refusal `json:"refusal"`
}

func viewHistory(h *explain.History) historyView {
	return historyView{
		Unasked: append([]string{}, h.Unasked...), Before: h.Before, First: h.First, Last: h.Last,
		Periods: shape.Each(h.Periods, func(t explain.Period) periodView {
			return periodView{shape.Some(t.Node), t.From, t.To, t.FirstFence, t.LastFence, shape.KnownTime(t.Began), shape.KnownTime(t.Ended), t.Gap.Seconds(), t.Takeover}
		}),
		Refusals: shape.Each(h.Refusals, func(r explain.Refused) ownRefusalView { return ownRefusalView{r.Node, peers.ViewRefusal(r.Refusal)} }),
	}
}

func owners(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	o, err := c.API.Config.Explainer.Owners(c.Request.Context(), id, peers.Of(c))
	if err != nil {
		return serve.Reply{}, err
	}
	v := ownersView{InstanceID: id, History: viewHistory(&o.History), Revision: o.Revision}
	if o.Owner != nil {
		owner := viewClaim(*o.Owner)
		v.Owner = &owner
	}
	return serve.Reply{Body: v}, nil
}
