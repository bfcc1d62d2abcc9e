package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Owners is who made the commits of an instance, and who has it now.
type Owners struct {
	History
	Owner    *Claim // of the lock now; nil: nobody
	Revision int64  // of etcd
}

// History is who made the commits of an instance, as far as its journal has them.
type History struct {
	Periods  []Period // the oldest first
	Refusals []Refused
	Unasked  []string // live nodes that could not be asked for refusals
	Before   int64    // the commits before this one were not looked at; 0: all that there are were

	First, Last int64 // what the journal has: the oldest commit that is kept, and the newest
}

// Period is a row of commits that one node made without a takeover in between.
type Period struct {
	Node     string // "": not known
	From, To int64  // its first and its last commit of the row
	// Fences of the first and the last commit under a lock; 0: all of the row were made without.
	FirstFence, LastFence int64
	Began, Ended          time.Time     // of the first commit and the last, by its clock
	Gap                   time.Duration // since the commit before the row, by the clocks of both nodes; 0 at the first
	Takeover              bool          // its first commit repeated what another process had begun or left
}

// Refused is a commit that a fence refused, and the node that had made it.
type Refused struct {
	Node string
	client.Refusal
}

// Owners tells which node made which commits of an instance, where one took over from
// another, and what was refused of those who came late. It reads as much of the journal
// as a page holds, the newest of it, and asks all live nodes.
func (x *Explainer) Owners(ctx context.Context, id string, peers Peers) (*Owners, error) {
	now, err := x.cfg.Reader.Situation(ctx, id)
	switch {
	case err != nil:
		return nil, etcdstore.ReadFailed("state of instance "+id, err)
	case now.Damage != nil:
		return nil, etcdstore.Damaged(fmt.Sprintf("instance %q", id), now.Damage)
	case now.Record == nil:
		return nil, workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	}
	h, err := x.periods(ctx, id, now.Revision, math.MaxInt)
	if err != nil {
		return nil, etcdstore.ReadFailed("journal of instance "+id, err)
	}
	claims, err := x.cfg.Session.Locks().Claims(ctx, cluster.InstanceLock(id), now.Revision)
	if err != nil {
		return nil, etcdstore.ReadFailed("lock of instance "+id, err)
	}
	f := facts{claims: claims, members: x.cfg.Session.Members(), self: x.cfg.Session.NodeID()}
	var present Explanation
	present.takeClaims(&f)
	x.refusals(h, id, ask(ctx, x.others(), Question{Instance: id}, peers))
	return &Owners{*h, present.Owner, now.Revision}, nil
}

// periods reads the newest commits, most of them at most.
func (x *Explainer) periods(ctx context.Context, id string, revision int64, most int) (*History, error) {
	h := &History{}
	journal, err := x.cfg.Reader.ScanJournal(ctx, id, etcdstore.JournalScan{Back: true, Revision: revision, Heads: true}, func(e *workflow.JournalEntry) bool {
		h.Before = e.Sequence
		h.add(e)
		most--
		return most == 0
	})
	if err != nil || journal == nil {
		return h, err
	}
	if h.Before <= journal.First {
		h.Before = 0
	}
	slices.Reverse(h.Periods)
	for i := 1; i < len(h.Periods); i++ {
		if was, is := &h.Periods[i-1], &h.Periods[i]; !was.Ended.IsZero() && !is.Began.IsZero() {
			is.Gap = is.Began.Sub(was.Ended)
		}
	}
	h.First, h.Last = journal.First, journal.Last
	return h, nil
}

// add takes a commit that is older than those before. Of one that cannot be read only
// the number is known: it belongs to the period that it stands in.
func (h *History) add(e *workflow.JournalEntry) {
	if n := len(h.Periods); n > 0 && h.Periods[n-1].goesBackTo(e) {
		p := &h.Periods[n-1]
		p.From, p.Takeover = e.Sequence, e.Takeover
		p.FirstFence, p.LastFence = cmp.Or(e.Fence, p.FirstFence), cmp.Or(p.LastFence, e.Fence)
		if !e.Began.IsZero() {
			p.Began = e.Began
		}
		return
	}
	h.Periods = append(h.Periods, Period{Node: e.Node, From: e.Sequence, To: e.Sequence, FirstFence: e.Fence, LastFence: e.Fence, Began: e.Began, Ended: e.Ended, Takeover: e.Takeover})
}

// goesBackTo tells whether the commit before belongs to the period. A node that takes
// over from itself was started again in between.
func (p *Period) goesBackTo(e *workflow.JournalEntry) bool {
	return !p.Takeover && (p.Node == e.Node || e.Commit == "")
}

// refusals adds those of this node, and of those that were asked.
func (x *Explainer) refusals(h *History, id string, all []told) {
	self := x.cfg.Session.NodeID()
	for _, t := range append([]told{{node: self, Known: Known{Refusals: x.cfg.Node.Refusals(id)}}}, all...) {
		if t.err != nil {
			h.Unasked = append(h.Unasked, t.node)
		}
		for _, r := range t.Refusals {
			h.Refusals = append(h.Refusals, Refused{t.node, r})
		}
	}
	slices.Sort(h.Unasked)
	slices.SortFunc(h.Refusals, func(a, b Refused) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node)) })
}
