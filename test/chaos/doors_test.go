package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// The other doors through which the world reaches instances: HTTP endpoints with
// the instance in their path, /stimuli, tasks and links; and triggers of
// singletons.
var doorsDefinitions = []string{`
id: callback
inputs: {id: string}
variables: {body: object}
root:
  - httpEndpoint: {path: "callback/${{ inputs.id }}", supportedMethods: [POST]}
    outputs: {parsedContent: body}
  - writeLine: "token ${{ variables.body.token }} ${{ variables.body.number }}"
  - writeHttpResponse: {statusCode: 200, content: "${{ variables.body.token }}"}
`, `
id: chore
inputs: {token: string, number: integer}
variables: {got: object}
root:
  - runTask: {taskName: chore, payload: {token: "${{ inputs.token }}", number: "${{ inputs.number }}"}}
    result: got
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, errand, trip, `
id: linked
variables: {decision: object}
outputs: {yes: string, no: string}
root:
  - parallel:
      - event: link-decided
        id: decision
        result: decision
      - - setOutput: {outputName: "yes", outputValue: "${{ resumeUrl('decision', 'yes', '72h') }}"}
        - setOutput: {outputName: "no", outputValue: "${{ resumeUrl('decision', 'no', '72h') }}"}
  - writeLine: "chosen ${{ variables.decision.outcome }}"
`, `
id: moved
variables: {got: object}
root:
  - event: poke
    result: got
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, lone(1)}

// lone is a singleton that events start: those that meet it while it runs are kept,
// refused, or dead letters. Like triggered it has versions.
func lone(version int) string {
	return `
id: lone
name: version ` + string(rune('a'+version%26)) + string(rune('a'+version/26%26)) + `
options: {activation: Singleton}
variables: {got: object}
root:
  - event: lonely
    trigger: true
    result: got
  - delay: 250ms
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`
}

// ask makes one request of the HTTP API of any node. Every number beside a token
// in the answer is checked.
func (c *caller) ask(ctx context.Context, m target, method, path string, body any, key string, out any, headers ...string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var raw json.RawMessage
	status, err := m.ask(ctx, method, path, body, keyOf(key), &raw, headers...)
	wrong, seen := wrongNumbers(raw)
	c.e.countN("numbers seen in answers", int64(seen))
	for _, w := range wrong {
		c.e.record.violate("number", "%s %s answered: %s", method, path, w)
	}
	if text, is := out.(*json.RawMessage); is {
		*text = raw // whatever it is
	} else if err == nil && out != nil && len(raw) > 0 {
		err = json.Unmarshal(raw, out)
	}
	return status, err
}

// said tells what an HTTP answer says about the effect.
func said(status int, err error) outcome {
	switch {
	case err == nil:
		return ok
	case status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout:
		return refused
	}
	return outcomeOf(err)
}

// door makes a request that is an event with a token, under a key, until its
// outcome is known. It gives the last one.
func (c *caller) door(ctx context.Context, instance, token, method, path string, body any) (last outcome, answer json.RawMessage, code workflow.Code) {
	for range 6 {
		m := c.node()
		call := call{kind: "door", token: token, key: "key-" + token, instance: instance, node: m.name(), from: c.e.record.now()}
		status, err := c.ask(ctx, m, method, path, body, call.key, &answer)
		call.outcome, call.err, call.accepted = said(status, err), errText(err), status == http.StatusAccepted
		if call.outcome == refused && last == unknown {
			call.outcome = unknown // what came before it may have been the effect
		}
		c.e.record.add(call)
		c.rest(ctx, err)
		last, code = call.outcome, workflow.CodeOf(err)
		if last != unknown && code != workflow.CodePaused {
			break
		}
	}
	return last, answer, code
}

// callback starts an instance that waits at a path of its own, and calls it there.
func (c *caller) callback(ctx context.Context) {
	id := c.name("callback")
	started, applied := c.startApplied(ctx, "callback", id, map[string]any{"id": id})
	if started != ok {
		return
	}
	token := id + ".0"
	got, answer, code := c.door(ctx, id, token, "POST", "/workflows/callback/"+id, payloadOf(token, c.sizes))
	c.e.count("requests for endpoints")
	if got == refused && applied && code == workflow.CodeRouteNotFound {
		c.e.record.violate("endpoint-deaf", "%s waits, and its path is refused", id)
	}
	if text := string(answer); got == ok && text != token && !strings.Contains(text, `"outcome`) { // 202: accepted
		c.e.record.violate("endpoint-answer", "%s was answered %q", id, text)
	}
}

