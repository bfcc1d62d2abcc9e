package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// SendHTTPRequest calls a service, with a branch for each status that it names.
func SendHTTPRequest() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.SendHttpRequest",
		Asks: workflow.AsksHTTP,
		Description: "Sends an HTTP request and runs the branch for the answer's status code. Any answer completes it; " +
			"a request without an answer is an incident unless failedToConnect or timeout say what to do. " +
			"The header Idempotency-Key lets the other side recognise a repeated request.",
		Main:       "url",
		Inputs:     requestInputs(),
		Outputs:    requestOutputs(),
		Ports:      []string{"unmatchedStatusCode", "failedToConnect", "timeout"},
		Cases:      "expectedStatusCodes",
		CaseBodies: true,
	}, sendHTTPRequestActivity{}
}

type sendHTTPRequestActivity struct{ branch.OneBranch }

func (sendHTTPRequestActivity) Prepare(p *engine.Preparation) {
	checkRequest(p)
	for _, c := range p.Node.Activity().Cases {
		checkStatusLabel(p, c.Label, c.Place)
	}
}

func checkStatusLabel(p *engine.Preparation, label string, place workflow.Place) {
	if n, err := strconv.Atoi(strings.TrimSpace(label)); err != nil || n < 100 || n > 599 {
		p.Problem("bad-literal", place, "expected status code %q is not a number from 100 to 599", label)
	}
}

func (sendHTTPRequestActivity) Execute(ctx context.Context, x *engine.Execution) error {
	e, err := send(ctx, x)
	if err != nil {
		return err
	}
	branch := ""
	switch {
	case e.late:
		branch = "timeout"
	case e.failure != nil:
		branch = "failedToConnect"
	}
	if branch != "" {
		n, failure := x.Node().Port(branch), fmt.Errorf("%s: %w", e.url, e.failure)
		if n == nil || retry.Of(x).Again(x.Clock(), failure) {
			return failure
		}
		x.Journal("Failed", e.failure.Error(), nil)
		x.Schedule(n, engine.Child{})
		return nil
	}
	e.publish(x)
	way, expected := x.Node().Port("unmatchedStatusCode"), false
	for _, c := range x.Node().Cases() {
		if strings.TrimSpace(c.Label) == strconv.Itoa(e.status) {
			way, expected = c.Node, true
			break
		}
	}
	e.asksToWait(x)
	policy := retry.Of(x)
	if failure := refuses(policy, e, expected, x.Clock()); failure != nil && (way == nil || policy.Again(x.Clock(), failure)) {
		return failure
	}
	x.Schedule(way, engine.Child{})
	return nil
}

// FlowSendHTTPRequest is the same in a flowchart, with an outcome for each status.
func FlowSendHTTPRequest() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.FlowSendHttpRequest",
		Description: "Sends an HTTP request in a flowchart and goes on along the answer's status code, Unmatched status code, " +
			"Failed to connect or Timeout, along Done after any answer. A failure whose port is not connected is an incident.",
		Main: "url",
		Asks: workflow.AsksHTTP,
		Inputs: append(requestInputs(), workflow.InputDescriptor{
			Name: "expectedStatusCodes", Type: "Object[]", Default: []any{200}, Description: "The status codes that have a port of their own.",
		}),
		Outputs:    requestOutputs(),
		AnyOutcome: true,
	}, flowSendHTTPRequestActivity{}
}

type flowSendHTTPRequestActivity struct{}

// connectedPorts are the ports of a flowchart's activity that lead somewhere.
type connectedPorts map[string]bool

func (flowSendHTTPRequestActivity) Prepare(p *engine.Preparation) {
	checkRequest(p)
	ports, node := connectedPorts{}, p.Node
	if parent := node.Parent(); parent != nil && parent.Type() == workflow.RetryType {
		node = parent // it stands in the flowchart
	}
	if parent := node.Parent(); parent != nil && parent.Activity() != nil {
		for _, c := range parent.Activity().Connections {
			if c.Source == node.LocalID() {
				ports[c.SourcePort] = true
			}
		}
	}
	p.SetData(ports)
	if v, ok := p.Constant("expectedStatusCodes"); ok {
		codes, _ := v.([]any)
		for _, c := range codes {
			checkStatusLabel(p, engine.Text(c), p.Place("expectedStatusCodes"))
		}
	}
}

func (flowSendHTTPRequestActivity) Execute(ctx context.Context, x *engine.Execution) error {
	e, err := send(ctx, x)
	if err != nil {
		return err
	}
	return goOn(x, e, func() error { e.publish(x); return nil })
}

// goOn completes an activity of a flowchart by what became of its request; publish sets the outputs of an answer.
func goOn(x *engine.Execution, e *exchange, publish func() error) error {
	if e.failure != nil {
		outcome := "Failed to connect"
		if e.late {
			outcome = "Timeout"
		}
		if retry.Of(x).Again(x.Clock(), e.failure) {
			return fmt.Errorf("%s: %w", e.url, e.failure)
		}
		if !x.Node().Data().(connectedPorts)[outcome] {
			return fmt.Errorf("%s: %w; nothing is connected to %q", e.url, e.failure, outcome)
		}
		x.Journal("Failed", e.failure.Error(), nil)
		x.SetOutcomes(outcome)
		return nil
	}
	if err := publish(); err != nil {
		return err
	}
	outcome, expected := "Unmatched status code", false
	for _, code := range x.List("expectedStatusCodes") {
		if engine.Text(code) == strconv.Itoa(e.status) {
			outcome, expected = strconv.Itoa(e.status), true
		}
	}
	e.asksToWait(x)
	policy := retry.Of(x)
	if failure := refuses(policy, e, expected, x.Clock()); failure != nil && (!x.Node().Data().(connectedPorts)[outcome] || policy.Again(x.Clock(), failure)) {
		return failure
	}
	x.SetOutcomes(outcome, engine.DoneOutcome)
	return nil
}
