package operate

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/runtime"
)

type balanceView struct {
	Accepted      int64      `json:"accepted" doc:"What was accepted durably since then, and what was there at that time; a stimulus once for each place that it is for."`
	Applied       int64      `json:"applied" doc:"An instance has dealt with it."`
	Refused       int64      `json:"refused" doc:"It had no effect, and its record said why."`
	Deleted       int64      `json:"deleted" doc:"Dead letters that somebody or retention deleted."`
	SetAside      int64      `json:"setAside" doc:"What weft fsck --repair has set aside."`
	Mailboxes     int64      `json:"mailboxes" doc:"Commands that wait."`
	Queue         int64      `json:"queue"`
	Sends         int64      `json:"sends" doc:"Stimuli whose targets are not resolved, or not all served."`
	DeadLetters   int64      `json:"deadLetters"`
	Difference    int64      `json:"difference" doc:"accepted less all of these. 0, unless something vanished."`
	Missing       []lostView `json:"missing" doc:"What makes the difference, the first 100."`
	Revision      int64      `json:"revision" doc:"Revision of etcd up to which it is counted."`
	At            time.Time  `json:"at"`
	SinceRevision int64      `json:"sinceRevision"`
	Since         time.Time  `json:"since"`
	Because       string     `json:"because" doc:"Why it does not go back further."`
	NodeID        string     `json:"nodeId" doc:"The node that counted last."`
}

type lostView struct {
	Key      string `json:"key" doc:"Below the root of the cluster's keys."`
	Revision int64  `json:"revision" doc:"At which it went."`
}

func balanceRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/cluster/balance", Name: "getBalance", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "What was accepted, and what became of it",
			Answers: map[int]any{200: balanceView{}}, Serve: getBalance},
	}
}

func getBalance(c *serve.Call) (serve.Reply, error) {
	b, err := c.API.Config.Runtime.Inspector.Balance(c.Request.Context())
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewBalance(b)}, nil
}

func viewBalance(b *runtime.Balance) balanceView {
	v := balanceView{
		Accepted: b.Accepted, Applied: b.Applied, Refused: b.Refused, Deleted: b.Deleted, SetAside: b.SetAside, Difference: b.Difference,
		Mailboxes: b.Waiting.Mailboxes, Queue: b.Waiting.Queue, Sends: b.Waiting.Sends, DeadLetters: b.Waiting.Dead,
		Revision: b.Revision, At: b.At.UTC(), SinceRevision: b.Since, Since: b.Began.UTC(), Because: b.Because, NodeID: b.Node, Missing: []lostView{},
	}
	for _, l := range b.Lost {
		v.Missing = append(v.Missing, lostView{Key: l.Key, Revision: l.Revision})
	}
	return v
}
