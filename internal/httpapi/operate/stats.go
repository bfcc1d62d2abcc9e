package operate

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// statsRoutes say how many there are.
func statsRoutes() []serve.Route {
	return []serve.Route{{Method: "GET", Path: "/stats", Name: "getStats", Role: auth.Viewer, Tag: "instances", Kind: serve.Reads, Costly: true,
		Summary: "How many instances there are, by sub-status and by definition",
		Query: []serve.Param{
			{Name: "definitionId", Type: "string", Doc: "Only of this definition, and by its versions."},
			{Name: "by", Type: "string", Values: []string{"definition", "version", "total"}, Doc: "What items are by: version counts each version of each definition, total has no items; definition if absent."},
		},
		Answers: map[int]any{200: statsView{}}, Serve: stats}}
}

type statsView struct {
	Instances   countView       `json:"instances" doc:"All of them."`
	BySubStatus subStatusCounts `json:"bySubStatus"`
	Items       []statView      `json:"items" doc:"By definition, or by version if definitionId or by=version is given; those without instances are left out."`
	More        bool            `json:"more" doc:"There are more definitions and versions than are counted: all of this is too little."`
	Revision    int64           `json:"revision" doc:"Of etcd, at which all of this was so."`
	At          time.Time       `json:"at" doc:"When it was counted, by the clock of the node that answers; some seconds ago, if somebody else asked then."`
}

// countView is a number that may be larger than it says.
type countView struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact" doc:"false: so many at least."`
}

type subStatusCounts struct {
	Pending   countView `json:"pending"`
	Executing countView `json:"executing"`
	Suspended countView `json:"suspended"`
	Finished  countView `json:"finished"`
	Cancelled countView `json:"cancelled"`
	Faulted   countView `json:"faulted"`
}

type statView struct {
	DefinitionID string          `json:"definitionId"`
	Version      *int            `json:"version" doc:"null: all of them."`
	Instances    countView       `json:"instances"`
	BySubStatus  subStatusCounts `json:"bySubStatus"`
}

// tally adds up.
type tally map[workflow.SubStatus]countView

func (t tally) add(c *runtime.Count) {
	was, counted := t[c.SubStatus]
	t[c.SubStatus] = countView{was.Count + c.Count, (was.Exact || !counted) && !c.More}
}

func (t tally) of(sub workflow.SubStatus) countView {
	if n, counted := t[sub]; counted {
		return n
	}
	return countView{Exact: true}
}

func (t tally) all() countView {
	sum := countView{Exact: true}
	for _, n := range t {
		sum = countView{sum.Count + n.Count, sum.Exact && n.Exact}
	}
	return sum
}

func (t tally) view() subStatusCounts {
	return subStatusCounts{
		t.of(workflow.Pending), t.of(workflow.Executing), t.of(workflow.Suspended), t.of(workflow.Finished), t.of(workflow.Cancelled), t.of(workflow.Faulted),
	}
}

func stats(c *serve.Call) (serve.Reply, error) {
	definition := c.Query.Get("definitionId")
	if c.Query.Has("definitionId") {
		if err := workflow.CheckID("definitionId", definition); err != nil {
			return serve.Reply{}, serve.Invalid("bad-id", "/definitionId", err.Error())
		}
	}
	counts, err := c.API.Config.Runtime.Inspector.Counts(c.Request.Context())
	if err != nil {
		return serve.Reply{}, err
	}
	type row struct {
		definition string
		version    int
	}
	all, rows := tally{}, map[row]tally{}
	for i := range counts.Lists {
		n := &counts.Lists[i]
		at := row{definition: n.DefinitionID}
		if definition != "" || c.Query.Get("by") == "version" {
			at.version = n.Version
		}
		if definition != "" && n.DefinitionID != definition {
			continue
		}
		if rows[at] == nil {
			rows[at] = tally{}
		}
		rows[at].add(n)
		all.add(n)
	}
	sum := all.all()
	sum.Exact = sum.Exact && !counts.More
	v := statsView{Instances: sum, BySubStatus: all.view(), Items: []statView{}, More: counts.More, Revision: counts.Revision, At: counts.At}
	if c.Query.Get("by") == "total" {
		rows = nil
	}
	for at, t := range rows {
		item := statView{DefinitionID: at.definition, Instances: t.all(), BySubStatus: t.view()}
		if at.version != 0 {
			item.Version = &at.version
		}
		v.Items = append(v.Items, item)
	}
	slices.SortFunc(v.Items, func(a, b statView) int {
		if d := cmp.Compare(a.DefinitionID, b.DefinitionID); d != 0 || a.Version == nil || b.Version == nil {
			return d
		}
		return cmp.Compare(*a.Version, *b.Version)
	})
	return serve.Reply{Body: v}, nil
}
