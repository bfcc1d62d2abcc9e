package cluster

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

type clusterView struct {
	Nodes   []nodeCard
	Unasked []string // nodes that did not tell what they do
	Paused  bool

	Troubles []trouble // with etcd
	Sums     sums
	Store    *storeMeter // as the node that answers knows it; nil: it does not
	Hot      []hotInstance
	HotMore  int  // others are hot, too
	HotCut   bool // a node named as many as it ever does: still others may be
	Locks    page.ListView[shape.Lock]

	Balance   *balance
	Uncounted *page.Problem // why there is no balance
}

// nodeCard is a node with what it tells of itself.
type nodeCard struct {
	shape.Node
	Meters *meters // nil: it did not tell
}

// Skew is how far the node's clock is off, as the page shows it.
func (n *nodeCard) Skew() string {
	if n.ClockSkewSeconds == nil {
		return ""
	}
	skew := time.Duration(*n.ClockSkewSeconds * float64(time.Second))
	switch {
	case skew.Abs() < skewShown:
		return "none"
	case skew < 0:
		return page.Lasted(-skew) + " slow"
	}
	return page.Lasted(skew) + " fast"
}

// Off tells a clock that is so far off that timers suffer.
func (n *nodeCard) Off() bool {
	return n.ClockSkewSeconds != nil && (*n.ClockSkewSeconds >= skewBad.Seconds() || *n.ClockSkewSeconds <= -skewBad.Seconds())
}

// Differences of clocks from which on they are shown, and are called bad.
const (
	skewShown = 50 * time.Millisecond
	skewBad   = time.Second
)

// meters is what a node does.
type meters struct {
	NodeID                                               string
	At                                                   time.Time
	Seconds                                              float64
	Commits                                              []rate
	Bursts                                               rate
	Takeovers                                            int64
	CommitSeconds, CommitCommands, ReadBatch, WriteBatch mean
	Working, Locks, InFlight                             int
	Hot                                                  []struct {
		InstanceID string
		PerSecond  float64
	}
	SessionSince, DrainsUntil *time.Time
	Store                     storeMeter
}

// DrainsFor is how long a drain may still take, by the clock of its node; "": it is over.
func (m *meters) DrainsFor() string {
	if m.DrainsUntil == nil || !m.DrainsUntil.After(m.At) {
		return ""
	}
	return page.Lasted(m.DrainsUntil.Sub(m.At))
}

// Rate is commits a second.
func (m *meters) Rate() (sum float64) {
	for _, c := range m.Commits {
		sum += c.PerSecond
	}
	return sum
}

type rate struct {
	Name      string
	Total     int64
	PerSecond float64
}

type mean struct {
	Count int64
	Mean  float64
}

// with adds what another node has seen.
func (m mean) with(other mean) mean {
	n := m.Count + other.Count
	if n == 0 {
		return m
	}
	return mean{n, (m.Mean*float64(m.Count) + other.Mean*float64(other.Count)) / float64(n)}
}

type storeMeter struct {
	InUse, Allocated, Quota int64
	Level                   int
	Text, Advice            string
}

// Part is how much of the quota is taken, in percent.
func (s *storeMeter) Part() string {
	return strconv.FormatFloat(100*float64(s.Allocated)/float64(s.Quota), 'f', 1, 64) + " %"
}

// hotInstance is one that a node commits again and again.
type hotInstance struct {
	InstanceID, NodeID string
	PerSecond          float64
}

// hotShown is how many of them the page has.
const hotShown = 10

// hotNamed is how many of them a node names at most.
const hotNamed = 10

type balance struct {
	Accepted, Applied, Refused, Deleted, SetAside    int64
	Mailboxes, Queue, Sends, DeadLetters, Difference int64
	Missing                                          []struct {
		Key      string
		Revision int64
	}
	Revision        int64
	At, Since       time.Time
	Because, NodeID string
}

// sums are of all nodes that told what they do.
type sums struct {
	Told    int // how many did
	Rated   int // of how many there are rates
	Commits []rate
	Rate    float64

	CommitSeconds, CommitCommands, ReadBatch, WriteBatch mean
}

func (s *sums) add(m *meters) {
	s.Told++
	if m.Seconds > 0 {
		s.Rated++
	}
	for _, c := range m.Commits {
		at := slices.IndexFunc(s.Commits, func(r rate) bool { return r.Name == c.Name })
		if at < 0 {
			at = len(s.Commits)
			s.Commits = append(s.Commits, rate{Name: c.Name})
		}
		s.Commits[at].Total += c.Total
		s.Commits[at].PerSecond += c.PerSecond
	}
	s.Rate += m.Rate()
	s.CommitSeconds, s.CommitCommands = s.CommitSeconds.with(m.CommitSeconds), s.CommitCommands.with(m.CommitCommands)
	s.ReadBatch, s.WriteBatch = s.ReadBatch.with(m.ReadBatch), s.WriteBatch.with(m.WriteBatch)
}

