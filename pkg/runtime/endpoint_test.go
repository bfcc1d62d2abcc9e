package runtime_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAnEndpointInTheMiddleOfAWorkflow(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(`
id: confirm
root:
  - httpEndpoint: {path: "confirm/{token}", supportedMethods: [POST]}
    result: request
  - writeHttpResponse: {content: "${{ variables.request.routeData.token }}"}
variables:
  request: {type: object}
`)
	req := runtime.EndpointRequest{Method: "POST", Path: "confirm/Abc"}
	if _, err := c[0].Endpoints.Endpoint(t.Context(), req); workflow.CodeOf(err) != workflow.CodeRouteNotFound {
		t.Errorf("nobody waits: %v", err)
	}
	c[0].Start("confirm", "one", "1")
	c[1].Start("confirm", "two", "2")
	if _, err := c[0].Endpoints.Endpoint(t.Context(), req); workflow.CodeOf(err) != workflow.CodeAmbiguous {
		t.Errorf("two wait: %v", err)
	}
	req.CorrelationID = "2"
	res, err := c[0].Endpoints.Endpoint(t.Context(), req)
	if err != nil || res.Response == nil || string(res.Response.Body) != "Abc" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if in, _ := c[0].Inspector.Instance(t.Context(), "one"); in.SubStatus != workflow.Suspended {
		t.Errorf("the other one moved: %+v", in)
	}
	req.CorrelationID = ""
	if res, err = c[1].Endpoints.Endpoint(t.Context(), req); err != nil || res.Response == nil {
		t.Fatalf("got %+v, %v", res, err)
	}
	if q, err := c[0].Inspector.Queue(t.Context(), runtime.QueueFilter{}, "", 10); err != nil || len(q.Items) != 0 {
		t.Errorf("requests are not queued: %+v, %v", q.Items, err)
	}
	if _, err := c[0].Endpoints.Endpoint(t.Context(), req); workflow.CodeOf(err) != workflow.CodeRouteNotFound {
		t.Errorf("nobody waits any more: %v", err)
	}
}

// A key is what finds the answer of a workflow that another node runs. One that was
// made for it is kept as a caller's key only if a caller knows it.
func TestTheAnswerToARequestWithoutAKeyIsNotKeptForCallers(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: ping\nroot:\n  - httpEndpoint: {path: ping, supportedMethods: [GET]}\n    trigger: true\n  - writeHttpResponse: {content: pong}\n",
		"id: waits\nroot:\n  - httpEndpoint: {path: waits, supportedMethods: [GET]}\n  - writeHttpResponse: {content: pong}\n")
	ask := func(path string, key *runtime.Key) {
		t.Helper()
		res, err := m.Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "GET", Path: path, Key: key})
		if err != nil || res.Response == nil || string(res.Response.Body) != "pong" {
			t.Fatalf("got %+v, %v", res, err)
		}
	}
	kept := func() int {
		t.Helper()
		records, _, err := m.Store.Upkeep.KeyRecords(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(records)
	}
	ask("ping", nil)
	m.Start("waits", "one", "")
	ask("waits", nil)
	if n := kept(); n != 0 {
		t.Errorf("%d answers are kept that nobody can ask for", n)
	}
	ask("ping", &runtime.Key{Scope: "GET /workflows/ping", Value: "k"})
	if kept() == 0 {
		t.Error("the answer to a caller's key is not kept")
	}
	m.Sound()
}

func TestEndpointLimits(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	c[0].Publish(`
id: upload
root:
  flowchart:
    activities:
      ask: {httpEndpoint: {path: upload, supportedMethods: [POST], requestSizeLimit: 4, exposeRequestTooLargeOutcome: true}, trigger: true}
      ok: {writeHttpResponse: {content: taken}}
      large: {writeHttpResponse: {statusCode: 413, content: too much}}
    connections: [ask -> ok, ask.Request too large -> large]
`, `
id: small
root:
  - httpEndpoint: {path: small, supportedMethods: [POST], requestSizeLimit: 4}
    trigger: true
`, `
id: members
root:
  - httpEndpoint: {path: members, authorize: true}
    trigger: true
`)
	for body, want := range map[string]string{"1234": "taken", "12345": "too much"} {
		res, err := c[0].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "upload", Body: body})
		if err != nil || res.Response == nil || string(res.Response.Body) != want {
			t.Errorf("%s: got %+v, %v; want %q", body, res.Response, err, want)
		}
	}
	if _, err := c[0].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "small", Body: "12345"}); workflow.CodeOf(err) != workflow.CodeTooLarge {
		t.Errorf("got %v", err)
	}
	if _, err := c[0].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "GET", Path: "members"}); workflow.CodeOf(err) != workflow.CodeUnauthenticated {
		t.Errorf("got %v", err)
	}
}

