package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// target is a node as its callers see it: in this process, or a process of its
// own behind HTTP.
type target interface {
	name() string
	// ask makes a request of the HTTP API, of an endpoint or of a link.
	ask(ctx context.Context, method, path string, body any, key *runtime.Key, out any, headers ...string) (status int, err error)
	Send(context.Context, workflow.Stimulus, *runtime.Key) (runtime.SendResult, error)
	Execute(context.Context, runtime.StartRequest) (runtime.StartResult, error)
	Dispatch(context.Context, runtime.StartRequest) (id string, err error)
	Journal(ctx context.Context, id, cursor string, limit int) (runtime.Page[workflow.JournalEntry], error)
	Cancel(ctx context.Context, id string) (accepted bool, err error)
	Delete(ctx context.Context, id string) (accepted bool, err error)
	Publish(ctx context.Context, source string) error
	Retract(ctx context.Context, definition string) error
}

// caller is one client of the cluster; a call goes to any node.
type caller struct {
	e         *evidence
	pick      func(n int) target             // the nth of the live ones, round and round
	slowInput func(id string) map[string]any // what makes the slow definitions slow; nil: nothing has to be said
	longInput func(id string, d time.Duration) map[string]any
	traits    traits
	sizes     sizing
	n         int
	id        int
	mu        sync.Mutex
	r         *rand.Rand // guarded by mu
}

func (c *caller) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

func (c *caller) node() target { return c.pick(c.draw(60)) }

// name gives a name that no other call has.
func (c *caller) name(what string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return fmt.Sprintf("%s-%d-%d", what, c.id, c.n)
}

// run calls until ctx ends.
func (c *caller) run(ctx context.Context) {
	type act struct {
		weight int
		do     func(context.Context)
	}
	acts := []act{
		{30, c.newborn}, {12, c.all}, {1, c.crowd}, {12, c.keyed}, {8, c.sleeper}, {8, c.parent},
		{8, c.victim}, {10, c.trigger}, {6, c.announce}, {4, c.single}, {3, c.slow}, {3, c.rivals}, {1, c.republish},
		{6, c.callback}, {5, c.chore}, {10, c.errand}, {3, c.link}, {4, c.move}, {6, c.lonely}, {8, c.novelty},
	}
	if c.traits.large {
		acts = append(acts, act{2, c.hoard}, act{1, c.sheaf})
		if !c.traits.tight { // its parts would expire while it starts
			acts = append(acts, act{1, c.relay})
		}
	}
	if c.traits.wide {
		acts = append(acts, act{3, c.wide})
	}
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	for ctx.Err() == nil {
		n := c.draw(total)
		for _, a := range acts {
			if n -= a.weight; n < 0 {
				a.do(context.WithoutCancel(ctx))
				break
			}
		}
	}
}

const patience = 8 * time.Second // of a caller

func (c *caller) send(ctx context.Context, event, correlation, token, key string) outcome {
	return c.sendTo(ctx, c.node(), event, correlation, token, key)
}

func (c *caller) sendTo(ctx context.Context, m target, event, correlation, token, key string) outcome {
	if numberOf(token)%16 == 7 { // a key holds for one route, so repeats go the same way
		return c.stimulate(ctx, m, event, correlation, token, key)
	}
	return c.sendPayload(ctx, m, event, correlation, token, key, payloadOf(token, c.sizes))
}

