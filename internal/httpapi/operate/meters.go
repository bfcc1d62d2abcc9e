package operate

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/client/hot"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/etcdmembers"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

func meterRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/nodes/{id}/meters", Name: "getMeters", Role: auth.Viewer, Tag: "cluster", Kind: serve.Open,
			Summary: "What a node does: commits by outcome, how requests to etcd are batched, what it runs and holds, how full etcd is; any node asks it",
			Answers: map[int]any{200: metersView{}}, Problems: []workflow.Code{workflow.CodeNodeNotFound, workflow.CodeInvalid, workflow.CodeBusy}, Serve: meters},
		{Method: "GET", Path: "/cluster/meters", Name: "listMeters", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "The same of all live nodes, asked at the same time",
			Answers: map[int]any{200: allMetersView{}}, Serve: allMeters},
	}
}

type metersView struct {
	NodeID  string     `json:"nodeId"`
	At      time.Time  `json:"at" doc:"By its clock."`
	Seconds float64    `json:"seconds" doc:"That the rates and means are of, some seconds up to now. 0: the node has just started, there are no rates, and means are of all since then."`
	Commits []rateView `json:"commits" doc:"By outcome, those that there were."`
	Bursts  rateView   `json:"bursts"`

	Takeovers      int64    `json:"takeovers" doc:"Commands that another process had left and this one began, since its start."`
	CommitSeconds  meanView `json:"commitSeconds" doc:"How long a commit took."`
	CommitCommands meanView `json:"commitCommands" doc:"How many commands a commit consumed."`
	ReadBatch      meanView `json:"readBatch" doc:"How many requests that only read shared a proposal to etcd."`
	WriteBatch     meanView `json:"writeBatch" doc:"The same of requests that may write. Without group commit there is none."`

	NotRunnable int `json:"notRunnable" doc:"Instances with work that its program cannot run or read, and leaves to others. If each live node has some, no node can run it."`

	Working  int       `json:"working" doc:"Instances that it works at the moment."`
	Locks    int       `json:"locks" doc:"That it holds."`
	InFlight int       `json:"inFlight" doc:"Requests that it answers."`
	Hot      []hotView `json:"hot" doc:"Instances that it commits once a second or more, those with the most commits first; 10 at most."`

	SessionSince *time.Time `json:"sessionSince" doc:"When its present session with etcd began, by its clock; null: it has none."`
	DrainsUntil  *time.Time `json:"drainsUntil" doc:"While it drains: when it ends at the latest, by its clock."`

	Store storeMeterView `json:"store"`

	NotReady    string         `json:"notReady" doc:"Why it should get no traffic; empty: it is ready."`
	UnreadFiles []metrics.File `json:"unreadFiles" doc:"Settings whose files cannot be taken as they are: gone, empty, cut, or with a mistake. What was read before counts on; the node's log says what is wrong."`

	EtcdMembers []etcdMemberView `json:"etcdMembers" doc:"Members of etcd by its settings; none if its etcd is embedded, or its program older."`
}

type etcdMemberView struct {
	Address          string  `json:"address" doc:"Of the endpoint."`
	Answers          bool    `json:"answers" doc:"It was asked a moment ago, and answered."`
	TakesCalls       bool    `json:"takesCalls" doc:"The node's requests go to it."`
	Why              string  `json:"why" doc:"It does not answer, or takes no calls; empty: it does both."`
	RoundTripSeconds float64 `json:"roundTripSeconds" doc:"Of its last answer; 0: there was none."`
	Leader           bool    `json:"leader"`
	Version          string  `json:"version" doc:"Of etcd; empty: it did not tell."`
}

func viewEtcdMember(m etcdmembers.Member) etcdMemberView {
	return etcdMemberView{Address: m.Address, Answers: m.Answers, TakesCalls: m.Fit, Why: m.Why, RoundTripSeconds: m.RoundTrip.Seconds(), Leader: m.Leader, Version: m.Version}
}

type meanView struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean" doc:"0 if there was none."`
}

type hotView struct {
	InstanceID string  `json:"instanceId"`
	PerSecond  float64 `json:"perSecond" doc:"Commits, of the last 10 s or so."`
}

type allMetersView struct {
	Items   []metersView `json:"items"`
	Unasked []string     `json:"unasked" doc:"Live nodes that did not answer; what they do is not known."`
}

type rateView struct {
	Name      string  `json:"name"`
	Total     int64   `json:"total" doc:"Since the start of the node."`
	PerSecond float64 `json:"perSecond"`
}