// Outcomes say what an outcome of a commit means.
var Outcomes = map[string]string{
	"committed": "took effect",
	"kept_lock": "took effect, and kept the lock for new work",
	"resolved":  "took effect; its answer was lost, and the journal has it",
	"fenced":    "refused: another node had the instance by then",
	"conflict":  "refused, and run again: something moved that the lock does not protect",
	"held":      "refused: somebody had the lock, so its commands went into the mailbox",
	"abandoned": "given up, and can never land",
	"breach":    "refused although the lock held; this must never happen",
}

// Cluster shows the nodes, what they do, and who has which lock.
func Cluster(v *page.Visit) (string, any, error) {
	nodes, err := page.Get[page.List[shape.Node]](v, "/nodes", nil)
	if err != nil {
		return "", nil, err
	}
	told, err := page.Get[struct {
		Items   []meters
		Unasked []string
	}](v, "/cluster/meters", nil)
	if err != nil {
		return "", nil, err
	}
	view := clusterView{Unasked: told.Unasked}
	if view.Troubles, err = troubles(v); err != nil {
		return "", nil, err
	}
	for i := range nodes.Items {
		card := nodeCard{Node: nodes.Items[i]}
		view.Paused = view.Paused || card.Paused
		if at := slices.IndexFunc(told.Items, func(m meters) bool { return m.NodeID == card.NodeID }); at >= 0 {
			card.Meters = &told.Items[at]
		}
		view.Nodes = append(view.Nodes, card)
	}
	for i := range told.Items {
		m := &told.Items[i]
		view.Sums.add(m)
		if m.NodeID == v.NodeID() && m.Store.Quota > 0 {
			view.Store = &m.Store
		}
		view.HotCut = view.HotCut || len(m.Hot) >= hotNamed
		for _, h := range m.Hot {
			view.Hot = append(view.Hot, hotInstance{h.InstanceID, m.NodeID, h.PerSecond})
		}
	}
	slices.SortFunc(view.Sums.Commits, func(a, b rate) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name)) })
	slices.SortFunc(view.Hot, func(a, b hotInstance) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(a.InstanceID, b.InstanceID))
	})
	if n := len(view.Hot); n > hotShown {
		view.Hot, view.HotMore = view.Hot[:hotShown], n-hotShown
	}
	counted, err := page.Get[balance](v, "/cluster/balance", nil)
	switch {
	case err == nil:
		view.Balance = &counted
	case !errors.As(err, &view.Uncounted):
		return "", nil, err
	}
	view.Locks, err = page.Paged[shape.Lock](v, "/locks", nil, "scope")
	return "Cluster", &view, err
}

// trouble is something that is wrong with etcd.
type trouble struct{ State, Text, Do string }

// troubles are what is wrong with etcd, the worst first.
func troubles(v *page.Visit) ([]trouble, error) {
	told, err := page.Get[struct{ Troubles []trouble }](v, "/cluster/etcd", nil)
	if p := (*page.Problem)(nil); errors.As(err, &p) { // a node need not tell
		return nil, nil
	}
	return told.Troubles, err
}

// Refreshed is what became of a refresh or a reload of definitions.
type Refreshed struct {
	Status       string // "": it was done before, and the page only looks who serves what came of it
	Refreshed    []string
	NotRefreshed []struct{ ID, Reason string }
	Holder       string
	Revision     int64

	Reload bool
	Back   string
	Serves shape.Serves
}

// Settled tells that the page has nothing to wait for.
func (r *Refreshed) Settled() bool { return r.Serves.Settled() }

// Served shows definitions arrive at each node.
func Served(v *page.Visit) (string, any, error) {
	revision, err := strconv.ParseInt(v.Request.URL.Query().Get("revision"), 10, 64)
	if err != nil || revision < 1 {
		return "", nil, &page.Problem{Status: http.StatusBadRequest, Title: "The address is not whole", Detail: "It names no revision of etcd; begin at the page of the cluster."}
	}
	view := Refreshed{Revision: revision, Back: page.Path + "cluster"}
	view.Serves, err = shape.WhoServes(v, revision)
	return "Definitions of revision " + strconv.FormatInt(revision, 10), &view, err
}

// RefreshedNow shows what a refresh or a reload answered, and which nodes serve it by now.
func RefreshedNow(v *page.Visit, view *Refreshed, operation string) error {
	view.Reload, view.Back = operation == "reloadDefinitions", v.Back()
	title := "Definitions refreshed"
	if view.Reload {
		title = "Directory of definitions read"
	}
	if view.Status != "Completed" {
		title = "Nothing was done"
	}
	var err error
	if view.Revision > 0 {
		view.Serves, err = shape.WhoServes(v, view.Revision)
	}
	if err == nil {
		v.Render(http.StatusOK, "refreshed", page.Page{Title: title, Here: "cluster", View: view})
	}
	return err
}

// Follow is the page that shows it arrive.
func (r *Refreshed) Follow() string {
	return page.Address(strings.TrimSuffix(page.Path, "/")+"/served", url.Values{"revision": {strconv.FormatInt(r.Revision, 10)}})
}
