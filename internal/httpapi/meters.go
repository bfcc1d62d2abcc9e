package httpapi

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Rates are of the time since a reading that somebody asked for before: the newest of those that
// are meterLeast old or older, none older than meterMost.
const (
	meterLeast = 2 * time.Second
	meterMost  = time.Minute
)

// meter remembers what a node had counted when somebody asked, so that the next one is told
// rates. Nothing runs between two questions.
type meter struct {
	mu    sync.Mutex
	taken []reading // the oldest first
}

type reading struct {
	at time.Time
	metrics.Reading
}

// since keeps a reading, and gives the one that it is compared with; ok is false if there is none.
func (m *meter) since(now reading) (before reading, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = slices.DeleteFunc(m.taken, func(r reading) bool { return now.at.Sub(r.at) > meterMost || now.at.Before(r.at) })
	for _, r := range m.taken {
		if now.at.Sub(r.at) >= meterLeast {
			before, ok = r, true
		}
	}
	if n := len(m.taken); n == 0 || now.at.Sub(m.taken[n-1].at) >= meterLeast/2 {
		m.taken = append(m.taken, now)
	}
	return before, ok
}

func meterRoute() route {
	return route{
		method: "GET", path: "/nodes/{id}/meters", name: "getMeters", role: auth.Viewer, tag: "cluster", kind: open,
		summary: "What a node does: commits by outcome, how requests to etcd are batched, what it runs and holds, how full etcd is; any node asks it",
		answers: map[int]any{200: metersView{}}, problems: []workflow.Code{workflow.CodeNodeNotFound, workflow.CodeInvalid, workflow.CodeBusy}, serve: meters,
	}
}

type metersView struct {
	NodeID  string     `json:"nodeId"`
	At      time.Time  `json:"at" doc:"By its clock."`
	Seconds float64    `json:"seconds" doc:"That the rates are of: since somebody asked before, up to a minute ago. 0: nobody did, and there are none."`
	Commits []rateView `json:"commits" doc:"By outcome, those that there were."`
	Bursts  rateView   `json:"bursts"`

	Takeovers     int64   `json:"takeovers" doc:"Commands that another process had left and this one began, since its start."`
	CommitSeconds float64 `json:"commitSeconds" doc:"The mean time of a commit; 0: there was none."`
	ReadBatch     float64 `json:"readBatch" doc:"How many requests that only read shared a proposal to etcd, on average; 0: there was none."`
	WriteBatch    float64 `json:"writeBatch" doc:"The same of requests that may write."`

	Working  int `json:"working" doc:"Bursts that it runs."`
	Locks    int `json:"locks" doc:"That it holds."`
	InFlight int `json:"inFlight" doc:"Requests that it answers."`

	Store storeMeterView `json:"store"`
}

// rateView counts since the start of a node. Means and rates beside it are of its seconds, or
// where those are 0 since the start.
type rateView struct {
	Name      string  `json:"name"`
	Total     int64   `json:"total" doc:"Since the start of the node."`
	PerSecond float64 `json:"perSecond"`
}

type storeMeterView struct {
	InUse     int64 `json:"inUse" doc:"Bytes of etcd's fullest member."`
	Allocated int64 `json:"allocated"`
	Quota     int64 `json:"quota" doc:"On what is allocated; 0: not known yet."`
	Level     int   `json:"level" doc:"0: there is room. 1: starts are refused. 2: only what ends or deletes instances runs."`
}

func meters(c *call) (reply, error) {
	return asked(c, func() metersView {
		now := reading{c.api.cfg.Now(), c.api.cfg.Metrics.Reading()}
		before, known := c.api.meter.since(now)
		return viewMeters(c.api.cfg.NodeID, now, before, known, len(c.api.places.all))
	})
}

func viewMeters(node string, now, before reading, known bool, inFlight int) metersView {
	since, seconds := now.Reading, 0.0
	if known {
		since, seconds = now.Since(before.Reading), now.at.Sub(before.at).Seconds()
	}
	rate := func(name string, total, count float64) rateView {
		v := rateView{Name: name, Total: int64(total)}
		if seconds > 0 {
			v.PerSecond = count / seconds
		}
		return v
	}
	mean := func(m metrics.Mean) float64 {
		if m.Count <= 0 {
			return 0
		}
		return m.Sum / m.Count
	}
	v := metersView{
		NodeID: node, At: now.at.UTC(), Seconds: seconds, Commits: []rateView{}, Bursts: rate("bursts", now.Bursts, since.Bursts),
		Takeovers: int64(now.Takeovers), CommitSeconds: mean(since.Commit), ReadBatch: mean(since.Reads), WriteBatch: mean(since.Writes),
		Working: now.Working, Locks: now.Locks, InFlight: inFlight,
		Store: storeMeterView{now.StoreInUse, now.StoreAllocated, now.StoreQuota, now.StoreLevel},
	}
	for _, outcome := range slices.Sorted(maps.Keys(now.Commits)) {
		if now.Commits[outcome] > 0 {
			v.Commits = append(v.Commits, rate(outcome, now.Commits[outcome], since.Commits[outcome]))
		}
	}
	return v
}