// stranger is a caller whom nobody knows.
func stranger(_ context.Context, policy string) error {
	return workflow.Fail(workflow.CodeUnauthenticated, "who are you, with policy "+policy)
}

func manager(ctx context.Context, policy string) error {
	if policy == "managers" {
		return nil
	}
	return stranger(ctx, policy)
}

// publishDoors publishes two definitions with one path: managers may go through
// the one, everybody through the other, and an instance of either waits there,
// unless the definition is started there.
func (m *member) publishDoors(path string, startsGuarded, startsOpen bool) {
	m.T.Helper()
	const source = `
id: %s-%s
root:
  - httpEndpoint: {path: %[2]s, supportedMethods: [POST]%[3]s}
    trigger: %[4]t
  - writeHttpResponse: {content: %[1]s}
`
	m.Publish(fmt.Sprintf(source, "guarded", path, ", authorize: true, policy: managers", startsGuarded), fmt.Sprintf(source, "open", path, "", startsOpen))
}

// post is a request without a body.
func (m *member) post(path, instance string, key *runtime.Key, allow func(context.Context, string) error) (string, workflow.Code) {
	m.T.Helper()
	res, err := m.Endpoints.Endpoint(m.T.Context(), runtime.EndpointRequest{Method: "POST", Path: path, InstanceID: instance, Key: key, Allow: allow})
	if err != nil {
		return "", workflow.CodeOf(err)
	}
	if res.Response == nil {
		m.T.Fatalf("no answer: %+v", res.Result)
	}
	return string(res.Response.Body), ""
}

// Of two definitions with the same path each keeps its own guard, whichever came
// to wait there last.
func TestAnEndpointThatWaitsAsksForItself(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	for _, order := range [][]string{{"guarded", "open"}, {"open", "guarded"}} {
		path := "first-" + order[0]
		m.publishDoors(path, false, false)
		for _, kind := range order {
			m.Start(kind+"-"+path, kind+"-"+path, "")
		}
		a, b := "guarded-"+path, "open-"+path
		still := func(when string) {
			t.Helper()
			if in, err := m.Inspector.Instance(t.Context(), a); err != nil || in.SubStatus != workflow.Suspended {
				t.Fatalf("%s: a stranger resumed it: %+v, %v", when, in, err)
			}
		}
		if got, code := m.post(path, a, nil, stranger); code != workflow.CodeUnauthenticated {
			t.Errorf("%s: a stranger got %q, %s", path, got, code)
		}
		still("addressed")
		if got, code := m.post(path, "", nil, stranger); code != workflow.CodeAmbiguous {
			t.Errorf("%s: two wait: got %q, %s", path, got, code)
		}
		if got, code := m.post(path, b, nil, stranger); got != "open" {
			t.Errorf("%s: everybody may call it: got %q, %s", path, got, code)
		}
		if got, code := m.post(path, "", nil, stranger); code != workflow.CodeUnauthenticated {
			t.Errorf("%s: a stranger got %q, %s", path, got, code)
		}
		still("alone")
		if code := func() workflow.Code { _, code := m.post(path, b, nil, stranger); return code }(); code == "" {
			t.Errorf("%s: its instance is over", path)
		}
		// The answer is not for everybody who repeats the request either.
		m.Start(b, b+"-again", "")
		key := &runtime.Key{Scope: path, Value: "k", BodyHash: "b"}
		for range 2 {
			if got, code := m.post(path, a, key, manager); got != "guarded" {
				t.Errorf("%s: a manager got %q, %s", path, got, code)
			}
		}
		for _, to := range []string{a, b + "-again", ""} {
			if got, code := m.post(path, to, key, stranger); code != workflow.CodeUnauthenticated {
				t.Errorf("%s: a stranger got the answer %q, %s", path, got, code)
			}
		}
	}
}

