package operate

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/inspect"
)

type etcdView struct {
	NodeID   string        `json:"nodeId" doc:"The node that asked."`
	At       time.Time     `json:"at" doc:"By its clock."`
	State    string        `json:"state" enum:"ok,degraded,down" doc:"degraded: it works, and something is wrong that may stop it. down: it does not answer, or takes no writes."`
	Seconds  *float64      `json:"seconds" doc:"That a read took which most members confirm; null: it was not answered within 2 s."`
	Members  []memberView  `json:"members" doc:"Those that the node knows, by --etcd-endpoints."`
	Troubles []troubleView `json:"troubles" doc:"What is wrong, the worst first."`
}

type memberView struct {
	Name    string   `json:"name" doc:"Host and port of its endpoint."`
	Answers bool     `json:"answers"`
	Error   string   `json:"error" doc:"Why it does not answer; empty: it does."`
	Seconds float64  `json:"seconds" doc:"That its answer took."`
	ID      string   `json:"id" doc:"As etcdctl has it; empty: it does not answer."`
	Version string   `json:"version"`
	Leader  bool     `json:"leader" doc:"Whether it is the leader, as it says."`
	Knows   bool     `json:"knowsLeader" doc:"Whether it knows of a leader."`
	Learner bool     `json:"learner"`
	Alarms  []string `json:"alarms" doc:"NOSPACE or CORRUPT."`
}

type troubleView struct {
	State string `json:"state" enum:"degraded,down"`
	Text  string `json:"text"`
	Do    string `json:"do" doc:"What to do about it."`
}

func etcdRoutes(cfg *serve.Config) []serve.Route {
	if cfg.Etcd == nil {
		return nil
	}
	return []serve.Route{
		{Method: "GET", Path: "/cluster/etcd", Name: "getEtcd", Role: auth.Viewer, Tag: "cluster", Kind: serve.Open,
			Summary: "How etcd answers the node that is asked: a round trip, and each member with its version, leader and alarms; within 2 s, also where it does not answer",
			Answers: map[int]any{200: etcdView{}}, Serve: getEtcd},
	}
}

func getEtcd(c *serve.Call) (serve.Reply, error) {
	return serve.Reply{Body: viewEtcd(c.API.Config.NodeID, c.API.Config.Etcd(c.Request.Context()))}, nil
}

func viewEtcd(node string, h inspect.Etcd) etcdView {
	v := etcdView{NodeID: node, At: h.At.UTC(), State: h.State(), Members: []memberView{}, Troubles: []troubleView{}}
	if h.Err == nil {
		v.Seconds = new(h.RoundTrip.Seconds())
	}
	for i := range h.Members {
		m := &h.Members[i]
		one := memberView{Name: m.Name(), Answers: m.Err == nil, Alarms: append([]string{}, m.Alarms...)}
		if m.Err != nil {
			one.Error = m.Err.Error()
		} else {
			one.Seconds, one.ID, one.Version, one.Leader, one.Knows, one.Learner = m.Took.Seconds(), fmt.Sprintf("%x", m.ID), m.Version, m.Leader == m.ID, m.Leader != 0, m.Learner
		}
		v.Members = append(v.Members, one)
	}
	for _, t := range h.Troubles() {
		v.Troubles = append(v.Troubles, troubleView{t.State, t.Text, t.Do})
	}
	return v
}