type storeMeterView struct {
	InUse     int64  `json:"inUse" doc:"Bytes of etcd's fullest member."`
	Allocated int64  `json:"allocated"`
	Quota     int64  `json:"quota" doc:"On what is allocated; 0: not known yet."`
	Level     int    `json:"level" doc:"0: there is room. 1: starts are refused. 2: only what ends or deletes instances runs. 3: nothing that writes, as the disk of an embedded etcd is full."`
	DiskFree  int64  `json:"diskFree" doc:"Bytes free on the disk of an embedded etcd."`
	DiskSize  int64  `json:"diskSize" doc:"Its size; 0: etcd is elsewhere, or it is not known."`
	Text      string `json:"text" doc:"What is so and what is refused, for people, with the numbers; empty: there is room."`
	Advice    string `json:"advice" doc:"What to do about it; empty: nothing."`
}

// mostHot is how many instances a node names.
const mostHot = 10

func meters(c *serve.Call) (serve.Reply, error) {
	return peers.Asked(c, func() metersView { return ownMeters(c.API) })
}

// allMeters asks all nodes at the same time: one that hangs costs no more than its own answer.
func allMeters(c *serve.Call) (serve.Reply, error) {
	others := slices.DeleteFunc(c.API.Config.Session.Members(), func(n cluster.Node) bool { return n.ID == c.API.Config.NodeID })
	theirs, errs := make([]metersView, len(others)), make([]error, len(others))
	var all sync.WaitGroup
	for i, n := range others {
		all.Go(func() { errs[i] = peers.Look(c, n, serve.Prefix+"/nodes/"+url.PathEscape(n.ID)+"/meters", &theirs[i]) })
	}
	v := allMetersView{Items: []metersView{ownMeters(c.API)}, Unasked: []string{}}
	all.Wait()
	for i, n := range others {
		if errs[i] != nil {
			v.Unasked = append(v.Unasked, n.ID)
			continue
		}
		v.Items = append(v.Items, theirs[i])
	}
	slices.SortFunc(v.Items, func(a, b metersView) int { return cmp.Compare(a.NodeID, b.NodeID) })
	return serve.Reply{Body: v}, nil
}

func ownMeters(a *serve.API) metersView {
	now := serve.Reading{At: a.Config.Now(), Reading: a.Config.Metrics.Reading()}
	before, known := a.Meter.Since(now)
	v := viewMeters(a.Config.NodeID, now, before, known)
	if full := a.Config.Runtime.Intake().Fullness(); full.Text != "" {
		v.Store.Level, v.Store.Text, v.Store.Advice = int(full.Level), full.Text, full.Advice
	}
	if sp := a.Config.Runtime.Intake().Space(); sp != nil {
		v.Store.DiskFree, v.Store.DiskSize = sp.Disk.Free, sp.Disk.Size
	}
	v.Working, v.InFlight = a.Config.Explainer.Owned(), a.InFlight()
	v.Hot = shape.Each(a.Config.Explainer.Hottest(mostHot), func(h hot.Instance) hotView { return hotView{h.InstanceID, h.PerSecond} })
	if err := a.Config.Ready(); err != nil {
		v.NotReady = err.Error()
	}
	if e := a.Config.Session.Epoch(); e != nil {
		v.SessionSince = shape.KnownTime(e.Began)
	}
	v.EtcdMembers = []etcdMemberView{}
	if a.Config.EtcdMembers != nil {
		v.EtcdMembers = shape.Each(a.Config.EtcdMembers(), viewEtcdMember)
	}
	if a.Config.DrainsUntil != nil {
		v.DrainsUntil = shape.KnownTime(a.Config.DrainsUntil())
	}
	return v
}

func viewMeters(node string, now, before serve.Reading, known bool) metersView {
	since, seconds := now.Reading, 0.0
	if known {
		since, seconds = now.Since(before.Reading), now.At.Sub(before.At).Seconds()
	}
	rate := func(name string, total, count float64) rateView {
		v := rateView{Name: name, Total: int64(total)}
		if seconds > 0 {
			v.PerSecond = count / seconds
		}
		return v
	}
	mean := func(m metrics.Mean) meanView {
		if m.Count <= 0 {
			return meanView{}
		}
		return meanView{int64(m.Count), m.Sum / m.Count}
	}
	v := metersView{
		NodeID: node, At: now.At.UTC(), Seconds: seconds, Commits: []rateView{}, Bursts: rate("bursts", now.Bursts, since.Bursts), Hot: []hotView{}, UnreadFiles: append([]metrics.File{}, now.Unread...),
		Takeovers: int64(now.Takeovers), CommitSeconds: mean(since.Commit), CommitCommands: mean(since.Commands), ReadBatch: mean(since.Reads), WriteBatch: mean(since.Writes),
		Locks: now.Locks, NotRunnable: now.NotRunnable, Store: storeMeterView{InUse: now.StoreInUse, Allocated: now.StoreAllocated, Quota: now.StoreQuota, Level: now.StoreLevel},
	}
	for _, outcome := range slices.Sorted(maps.Keys(now.Commits)) {
		if now.Commits[outcome] > 0 {
			v.Commits = append(v.Commits, rate(outcome, now.Commits[outcome], since.Commits[outcome]))
		}
	}
	return v
}
