package shape

import (
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// AnswerSent is the answer to what was sent, or why it was not.
func AnswerSent(res runtime.SendResult, err error) (serve.Reply, error) {
	if err != nil {
		return serve.Reply{}, err
	}
	return ViewOutcomes(res), nil
}

// Outcome is what a stimulus did to one instance.
type Outcome struct {
	InstanceID string           `json:"instanceId"`
	Outcome    workflow.Outcome `json:"outcome" enum:"started,resumed,accepted,refused"`
	Code       string           `json:"code,omitempty" doc:"Why it was refused."`
}

// Sent is what a stimulus did.
type Sent struct {
	Outcomes []Outcome `json:"outcomes"`
	Detail   string    `json:"detail,omitempty" doc:"Of an HTTP endpoint: why the workflow has not answered yet."`
}

// Queued names the item of the queue that a stimulus became.
type Queued struct {
	Queued string `json:"queued" doc:"Id of the item in the bookmark queue."`
}

// ViewOutcomes is the answer to a stimulus: 200, or 202 when something is durable
// and not yet applied.
func ViewOutcomes(res runtime.SendResult) serve.Reply {
	answer := serve.Reply{}
	if res.Accepted() {
		answer.Status = 202
	}
	if res.Queued != "" && len(res.Outcomes) == 0 {
		answer.Body, answer.Location = Queued{res.Queued}, serve.Prefix+"/queue"
		return answer
	}
	view := Sent{Outcomes: make([]Outcome, 0, len(res.Outcomes))}
	for _, o := range res.Outcomes {
		view.Outcomes = append(view.Outcomes, Outcome{o.InstanceID, o.Outcome, o.Code})
		if o.Outcome == workflow.OutcomeAccepted && answer.Location == "" {
			answer.Location = InstancePath(o.InstanceID)
		}
	}
	answer.Body = view
	return answer
}
