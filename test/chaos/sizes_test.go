package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Loads of rounds with large payloads: what does not fit, and what fits only one
// by one.
var sizesDefinitions = []string{`
id: hoard
variables: {kept: object, got: object}
root:
  - event: poke
    result: kept
  - writeLine: "token ${{ variables.kept.token }} ${{ variables.kept.number }}"
  - for: {start: 1, end: 6, step: 1}
    body:
      - event: poke
        result: got
      - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, `
id: relay
inputs: {document: string, parts: list}
root:
  - parallelForEach: "${{ inputs.parts }}"
    body:
      - event: "${{ 'part-' + variables.CurrentValue.token }}"
      - publishEvent: {eventName: begin, payload: {token: "${{ variables.CurrentValue.token }}", number: "${{ variables.CurrentValue.number }}", pad: "${{ inputs.document }}"}}
  - writeLine: relayed
`, `
id: sheaf
inputs: {document: string, parts: list}
root:
  - parallelForEach: "${{ inputs.parts }}"
    body:
      - executeWorkflow: {workflowDefinitionId: straw, waitForCompletion: true, input: {document: "${{ inputs.document }}"}}
  - writeLine: bound
`, `
id: straw
inputs: {document: string}
outputs: {document: "${{ inputs.document }}"}
root:
  - delay: 500ms
`}

// hoard is sent what it keeps, then what does not fit beside it, then small
// events: they must not suffer.
func (c *caller) hoard(ctx context.Context) {
	id := c.name("hoard")
	if c.start(ctx, "hoard", id, id, "", "start-"+id, nil) != ok {
		return
	}
	kept, large := id+".kept", id+".large"
	if c.sendPayload(ctx, c.node(), "poke", id, kept, "key-"+kept, sized(kept, 500<<10)) != ok {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		c.sendPayload(ctx, c.node(), "poke", id, large, "key-"+large, sized(large, 950<<10))
		c.e.count("events that did not fit alone")
	})
	for i := range 4 {
		token := fmt.Sprintf("%s.%d", id, i)
		wg.Go(func() { c.send(ctx, "poke", id, token, "key-"+token) })
	}
	wg.Wait()
}

// fitsNowhere: an event with this token does not fit beside what its instance
// keeps.
func fitsNowhere(token string) bool { return strings.HasSuffix(token, ".large") }

// overtaken: what a hoard was to keep was accepted for later, as etcd was away, and what
// does not fit beside it came first. Of the two one fits.
func (e *evidence) overtaken(token, instance string) bool {
	id, ok := strings.CutSuffix(token, ".kept")
	l := e.history.instances[instance]
	return ok && id == instance && l != nil && l.tokens[id+".large"] == 1
}

func sized(token string, n int) map[string]any {
	return map[string]any{"token": token, "number": numberOf(token), "pad": noise(token, n)}
}

// partsThatExceed times partSize are more than a commit takes.
const (
	partsThatExceed = 40
	partSize        = 56 << 10
)

func (c *caller) parts(id string) []any {
	parts := make([]any, partsThatExceed)
	for i := range parts {
		token := fmt.Sprintf("%s.%d", id, i)
		parts[i] = map[string]any{"token": token, "number": numberOf(token)}
	}
	return parts
}

// relay sends many small events to an instance that sends each on with a document:
// one fits into a commit, all of them do not.
func (c *caller) relay(ctx context.Context) {
	id := c.name("relay")
	parts := c.parts(id)
	if c.start(ctx, "relay", id, id, "", "start-"+id, map[string]any{"document": noise(id, partSize), "parts": parts}) != ok {
		return
	}
	var wg sync.WaitGroup
	for i := range parts {
		token := fmt.Sprintf("%s.%d", id, i)
		wg.Go(func() { c.trigger1(ctx, "part-"+token, id, token) })
	}
	wg.Wait()
	c.e.count("events that together exceed a commit")
}

// trigger1 sends an event that is no effect itself, but leads to one, until it is
// acknowledged; the effect is another instance's, or lost. It gives up in the end: see
// [evidence.unsent].
func (c *caller) trigger1(ctx context.Context, event, correlation, token string) {
	for range 20 {
		m := c.node()
		call := call{kind: "start", token: token, key: "part-" + token, instance: correlation, node: m.name(), from: c.e.record.now(), accepted: true}
		st := workflow.EventStimulus(event, nil)
		st.CorrelationID = correlation
		ctx, cancel := context.WithTimeout(ctx, patience)
		_, err := m.Send(ctx, st, keyOf(call.key))
		cancel()
		call.outcome, call.err = outcomeOf(err), errText(err)
		c.e.record.add(call)
		if call.outcome == ok {
			return
		}
		wait(ctx, 200*time.Millisecond) // all nodes may be paused, or etcd away
	}
}

// unsent is how many of a relay's parts nobody acknowledged: it waits for them.
func (e *evidence) unsent(relay string) int {
	sent := map[string]bool{}
	for _, c := range e.record.calls {
		if c.instance == relay && c.outcome == ok && strings.HasPrefix(c.key, "part-") {
			sent[c.token] = true
		}
	}
	return partsThatExceed - len(sent)
}

// sheaf starts an instance whose children end at about the same time, with
// outputs that together are more than a commit takes.
func (c *caller) sheaf(ctx context.Context) {
	id := c.name("sheaf")
	if c.start(ctx, "sheaf", id, "", "", "start-"+id, map[string]any{"document": noise(id, partSize), "parts": c.parts(id)}) == ok {
		c.e.count("children that together exceed a commit")
	}
}
