package chaos

import (
	"context"
	"maps"
	"net/url"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Workers claim the tasks of these two for leases that are short. What a worker leaves, fails and is too slow for is another
// attempt, of the retry of one, and of the same task of the other. Whatever of a node or a worker is lost when, the result of
// one worker is taken, once.
const (
	errand = `
id: errand
inputs: {token: string, number: integer, urgent: integer}
variables: {got: object}
root:
  - runTask: {taskName: errand, priority: "${{ inputs.urgent }}", fairBy: "${{ inputs.token }}", doneWithin: 10s, payload: {token: "${{ inputs.token }}", number: "${{ inputs.number }}"}}
    retry: {attempts: 500, delay: 20ms, maxDelay: 100ms}
    result: got
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`
	trip = `
id: trip
inputs: {token: string, number: integer, urgent: integer}
variables: {got: object}
root:
  - runTask: {taskName: errand, priority: "${{ inputs.urgent }}", payload: {token: "${{ inputs.token }}", number: "${{ inputs.number }}"}}
    result: got
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`
)

const errandLease = time.Second // the shortest that there is

// errand starts an instance with a task that is to be claimed.
func (c *caller) errand(ctx context.Context) {
	definition := []string{"errand", "trip"}[c.draw(2)]
	id := c.name(definition)
	c.start(ctx, definition, id, id, "", "start-"+id, map[string]any{"token": id, "number": numberOf(id), "urgent": c.draw(10)})
}

// claims claims and does tasks, carelessly, until ctx ends.
func (c *caller) claims(ctx context.Context) {
	for wait(ctx, time.Duration(20+c.draw(200))*time.Millisecond) {
		c.claimer(context.WithoutCancel(ctx), true)
	}
}

// claimer claims tasks and does them. One that is careless dies with some, fails and gives back others, and reports late.
func (c *caller) claimer(ctx context.Context, careless bool) {
	var got struct {
		Items []struct{ TaskID, InstanceID, Claim string }
	}
	ask := map[string]any{"names": []string{"errand"}, "max": 1 + c.draw(4), "lease": errandLease.String(), "worker": c.name("claimer")}
	if _, err := c.ask(ctx, c.node(), "POST", "/tasks/claim", ask, "", &got); err != nil {
		c.rest(ctx, err)
		return
	}
	for _, task := range got.Items {
		path := "/tasks/" + url.PathEscape(task.TaskID)
		with := func(more map[string]any) map[string]any {
			body := map[string]any{"claim": task.Claim}
			maps.Copy(body, more)
			return body
		}
		does := 9
		if careless {
			does = c.draw(10)
		}
		switch does {
		case 0, 1:
			c.e.count("workers that died")
			continue
		case 2:
			if _, err := c.ask(ctx, c.node(), "POST", path+"/fail", with(map[string]any{"kind": "jam", "message": "out of string", "retry": true}), "", nil); err == nil {
				c.e.count("claimed tasks failed")
			}
			continue
		case 3:
			if _, err := c.ask(ctx, c.node(), "POST", path+"/release", with(nil), "", nil); err == nil {
				c.e.count("claimed tasks given back")
			}
			continue
		case 4:
			_, _ = c.ask(ctx, c.node(), "POST", path+"/heartbeat", with(map[string]any{"progress": 50}), "", nil)
		case 5:
			wait(ctx, errandLease+time.Duration(c.draw(1000))*time.Millisecond)
		}
		token := c.name(task.InstanceID + ".by") // of this attempt alone
		switch out, _, code := c.door(ctx, task.InstanceID, token, "POST", path+"/complete", with(map[string]any{"result": payloadOf(token, c.sizes)})); {
		case out == ok:
			c.e.count("claimed tasks done")
		case code == workflow.CodeTaskClaimLost || code == workflow.CodeTaskNotFound:
			c.e.count("claims that were lost")
		}
	}
}
