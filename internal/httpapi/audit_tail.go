package httpapi

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// auditRoutes show the end of the audit log. The log itself, a file or the node's log, is the
// record: what is shown here lies in the memory of nodes, and ends with them.
func auditRoutes() []route {
	filters := []param{
		{name: "who", typ: "string", doc: "Only of this caller, such as key:shop."},
		{name: "operation", typ: "string", doc: "Only of this operation, such as cancelInstance."},
		{name: "target", typ: "string", doc: "Only those whose target has this in it."},
		{name: "result", typ: "string", doc: "Only of this result.", values: auditResults},
	}
	return []route{
		{method: "GET", path: "/audit", name: "listAudit", role: auth.Admin, tag: "cluster", kind: reads, costly: true, query: filters,
			summary: "Who did what lately, on all live nodes, the newest first", answers: map[int]any{200: auditView{}}, serve: auditTail},
		{method: "GET", path: "/nodes/{id}/audit", name: "listNodeAudit", role: auth.Admin, tag: "cluster", kind: open, query: filters,
			summary: "Who did what lately on a node, of the last 1,000 lines of its audit log, the newest first; any node asks it",
			answers: map[int]any{200: nodeAuditView{}}, problems: []workflow.Code{workflow.CodeNodeNotFound, workflow.CodeInvalid, workflow.CodeBusy}, serve: nodeAudit},
	}
}

var auditResults = []string{"done", "accepted", "checked", "denied", "failed"}

type auditView struct {
	Items   []auditLineView `json:"items" doc:"500 at most."`
	More    bool            `json:"more" doc:"Others that are remembered fit too."`
	Nodes   []auditNodeView `json:"nodes" doc:"Those that were asked."`
	Unasked []string        `json:"unasked" doc:"Live nodes that did not answer."`
}

type auditNodeView struct {
	NodeID string     `json:"nodeId"`
	Kept   bool       `json:"kept" doc:"false: it keeps no audit log, as it has neither credentials nor a file for one."`
	From   *time.Time `json:"from" doc:"The oldest line that it remembers; null: none yet."`
}

type nodeAuditView struct {
	NodeID string          `json:"nodeId"`
	Kept   bool            `json:"kept" doc:"false: it keeps no audit log, as it has neither credentials nor a file for one."`
	From   *time.Time      `json:"from" doc:"The oldest line that it remembers; null: none yet."`
	Items  []auditLineView `json:"items" doc:"500 at most."`
	More   bool            `json:"more" doc:"Others that it remembers fit too."`
}

type auditLineView struct {
	NodeID     string    `json:"nodeId" doc:"The node whose line it is."`
	Time       time.Time `json:"time" doc:"By its clock."`
	Who        string    `json:"who" doc:"key: and the name of an API key, oidc: and the subject of a token, anyone, or unknown."`
	Role       string    `json:"role"`
	Operation  string    `json:"operation"`
	Method     string    `json:"method"`
	Route      string    `json:"route"`
	Target     string    `json:"target"`
	Result     string    `json:"result" enum:"done,accepted,checked,denied,failed"`
	Status     int       `json:"status"`
	Code       string    `json:"code"`
	Location   string    `json:"location"`
	RequestID  string    `json:"requestId"`
	Remote     string    `json:"remote"`
	RelayedBy  string    `json:"relayedBy"`
	Via        string    `json:"via"`
	Suppressed int64     `json:"suppressed"`
}

const (
	// auditRemembered is how many lines a node remembers, and auditShown how many are told.
	auditRemembered = 1000
	auditShown      = 500
)

// ledger is the end of a node's audit log. The zero value has none.
type ledger struct {
	mu   sync.Mutex
	ring []auditLineView // guarded by mu
	next int             // the oldest, once the ring is full; guarded by mu
}

func (l *ledger) note(line *auditLineView) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < auditRemembered {
		l.ring = append(l.ring, *line)
		return
	}
	l.ring[l.next] = *line
	l.next = (l.next + 1) % auditRemembered
}

// newest gives the lines that fit a filter, the newest first, and when the oldest of all was.
func (l *ledger) newest(fits func(*auditLineView) bool) (lines []auditLineView, more bool, from *time.Time) {
	l.mu.Lock()
	all := slices.Concat(l.ring[l.next:], l.ring[:l.next])
	l.mu.Unlock()
	if len(all) > 0 {
		from = &all[0].Time
	}
	lines = []auditLineView{}
	for i := len(all) - 1; i >= 0; i-- {
		switch line := &all[i]; {
		case !fits(line):
		case len(lines) == auditShown:
			return lines, true, from
		default:
			lines = append(lines, *line)
		}
	}
	return lines, false, from
}

// ownAudit is the end of this node's audit log.
func (c *call) ownAudit() nodeAuditView {
	q := c.query
	v := nodeAuditView{NodeID: c.api.cfg.NodeID, Kept: c.api.cfg.Audit != nil}
	is := func(want, is string) bool { return want == "" || want == is }
	v.Items, v.More, v.From = c.api.audited.newest(func(line *auditLineView) bool {
		return is(q.Get("who"), line.Who) && is(q.Get("operation"), line.Operation) && is(q.Get("result"), line.Result) && strings.Contains(line.Target, q.Get("target"))
	})
	return v
}

func nodeAudit(c *call) (reply, error) { return asked(c, c.ownAudit) }

// auditTail asks all nodes at the same time: one that hangs costs no more than its own answer.
func auditTail(c *call) (reply, error) {
	v := auditView{Items: []auditLineView{}, Nodes: []auditNodeView{}, Unasked: []string{}}
	add := func(n *nodeAuditView) {
		v.Nodes, v.Items, v.More = append(v.Nodes, auditNodeView{n.NodeID, n.Kept, n.From}), append(v.Items, n.Items...), v.More || n.More
	}
	own := c.ownAudit()
	add(&own)
	others := slices.DeleteFunc(slices.Clone(c.api.cfg.Session.Members()), func(n cluster.Node) bool { return n.ID == c.api.cfg.NodeID })
	theirs, errs := make([]nodeAuditView, len(others)), make([]error, len(others))
	query := c.query.Encode()
	var all sync.WaitGroup
	for i, n := range others {
		all.Go(func() {
			errs[i] = look(c, n, prefix+"/nodes/"+url.PathEscape(n.ID)+"/audit?"+query, &theirs[i])
		})
	}
	all.Wait()
	for i, n := range others {
		if errs[i] != nil {
			v.Unasked = append(v.Unasked, n.ID)
			continue
		}
		add(&theirs[i])
	}
	slices.SortStableFunc(v.Items, func(a, b auditLineView) int { return b.Time.Compare(a.Time) })
	if len(v.Items) > auditShown {
		v.Items, v.More = v.Items[:auditShown], true
	}
	slices.SortFunc(v.Nodes, func(a, b auditNodeView) int { return cmp.Compare(a.NodeID, b.NodeID) })
	slices.Sort(v.Unasked)
	return reply{body: v}, nil
}
