package operate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// receiptRoutes say what became of a request.
func receiptRoutes() []serve.Route {
	return []serve.Route{{Method: "GET", Path: "/receipts/{key}", Name: "getReceipts", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Costly: true,
		Summary: "What became of the requests that came with an Idempotency-Key",
		Answers: map[int]any{200: receiptsView{}}, Problems: []workflow.Code{workflow.CodeReceiptNotFound}, Serve: receipts}}
}

type receiptsView struct {
	Key      string        `json:"key"`
	Receipts []receiptView `json:"receipts" doc:"One for each route and each caller that used the key; 10 at most."`
	More     bool          `json:"more" doc:"There are others."`
	Revision int64         `json:"revision" doc:"Of etcd, at which all of this was so."`
}

type receiptView struct {
	Request        *string    `json:"request" doc:"Method and path."`
	Caller         *string    `json:"caller" doc:"Who sent it; null for a viewer, and where nobody was asked."`
	At             *time.Time `json:"at" doc:"When it came, by the clock of the node that took it."`
	KeptUntil      time.Time  `json:"keptUntil" doc:"About when the key is forgotten; a repeat is a new request from then on."`
	Open           bool       `json:"open" doc:"Something may still come of it."`
	ResponseStatus *int       `json:"responseStatus" doc:"Of what a workflow wrote as the answer to an HTTP endpoint, or of the answer that is kept for the key; null: neither."`
	Effects        []fateView `json:"effects" doc:"For each instance that it was for, 100 at most; one without an instance, while it has met none."`
	Unlisted       int        `json:"unlisted" doc:"How many there are beyond those."`

	Job *jobFateView `json:"job" doc:"That was made of it; null: none was."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

type jobFateView struct {
	ID    string `json:"id"`
	State string `json:"state" enum:"running,done,cancelled,gone" doc:"gone: it was deleted, or cannot be read."`
}

type fateView struct {
	State      string           `json:"state" enum:"applied,refused,mailbox,sending,queued,requeued,dead-letter,dropped,unknown" doc:"mailbox, sending and queued: accepted, and still there. requeued: its place was gone, and it went on as item. unknown: nothing that is kept says it."`
	InstanceID *string          `json:"instanceId"`
	CommandID  string           `json:"commandId" doc:"As the journal's commits name it."`
	Outcome    workflow.Outcome `json:"outcome" enum:"started,resumed,applied,accepted,refused,requeued,gone,dropped"`
	Code       *string          `json:"code" doc:"Why it was refused."`
	Detail     *string          `json:"detail"`
	Item       *string          `json:"item" doc:"Its id in the queue or the outbox."`
	DeadLetter *string          `json:"deadLetter" doc:"Id of the dead letter that it became."`
	LetterGone bool             `json:"deadLetterGone" doc:"It was replayed or deleted since."`
	Commit     *fateCommitView  `json:"commit" doc:"The journal entry in which it took effect; null: none, or it is not kept any more."`
}

type fateCommitView struct {
	Sequence int64      `json:"sequence"`
	Fence    int64      `json:"fence" doc:"Of the lock that it was made under; 0: none."`
	NodeID   *string    `json:"nodeId"`
	At       *time.Time `json:"at"`
}

func receipts(c *serve.Call) (serve.Reply, error) {
	key := c.Request.PathValue("key")
	if !wire.IsKey(key) {
		return serve.Reply{}, serve.Invalid("bad-idempotency-key", "", fmt.Sprintf("an Idempotency-Key has 1 to %d printable ASCII characters", wire.MostKey))
	}
	read, err := c.API.Config.Runtime.Inspector.Receipts(c.Request.Context(), key)
	if err != nil {
		return serve.Reply{}, err
	}
	p := serve.ExchangeOf(c.Request).Caller
	hide := p != nil && p.Role < auth.Operator
	return serve.Reply{Body: receiptsView{Key: key, More: read.More, Revision: read.Revision, Receipts: shape.Each(read.Of, func(r runtime.Receipt) receiptView {
		v := viewReceipt(&r)
		if hide {
			v.Caller = nil
		}
		return v
	})}}, nil
}

func viewReceipt(r *runtime.Receipt) receiptView {
	v := receiptView{
		Request: shape.Some(r.Request), Caller: shape.Some(r.Caller), At: shape.KnownTime(r.At), KeptUntil: r.KeptUntil.UTC(), Effects: []fateView{}, Unlisted: r.Unlisted,
		Damaged: r.Damage != "", Damage: r.Damage,
	}
	if r.Status != 0 {
		v.ResponseStatus = &r.Status
	}
	v.Open = r.UnderWay
	if r.Job != nil {
		v.Job, v.Open = &jobFateView{r.Job.ID, cmp.Or(string(r.Job.State), "gone")}, r.Job.Open()
	}
	for i := range r.Fates {
		f := &r.Fates[i]
		e := fateView{State: string(f.State), InstanceID: shape.Some(f.InstanceID), CommandID: f.Command, Outcome: f.Outcome, Code: shape.Some(f.Code), Detail: shape.Some(f.Detail),
			Item: shape.Some(f.Item), DeadLetter: shape.Some(f.Letter), LetterGone: f.LetterGone}
		if c := f.Commit; c != nil {
			e.Commit = &fateCommitView{c.Seq, c.Fence, shape.Some(c.Node), shape.KnownTime(c.At)}
		}
		v.Effects = append(v.Effects, e)
		v.Open = v.Open || f.Open()
	}
	return v
}