// startApplied starts an instance; applied if its first burst is known to be over.
func (c *caller) startApplied(ctx context.Context, def, id string, input map[string]any) (outcome, bool) {
	out := c.startAs(ctx, false, def, id, id, "", "start-"+id, input)
	c.e.record.mu.Lock()
	defer c.e.record.mu.Unlock()
	for _, call := range slices.Backward(c.e.record.calls) {
		if call.kind == "start" && call.instance == id {
			return out, out == ok && !call.accepted
		}
	}
	return out, false
}

// chore starts an instance with a task for outside.
func (c *caller) chore(ctx context.Context) {
	id := c.name("chore")
	c.start(ctx, "chore", id, id, "", "start-"+id, map[string]any{"token": id, "number": numberOf(id)})
}

// worker does the tasks of a page; some it fails, and the instances that it failed
// it retries. Others do the same: each task is done once.
func (c *caller) worker(ctx context.Context, fails bool) (seen int) {
	var page struct {
		Items []struct{ TaskID, InstanceID string }
	}
	if _, err := c.ask(ctx, c.node(), "GET", "/tasks?name=chore&limit=20", nil, "", &page); err != nil {
		return -1
	}
	for _, task := range page.Items {
		path := "/tasks/" + url.PathEscape(task.TaskID) + "/complete"
		if fails && c.draw(4) == 0 {
			if _, err := c.ask(ctx, c.node(), "POST", path, map[string]any{"error": "out of string"}, "", nil); err == nil {
				c.e.count("tasks failed")
			}
			continue
		}
		token := task.InstanceID + ".done"
		if got, _, _ := c.door(ctx, task.InstanceID, token, "POST", path, map[string]any{"result": payloadOf(token, c.sizes)}); got == ok {
			c.e.count("tasks done")
		}
	}
	return len(page.Items)
}

// retry runs what a worker failed again: one instance, or all.
func (c *caller) retry(ctx context.Context) (retried int) {
	var faulted struct {
		Items []struct{ InstanceID string }
	}
	if c.draw(2) == 0 {
		var result struct{ Retried []string }
		if _, err := c.ask(ctx, c.node(), "POST", "/instances/retry", map[string]any{"definitionId": "chore"}, "", &result); err == nil {
			retried = len(result.Retried)
		}
	} else if _, err := c.ask(ctx, c.node(), "GET", "/instances?definitionId=chore&subStatus=Faulted&limit=20", nil, "", &faulted); err == nil {
		for _, in := range faulted.Items {
			if _, err := c.ask(ctx, c.node(), "POST", "/instances/"+in.InstanceID+"/retry", nil, "", nil); err == nil {
				retried++
			}
		}
	}
	c.e.countN("instances retried", int64(retried))
	return retried
}

// link starts an instance, and two people follow two links at once: one is heard.
func (c *caller) link(ctx context.Context) {
	id := c.name("linked")
	if c.start(ctx, "linked", id, id, "", "start-"+id, nil) != ok {
		return
	}
	var in struct {
		Output struct{ Yes, No string }
	}
	for range 10 {
		if _, err := c.ask(ctx, c.node(), "GET", "/instances/"+id, nil, "", &in); err == nil && in.Output.No != "" {
			break
		}
		wait(ctx, ttl/20)
	}
	if in.Output.No == "" {
		return // the end of the run sees to it
	}
	var wg sync.WaitGroup
	for _, l := range []string{in.Output.Yes, in.Output.No} {
		wg.Go(func() { c.follow(ctx, id, l) })
	}
	wg.Wait()
}