// A definition that is started at a path says nothing about an instance of
// another one that waits there, and the other way round.
func TestAnEndpointThatStartsAsksForItself(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publishDoors("in", false, true)
	m.Start("guarded-in", "a", "")
	if got, code := m.post("in", "a", nil, stranger); code != workflow.CodeUnauthenticated {
		t.Errorf("a stranger got %q, %s", got, code)
	}
	if in, _ := m.Inspector.Instance(t.Context(), "a"); in.SubStatus != workflow.Suspended {
		t.Errorf("a stranger resumed it: %+v", in)
	}
	if _, code := m.post("in", "", nil, stranger); code != workflow.CodeAmbiguous {
		t.Errorf("one waits and one starts: %s", code)
	}
	if got, code := m.post("in", "a", nil, manager); got != "guarded" {
		t.Errorf("a manager got %q, %s", got, code)
	}
	if got, code := m.post("in", "", nil, stranger); got != "open" {
		t.Errorf("everybody may start it: got %q, %s", got, code)
	}

	m.publishDoors("out", true, false)
	m.Start("open-out", "b", "")
	if got, code := m.post("out", "b", nil, stranger); got != "open" {
		t.Errorf("everybody may call it: got %q, %s", got, code)
	}
	if got, code := m.post("out", "", nil, stranger); code != workflow.CodeUnauthenticated {
		t.Errorf("a stranger got %q, %s", got, code)
	}
	if got, code := m.post("out", "", nil, manager); got != "guarded" {
		t.Errorf("a manager got %q, %s", got, code)
	}
}

// An answer that a node wrote before answers said whose they are goes to whom the
// path lets in.
func TestAnAnswerFromBeforeGoesByThePath(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publishDoors("old", true, false)
	key := &runtime.Key{Scope: "old", Value: "k", BodyHash: "b"}
	send := store.Send{ID: "s", Stimulus: workflow.EventStimulus("never", nil), CreatedAt: time.Now(), Key: &workflow.CommandKey{Name: store.KeyName(key.Scope, key.Value)}}
	if err := m.Store.Stimuli.PutSend(t.Context(), send, &store.Answer{BodyHash: "b", Response: &workflow.Response{Body: []byte("old")}}); err != nil {
		t.Fatal(err)
	}
	if got, code := m.post("old", "", key, stranger); code != workflow.CodeUnauthenticated {
		t.Errorf("a stranger got %q, %s", got, code)
	}
	if got, code := m.post("old", "", key, manager); got != "old" {
		t.Errorf("a manager got %q, %s", got, code)
	}
}

// The size of a body is the endpoint's own business too.
func TestAnEndpointThatWaitsHasItsOwnLimits(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	const source = "id: %s\nroot:\n  - httpEndpoint: {path: \"%s\", supportedMethods: [POST], requestSizeLimit: %d}\n    result: request\n  - writeHttpResponse: {content: \"${{ variables.request.routeData }}\"}\nvariables: {request: {type: object}}\n"
	m.Publish(fmt.Sprintf(source, "small", "put/{Id}", 2), fmt.Sprintf(source, "large", "put/{id}", 20))
	for _, id := range []string{"large", "small"} {
		m.Start(id, id, "")
	}
	req := runtime.EndpointRequest{Method: "POST", Path: "put/7", Body: "12345"}
	for id, want := range map[string]string{"small": "", "large": `{"id":"7"}`} {
		req.InstanceID = id
		res, err := m.Endpoints.Endpoint(t.Context(), req)
		if want == "" && workflow.CodeOf(err) != workflow.CodeTooLarge || want != "" && (err != nil || res.Response == nil || string(res.Response.Body) != want) {
			t.Errorf("%s: got %+v, %v", id, res.Response, err)
		}
	}
}

// A request that its instance did not wait for any more when its turn came goes
// to who waits now only as a new one would.
func TestARequestThatCameTooLateAsksAgain(t *testing.T) {
	t.Parallel()
	members := newCluster(t, 2, func(c *membertest.Config) { c.ReplyWait = 20 * time.Second })
	m := members[0]
	m.Publish(`
id: steps
root:
  - httpEndpoint: {path: steps, supportedMethods: [POST]}
  - writeHttpResponse: {content: first}
  - httpEndpoint: {path: steps, supportedMethods: [POST], authorize: true, policy: managers}
  - writeHttpResponse: {content: second}
`)
	m.publishDoors("next", false, false)
	for _, c := range []struct{ def, path, served, then string }{{"steps", "steps", "first", "steps"}, {"open-next", "next", "open", "after"}} {
		m.Start(c.def, c.def, "c")
		lock, err := m.Session.Locks().TryAcquire(t.Context(), cluster.InstanceLock(c.def))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := map[string]int{}
		for _, at := range members {
			wg.Go(func() {
				res, err := at.Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: c.path, CorrelationID: "c", Allow: stranger})
				mu.Lock()
				defer mu.Unlock()
				if err == nil && res.Response != nil {
					got[string(res.Response.Body)]++
				} else {
					got[string(workflow.CodeOf(err))]++
				}
			})
		}
		eventually(t, "both are in the mailbox", func() bool {
			l, err := m.Store.Instances.Load(t.Context(), c.def, "", "")
			return err == nil && len(l.Mail) == 2
		})
		if c.then != c.def { // the next to wait
			m.Start("guarded-next", c.then, "c")
		}
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if got[c.served] != 1 || got[string(workflow.CodeUnauthenticated)] != 1 {
			t.Errorf("%s: got %v", c.def, got)
		}
		if in, err := m.Inspector.Instance(t.Context(), c.then); err != nil || in.SubStatus != workflow.Suspended {
			t.Errorf("%s: a stranger resumed it: %+v, %v", c.then, in, err)
		}
		if page, err := m.Inspector.Queue(t.Context(), runtime.QueueFilter{}, "", 10); err != nil || len(page.Items) > 0 {
			t.Errorf("requests are not queued: %+v, %v", page.Items, err)
		}
	}
}