func (c *caller) sendPayload(ctx context.Context, m target, event, correlation, token, key string, payload map[string]any) outcome {
	call := call{token: token, key: key, node: m.name(), from: c.e.record.now()}
	st := workflow.EventStimulus(event, payload)
	if pad, _ := payload["pad"].(string); len(pad) >= largestPayload {
		c.e.count("payloads at the limit")
	}
	st.CorrelationID = correlation
	if correlation != "" {
		call.instance = correlation // correlations are the ids of their only instance
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	res, err := m.Send(ctx, st, keyOf(key))
	c.e.record.sent(call, res, err)
	c.rest(ctx, err)
	return outcomeOf(err)
}

// rest waits a little when nothing is taken now, as a client should.
func (c *caller) rest(ctx context.Context, err error) {
	if code := workflow.CodeOf(err); code == workflow.CodePaused || code == workflow.CodeDefinitionNotFound {
		wait(ctx, 50*time.Millisecond)
	}
}

func keyOf(key string) *runtime.Key {
	if key == "" {
		return nil
	}
	return &runtime.Key{Scope: "chaos", Value: key, BodyHash: "b"}
}

// start starts an instance, dispatching it at times.
func (c *caller) start(ctx context.Context, def, id, correlation, token, key string, input map[string]any) outcome {
	return c.startAs(ctx, c.draw(4) == 0, def, id, correlation, token, key, input)
}

func (c *caller) startAs(ctx context.Context, dispatch bool, def, id, correlation, token, key string, input map[string]any) outcome {
	m := c.node()
	call := call{kind: "start", token: token, key: key, instance: id, node: m.name(), from: c.e.record.now()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req := runtime.StartRequest{DefinitionID: def, InstanceID: id, CorrelationID: correlation, Input: input, Key: keyOf(key)}
	var err error
	if dispatch {
		call.accepted = true
		_, err = m.Dispatch(ctx, req)
	} else {
		var res runtime.StartResult
		res, err = m.Execute(ctx, req)
		call.accepted = res.Accepted
		if err == nil && res.Instance.ID != id {
			c.e.record.violate("start-answer", "asked for instance %s, got %q", id, res.Instance.ID)
		}
	}
	call.outcome, call.err = outcomeOf(err), errText(err)
	if workflow.CodeOf(err) == workflow.CodeInstanceExists {
		// A start without a key that came to a second try of its own: the id is
		// taken, by whom the caller cannot know.
		call.outcome = unknown
	}
	c.e.record.add(call)
	c.rest(ctx, err)
	return call.outcome
}

// newborn starts an instance while events for it are already under way.
func (c *caller) newborn(ctx context.Context) {
	id := c.name("collect")
	key := ""
	if c.draw(2) == 0 {
		key = "start-" + id
	}
	var wg sync.WaitGroup
	for range 1 + c.draw(2) {
		if wg.Go(func() { c.start(ctx, "collect", id, id, "", key, nil) }); key == "" {
			break // without a key the second would be another start
		}
	}
	for i := range 5 {
		token := fmt.Sprintf("%s.%d", id, i)
		if i == 4 && c.draw(4) == 0 {
			by := c.name("announce")
			wg.Go(func() {
				c.start(ctx, "announce", by, "", token, "", map[string]any{"token": token, "number": numberOf(token), "to": id})
			})
			continue
		}
		wg.Go(func() { c.send(ctx, "poke", id, token, "") })
	}
	wg.Wait()
	c.read(ctx, id)
}

// itemsOf are the items of a page of a journal.
func itemsOf(page runtime.Page[workflow.JournalEntry]) (items []workflow.JournalItem) {
	for _, e := range page.Items {
		items = append(items, e.Items...)
	}
	return items
}

// read looks what an instance has written.
func (c *caller) read(ctx context.Context, id string) {
	rd := read{instance: id, from: c.e.record.now()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	page, err := c.node().Journal(ctx, id, "", 500)
	if err != nil {
		return
	}
	for _, it := range itemsOf(page) {
		if it.Event == "WriteLine" {
			rd.lines = append(rd.lines, it.Text)
			if token, is := tokenIn(it.Text); is && it.Text != line(token) {
				c.e.record.violate("number", "%s answered %q, not %q", id, it.Text, line(token))
			}
		}
	}
	c.e.record.addRead(rd)
}

// all sends an event for several instances.
func (c *caller) all(ctx context.Context) {
	key := ""
	token := c.name("all")
	if c.draw(3) == 0 {
		key = token
	}
	c.send(ctx, "all", "", token, key)
}

// crowd sends one for more than fit into one transaction.
func (c *caller) crowd(ctx context.Context) { c.send(ctx, "crowd", "", c.name("crowd"), "") }

// keyed sends each event several times, to several nodes, until one answers.
func (c *caller) keyed(ctx context.Context) {
	id := c.name("collect")
	if c.start(ctx, "collect", id, id, "", "start-"+id, nil) != ok {
		return // the end of the run sees to it
	}
	for i := range 5 {
		token := fmt.Sprintf("%s.%d", id, i)
		for range 4 {
			var wg sync.WaitGroup
			outcomes := make([]outcome, 1+c.draw(3))
			for j := range outcomes {
				wg.Go(func() { outcomes[j] = c.send(ctx, "poke", id, token, "key-"+token) })
			}
			wg.Wait()
			if slices.Contains(outcomes, ok) {
				break
			}
		}
		if c.draw(3) == 0 {
			c.read(ctx, id)
		}
	}
}

func (c *caller) sleeper(ctx context.Context) {
	c.start(ctx, "sleeper", c.name("sleeper"), "", "", "", nil)
}

func (c *caller) parent(ctx context.Context) {
	id := c.name("parent")
	c.start(ctx, "parent", id, "", "", "", map[string]any{"token": id, "number": numberOf(id)})
}

// single starts what may run only once at a time; the others are refused.
func (c *caller) single(ctx context.Context) {
	c.start(ctx, "single", c.name("single"), "", "", "", nil)
}

// slow starts what takes long.
func (c *caller) slow(ctx context.Context) {
	id := c.name("slow")
	c.start(ctx, "slow", id, "", "", "", c.slowness(id))
}

func (c *caller) slowness(id string) map[string]any {
	if c.slowInput == nil {
		return nil
	}
	return c.slowInput(id)
}

// rivals send several events to one node for the only place where an instance
// waits. It takes long over the first, so that all of them are accepted.
func (c *caller) rivals(ctx context.Context) {
	id := c.name("ponder")
	if c.start(ctx, "ponder", id, id, "", "start-"+id, c.slowness(id)) != ok {
		return
	}
	m := c.node()
	var wg sync.WaitGroup
	for i := range 2 + c.draw(2) {
		token, key := fmt.Sprintf("%s.%d", id, i), ""
		if c.draw(2) == 0 {
			key = "key-" + token
		}
		wg.Go(func() { c.sendTo(ctx, m, "poke", id, token, key) })
	}
	wg.Wait()
}

// trigger sends an event that starts an instance.
func (c *caller) trigger(ctx context.Context) {
	token, key := c.name("begin"), ""
	n := 1
	if c.draw(2) == 0 {
		key, n = "key-"+token, 1+c.draw(3)
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { c.send(ctx, "begin", "", token, key) })
	}
	wg.Wait()
}

// announce starts an instance that sends the event.
func (c *caller) announce(ctx context.Context) {
	id := c.name("announce")
	c.start(ctx, "announce", id, "", "published-"+id, "", map[string]any{"token": "published-" + id, "number": numberOf("published-" + id), "to": ""})
}

// victim cancels or deletes what waits, and what is being sent to.
func (c *caller) victim(ctx context.Context) {
	id, def, correlation := c.name("victim"), "victim", ""
	if c.draw(2) == 0 {
		id = c.name("collect")
		def, correlation = "collect", id
	}
	if c.start(ctx, def, id, correlation, "", "start-"+id, nil) != ok {
		return
	}
	var wg sync.WaitGroup
	if def == "collect" {
		for i := range 3 {
			wg.Go(func() { c.send(ctx, "poke", id, fmt.Sprintf("%s.%d", id, i), "") })
		}
	}
	for range 1 + c.draw(2) {
		kind := []string{"cancel", "delete"}[c.draw(2)]
		wg.Go(func() { c.end(ctx, kind, id) })
	}
	wg.Wait()
}

func (c *caller) end(ctx context.Context, kind, id string) {
	m := c.node()
	call := call{kind: kind, instance: id, node: m.name(), from: c.e.record.now()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	if kind == "cancel" {
		call.accepted, err = m.Cancel(ctx, id)
	} else {
		call.accepted, err = m.Delete(ctx, id)
	}
	call.outcome, call.err = outcomeOf(err), errText(err)
	c.e.record.add(call)
}

// republish publishes another version of what an event starts.
func (c *caller) republish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = c.node().Publish(ctx, triggered(c.draw(600)))
}
