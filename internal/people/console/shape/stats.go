package shape

import (
	"errors"
	"net/url"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/workflow"
)

// Tally is a number that may be larger than it says.
type Tally struct {
	Count int64
	Exact bool
}

// CountOf is how many instances have a sub-status.
type CountOf struct {
	Tally
	Sub, Query string
}

// subStatusCounts are counts of instances by their sub-status.
type subStatusCounts struct{ Pending, Executing, Suspended, Finished, Cancelled, Faulted Tally }

// Stats are counts of instances.
type Stats struct {
	Instances   Tally
	BySubStatus subStatusCounts
	Items       []struct {
		DefinitionID string
		Version      *int
		Instances    Tally
		BySubStatus  subStatusCounts
	}
	More bool
}

// shown are the counts in the order in which a page has them, with the lines that find them.
func (s subStatusCounts) shown() []CountOf {
	return []CountOf{
		{s.Executing, "Executing", "status:executing"}, {s.Suspended, "Suspended", "status:suspended"}, {s.Faulted, "Faulted", "status:faulted"},
		{s.Pending, "Pending", "status:pending"}, {s.Finished, "Finished", "sub:finished"}, {s.Cancelled, "Cancelled", "status:cancelled"},
	}
}

// Counts are those of all instances.
func (s *Stats) Counts() []CountOf {
	all := s.BySubStatus.shown()
	for i := range all {
		all[i].Exact = all[i].Exact && !s.More
	}
	return all
}

// Said writes a count as a page shows it.
func (c Tally) Said() string {
	text := page.Thousands(c.Count)
	if !c.Exact {
		text += "+"
	}
	return text
}

// Chip is a search line that is one click away.
type Chip struct {
	Text, To string
	Here     bool
	Count    *Tally // nil: not known
}

// CountInstances are counts of instances; nil: the node cannot count now.
func CountInstances(v *page.Visit, ask url.Values) (*Stats, error) {
	all, err := page.Get[Stats](v, "/stats", ask)
	var p *page.Problem
	if errors.As(err, &p) {
		return nil, nil
	}
	return &all, err
}

// Of is how many are counted of what a filter says of status, definition and version.
func (s *Stats) Of(f find.Filter) *Tally {
	if f.Version == 0 {
		return s.BySubStatus.Of(f, s.More)
	}
	for i := range s.Items {
		if it := &s.Items[i]; it.Version != nil && *it.Version == f.Version {
			return it.BySubStatus.Of(f, s.More)
		}
	}
	return &Tally{Exact: !s.More}
}

// Of is how many are counted of what a filter says of the status; more tells that others are not counted.
func (s subStatusCounts) Of(f find.Filter, more bool) *Tally {
	sum := Tally{Exact: !more}
	for _, n := range s.shown() {
		sub := workflow.SubStatus(n.Sub)
		if f.SubStatus != "" && f.SubStatus != sub || f.Status != "" && f.Status != sub.Status() {
			continue
		}
		sum = Tally{sum.Count + n.Count, sum.Exact && n.Exact}
	}
	return &sum
}
