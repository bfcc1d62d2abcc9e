package chaos

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// The same long work behind each kind of command: nothing of it may be given up
// for the nodes that were lost over it.
var longDefinitions = []string{`
id: long-start
inputs: {ms: integer, url: string}
root:
  - WORK
  - writeLine: done
`, `
id: long-timer
inputs: {ms: integer, url: string}
root:
  - delay: 100ms
  - WORK
  - writeLine: done
`, `
id: long-parent
inputs: {ms: integer, url: string}
root:
  - executeWorkflow: {workflowDefinitionId: brief, waitForCompletion: true}
  - WORK
  - writeLine: done
`, `
id: brief
root:
  - delay: 100ms
`, `
id: long-child
inputs: {ms: integer, url: string}
root:
  - executeWorkflow: {workflowDefinitionId: long-start, waitForCompletion: true, input: {ms: "${{ inputs.ms }}", url: "${{ inputs.url }}"}}
  - writeLine: done
`, `
id: long-event
inputs: {ms: integer, url: string}
variables: {got: object}
root:
  - event: poke
    result: got
  - WORK
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`}

// longWith puts the work of this machine into the definitions.
func longWith(work string) []string {
	var out []string
	for _, d := range longDefinitions {
		out = append(out, strings.ReplaceAll(d, "WORK", work))
	}
	return out
}

// mostLosses over one burst; the fifth takeover used to be the last.
const mostLosses = 8

// hunt starts long bursts and loses whoever runs each, several times, until ctx
// ends. Of each it draws how long it takes, up to 10 TTLs, and how often it is
// disturbed.
func (e *evidence) hunt(ctx context.Context, r *rand.Rand, c *caller, lose func(ctx context.Context, instance string) bool) {
	kinds := []string{"long-start", "long-timer", "long-parent", "long-child", "long-event"}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	var hunting sync.WaitGroup
	defer hunting.Wait()
	for i := 0; ctx.Err() == nil; i++ {
		kind := kinds[i%len(kinds)]
		id := c.name(kind)
		d := ttl + time.Duration(r.Int64N(int64(9*ttl)))
		losses := 2 + r.IntN(mostLosses-1)
		if i < len(kinds) && d < 3*ttl {
			d += 3 * ttl
		}
		hunting.Go(func() {
			lasting := context.WithoutCancel(ctx)
			if c.startAs(lasting, true, kind, id, id, "", "start-"+id, c.longInput(id, d)) != ok {
				return
			}
			if kind == "long-event" {
				for range 6 {
					if c.send(lasting, "poke", id, id+".0", "key-"+id) == ok {
						break
					}
				}
			}
			e.count("long bursts")
			lost := 0
			for lost < losses && ctx.Err() == nil && wait(ctx, ttl/5+time.Duration(c.draw(int(ttl/2)))) {
				if lose(ctx, id) {
					lost++
				}
			}
			if lost >= 5 {
				e.count("long bursts that lost five nodes or more")
			}
		})
		if !wait(ctx, 3*ttl) {
			return
		}
	}
}

// wait reports whether the time passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// holderOf looks who holds an instance, or the child that it waits for: the key of
// the lock.
func (e *evidence) holderOf(ctx context.Context, instance string) (lock string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for range 2 {
		resp, err := e.direct.Get(ctx, e.history.root+"lock/instance/"+instance+"/", prefixOnly...)
		if err != nil {
			return ""
		}
		if len(resp.Kvs) > 0 {
			return string(resp.Kvs[0].Key)
		}
		rec, err := e.store.Reader.Instance(ctx, instance)
		if err != nil || rec == nil || len(rec.Header.Bookmarks) != 1 {
			return ""
		}
		payload, _ := rec.Header.Bookmarks[0].Payload.(map[string]any)
		if instance, _ = payload["childInstanceId"].(string); instance == "" {
			return ""
		}
	}
	return ""
}