func (c *caller) follow(ctx context.Context, id, link string) {
	i := strings.Index(link, "/links/")
	if i < 0 {
		c.e.record.violate("link", "%s made the link %q", id, link)
		return
	}
	m := c.node()
	call := call{kind: "link", instance: id, node: m.name(), from: c.e.record.now()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := m.ask(ctx, "POST", link[i:], nil, nil, nil)
	if call.outcome = said(status, err); call.outcome == ok {
		c.e.count("links followed")
	}
	call.accepted, call.err = status == http.StatusAccepted, errText(err)
	c.e.record.add(call)
}

// move exports an instance and imports it again, while others do the same and an
// event is on its way to it.
func (c *caller) move(ctx context.Context) {
	id := c.name("moved")
	if c.start(ctx, "moved", id, id, "", "start-"+id, nil) != ok {
		return
	}
	var wg sync.WaitGroup
	for range 1 + c.draw(2) {
		wg.Go(func() {
			var state json.RawMessage
			var at struct{ Sequence int64 }
			if _, err := c.ask(ctx, c.node(), "GET", "/instances/"+id+"/state", nil, "", &state); err != nil || json.Unmarshal(state, &at) != nil {
				return
			}
			if _, err := c.ask(ctx, c.node(), "PUT", "/instances/"+id+"/state", state, "", nil, "If-Match", fmt.Sprintf("%q", strconv.FormatInt(at.Sequence, 10))); err == nil {
				c.e.count("instances imported")
			}
		})
	}
	if c.draw(2) == 0 {
		wg.Wait() // the others at once with the event
	}
	token := id + ".0"
	for range 6 {
		if c.send(ctx, "poke", id, token, "key-"+token) == ok {
			break
		}
	}
	wg.Wait()
}

// lonely sends events for a singleton, published ones too, and now and then takes
// the singleton back for a while, so that some are queued and meet it later.
func (c *caller) lonely(ctx context.Context) {
	switch c.draw(8) {
	case 0:
		m := c.node()
		bound, cancel := context.WithTimeout(ctx, patience)
		_ = m.Retract(bound, "lone")
		cancel()
		for range 3 {
			c.send(ctx, "lonely", "", c.name("lonely"), "")
		}
		c.publishAgain(ctx)
	case 1, 2:
		id := c.name("herald")
		token := "published-" + id
		c.start(ctx, "herald", id, "", token, "", map[string]any{"token": token, "number": numberOf(token)})
		c.e.count("singletons started by published events")
	default:
		c.send(ctx, "lonely", "", c.name("lonely"), "")
	}
}

func (c *caller) publishAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.node().Publish(ctx, lone(c.draw(600))) == nil {
		c.e.count("singletons published for queued events")
	}
}

// herald publishes an event for the singleton.
const herald = `
id: herald
inputs: {token: string, number: integer}
root:
  - publishEvent: {eventName: lonely, payload: {token: "${{ inputs.token }}", number: "${{ inputs.number }}"}}
  - writeLine: announced
`

// stimulate sends an event through /stimuli.
func (c *caller) stimulate(ctx context.Context, m target, event, correlation, token, key string) outcome {
	call := call{token: token, key: key, instance: correlation, node: m.name(), from: c.e.record.now()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body := map[string]any{"activityType": workflow.EventType, "stimulus": workflow.EventPayload(event), "correlationId": correlation,
		"input": map[string]any{workflow.EventInput: payloadOf(token, c.sizes)}}
	res, err := sendResult(ctx, m, "/stimuli", body, keyOf(key))
	c.e.count("stimuli")
	c.e.record.sent(call, res, err)
	return outcomeOf(err)
}

// finishDoors ends what still waits at one of these doors.
func (e *evidence) finishDoors(ctx context.Context, c *caller) error {
	for name, finish := range map[string]func(workflow.Instance){
		"callback": func(in workflow.Instance) {
			token := in.ID + ".more"
			c.door(ctx, in.ID, token, "POST", "/workflows/callback/"+in.ID, payloadOf(token, c.sizes))
		},
		"errand": func(workflow.Instance) { c.claimer(ctx, false) },
		"trip":   func(workflow.Instance) { c.claimer(ctx, false) },
		"linked": func(in workflow.Instance) {
			link, _ := in.Output["yes"].(string)
			c.follow(ctx, in.ID, link)
		},
		"account": func(in workflow.Instance) {
			token := in.ID + ".more"
			c.door(ctx, in.ID, token, "POST", "/stimuli", map[string]any{"activityType": "chaos.Await", "correlationId": in.ID,
				"stimulus": map[string]any{"account": numberOf(in.ID)}, "input": map[string]any{workflow.EventInput: payloadOf(token, c.sizes)}})
		},
	} {
		for left := 1; left > 0; wait(ctx, 50*time.Millisecond) { // an older program may refuse it
			left = 0
			if err := e.running(ctx, name, func(in workflow.Instance) {
				left++
				finish(in)
			}); err != nil {
				return fmt.Errorf("finish %s: %w", name, err)
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%d instances of %s do not end: %w", left, name, ctx.Err())
			}
		}
	}
	for quiet := 0; quiet < 2; {
		if c.retry(ctx)+c.worker(ctx, false) == 0 {
			quiet++
			continue
		}
		quiet = 0
		if ctx.Err() != nil {
			return fmt.Errorf("tasks never ended: %w", ctx.Err())
		}
	}
	return nil
}