// Many requests at once for one instance that comes back to the same endpoint:
// each is served once.
func TestAnEndpointInALoopServesAll(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(`
id: loop
variables: {request: {type: object}}
root:
  - while: true
    body:
      - httpEndpoint: {path: loop, supportedMethods: [POST]}
        result: request
      - writeLine: "${{ variables.request.body }}"
      - writeHttpResponse: {content: "${{ variables.request.body }}"}
`)
	c[0].Start("loop", "l", "")
	const n, elsewhere = 160, 8
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			body := fmt.Sprint(i)
			m := c[0]
			if i < elsewhere {
				m = c[1]
			}
			res, err := m.Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "loop", Body: body, Key: &runtime.Key{Scope: "loop", Value: body}})
			if err != nil || res.Response == nil || string(res.Response.Body) != body {
				t.Errorf("%s: got %+v, %v", body, res, err)
			}
		})
	}
	wg.Wait()
	if got := c[0].Lines("l"); len(got) != n {
		t.Errorf("%d requests took effect, of %d", len(got), n)
	}
}

// What the workflow wrote reaches the caller also when the start had to pass a
// gate, so that a worker ran it.
func TestAnEndpointBehindAGateAnswers(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) { c.ReplyWait = 20 * time.Second })[0]
	m.Publish(`
id: one
options: {activation: Singleton}
root:
  - httpEndpoint: {path: one, supportedMethods: [POST]}
    trigger: true
  - writeHttpResponse: {statusCode: 201, content: hi}
`)
	for _, key := range []*runtime.Key{nil, {Scope: "s", Value: "k", BodyHash: "b"}, {Scope: "s", Value: "k", BodyHash: "b"}} {
		res, err := m.Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "one", Key: key})
		if err != nil || res.Response == nil || res.Response.Status != 201 || string(res.Response.Body) != "hi" {
			t.Errorf("key %v: got %+v, %v", key, res, err)
		}
	}
}

// And when another node had the instance.
func TestAnEndpointOfABusyInstanceAnswers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, func(c *membertest.Config) { c.ReplyWait = 20 * time.Second })
	c[0].publishDoors("busy", false, false)
	c[0].Start("open-busy", "w", "")
	lock, err := c[1].Session.Locks().TryAcquire(t.Context(), cluster.InstanceLock("w"))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan runtime.EndpointAnswer, 1)
	go func() {
		res, err := c[0].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "busy"})
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}()
	eventually(t, "it is in the mailbox", func() bool {
		l, err := c[1].Store.Instances.Load(t.Context(), "w", "", "")
		return err == nil && len(l.Mail) == 1
	})
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := <-answered; res.Response == nil || string(res.Response.Body) != "open" {
		t.Errorf("got %+v", res)
	}
}

// A request that waits long for its answer looks less and less often, and gets it.
func TestARequestThatWaitsLooksSeldom(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, shortReply)
	c[0].publishDoors("busy", false, false)
	c[0].Start("open-busy", "w", "")
	lock, err := c[1].Session.Locks().TryAcquire(t.Context(), cluster.InstanceLock("w"))
	if err != nil {
		t.Fatal(err)
	}
	looks := c[0].Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(call clustertest.Call) bool {
		return call.Op == "get" && call.Touches(c[0].Root+"idem/k/")
	}})
	began := time.Now()
	answered := make(chan runtime.EndpointAnswer, 1)
	go func() {
		res, err := c[0].Endpoints.Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "busy"})
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}()
	eventually(t, "it looks several times", func() bool { return looks.Fired() >= 11 })
	// At least the pauses between them, without two that the watch may have cut short.
	if d := time.Since(began); d < 2*time.Second {
		t.Errorf("%d looks within %v", looks.Fired(), d)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := <-answered; res.Response == nil || string(res.Response.Body) != "open" {
		t.Errorf("got %+v", res)
	}
}
