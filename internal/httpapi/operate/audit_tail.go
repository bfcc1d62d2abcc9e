package operate

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/ledger"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// auditRoutes show the end of the audit log. The log itself, a file or the node's log, is the
// record: what is shown here lies in the memory of nodes, and ends with them.
func auditRoutes() []serve.Route {
	filters := []serve.Param{
		{Name: "who", Type: "string", Doc: "Only of this caller, such as key:shop."},
		{Name: "operation", Type: "string", Doc: "Only of this operation, such as cancelInstance."},
		{Name: "target", Type: "string", Doc: "Only those whose target has this in it."},
		{Name: "result", Type: "string", Doc: "Only of this result.", Values: auditResults},
	}
	return []serve.Route{
		{Method: "GET", Path: "/audit", Name: "listAudit", Role: auth.Admin, Tag: "cluster", Kind: serve.Reads, Costly: true, Query: filters,
			Summary: "Who did what lately, on all live nodes, the newest first", Answers: map[int]any{200: auditView{}}, Serve: auditTail},
		{Method: "GET", Path: "/nodes/{id}/audit", Name: "listNodeAudit", Role: auth.Admin, Tag: "cluster", Kind: serve.Open, Query: filters,
			Summary: "Who did what lately on a node, of the last 1,000 lines of its audit log, the newest first; any node asks it",
			Answers: map[int]any{200: nodeAuditView{}}, Problems: []workflow.Code{workflow.CodeNodeNotFound, workflow.CodeInvalid, workflow.CodeBusy}, Serve: nodeAudit},
	}
}

var auditResults = []string{"done", "accepted", "checked", "denied", "failed"}

type auditView struct {
	Items   []ledger.AuditLine `json:"items" doc:"500 at most."`
	More    bool               `json:"more" doc:"Others that are remembered fit too."`
	Nodes   []auditNodeView    `json:"nodes" doc:"Those that were asked."`
	Unasked []string           `json:"unasked" doc:"Live nodes that did not answer."`
}

type auditNodeView struct {
	NodeID string     `json:"nodeId"`
	Kept   bool       `json:"kept" doc:"false: it keeps no audit log, as it has neither credentials nor a file for one."`
	From   *time.Time `json:"from" doc:"The oldest line that it remembers; null: none yet."`
}

type nodeAuditView struct {
	NodeID string             `json:"nodeId"`
	Kept   bool               `json:"kept" doc:"false: it keeps no audit log, as it has neither credentials nor a file for one."`
	From   *time.Time         `json:"from" doc:"The oldest line that it remembers; null: none yet."`
	Items  []ledger.AuditLine `json:"items" doc:"500 at most."`
	More   bool               `json:"more" doc:"Others that it remembers fit too."`
}

// ownAudit is the end of this node's audit log.
func ownAudit(c *serve.Call) nodeAuditView {
	q := c.Query
	v := nodeAuditView{NodeID: c.API.Config.NodeID, Kept: c.API.Config.Audit != nil}
	is := func(want, is string) bool { return want == "" || want == is }
	v.Items, v.More, v.From = c.API.Audited.Newest(func(line *ledger.AuditLine) bool {
		return is(q.Get("who"), line.Who) && is(q.Get("operation"), line.Operation) && is(q.Get("result"), line.Result) && strings.Contains(line.Target, q.Get("target"))
	})
	return v
}

func nodeAudit(c *serve.Call) (serve.Reply, error) {
	return peers.Asked(c, func() nodeAuditView { return ownAudit(c) })
}

// auditTail asks all nodes at the same time: one that hangs costs no more than its own answer.
func auditTail(c *serve.Call) (serve.Reply, error) {
	v := auditView{Items: []ledger.AuditLine{}, Nodes: []auditNodeView{}, Unasked: []string{}}
	add := func(n *nodeAuditView) {
		v.Nodes, v.Items, v.More = append(v.Nodes, auditNodeView{n.NodeID, n.Kept, n.From}), append(v.Items, n.Items...), v.More || n.More
	}
	own := ownAudit(c)
	add(&own)
	others := slices.DeleteFunc(slices.Clone(c.API.Config.Session.Members()), func(n cluster.Node) bool { return n.ID == c.API.Config.NodeID })
	theirs, errs := make([]nodeAuditView, len(others)), make([]error, len(others))
	query := c.Query.Encode()
	var all sync.WaitGroup
	for i, n := range others {
		all.Go(func() {
			errs[i] = peers.Look(c, n, serve.Prefix+"/nodes/"+url.PathEscape(n.ID)+"/audit?"+query, &theirs[i])
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
	slices.SortStableFunc(v.Items, func(a, b ledger.AuditLine) int { return b.Time.Compare(a.Time) })
	if len(v.Items) > ledger.AuditShown {
		v.Items, v.More = v.Items[:ledger.AuditShown], true
	}
	slices.SortFunc(v.Nodes, func(a, b auditNodeView) int { return cmp.Compare(a.NodeID, b.NodeID) })
	slices.Sort(v.Unasked)
	return serve.Reply{Body: v}, nil
}
