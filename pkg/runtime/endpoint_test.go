package runtime_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAnEndpointInTheMiddleOfAWorkflow(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].publish(`
id: confirm
root:
  - httpEndpoint: {path: "confirm/{token}", supportedMethods: [POST]}
    result: request
  - writeHttpResponse: {content: "${{ variables.request.routeData.token }}"}
variables:
  request: {type: object}
`)
	req := runtime.EndpointRequest{Method: "POST", Path: "confirm/Abc"}
	if _, err := c[0].Endpoint(t.Context(), req); workflow.CodeOf(err) != workflow.CodeRouteNotFound {
		t.Errorf("nobody waits: %v", err)
	}
	c[0].execute("confirm", "one", "1")
	c[1].execute("confirm", "two", "2")
	if _, err := c[0].store.DropEndpoints(t.Context(), "", 10); err != nil { // at which nothing waits
		t.Fatal(err)
	}
	if _, err := c[0].Endpoint(t.Context(), req); workflow.CodeOf(err) != workflow.CodeAmbiguous {
		t.Errorf("two wait: %v", err)
	}
	req.CorrelationID = "2"
	res, err := c[0].Endpoint(t.Context(), req)
	if err != nil || res.Response == nil || string(res.Response.Body) != "Abc" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if in, _ := c[0].Instance(t.Context(), "one"); in.SubStatus != workflow.Suspended {
		t.Errorf("the other one moved: %+v", in)
	}
	req.CorrelationID = ""
	if res, err = c[1].Endpoint(t.Context(), req); err != nil || res.Response == nil {
		t.Fatalf("got %+v, %v", res, err)
	}
	if q, err := c[0].Queue(t.Context(), "", 10); err != nil || len(q.Items) != 0 {
		t.Errorf("requests are not queued: %+v, %v", q.Items, err)
	}
	if _, err := c[0].store.DropEndpoints(t.Context(), "", 10); err != nil {
		t.Fatal(err)
	}
	if left, err := c[0].store.Endpoints(t.Context(), "POST"); err != nil || len(left) != 0 {
		t.Errorf("templates left: %+v, %v", left, err)
	}
}

// A key is what finds the answer of a workflow that another node runs. One that was
// made for it is kept as a caller's key only if a caller knows it.
func TestTheAnswerToARequestWithoutAKeyIsNotKeptForCallers(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.publish("id: ping\nroot:\n  - httpEndpoint: {path: ping, supportedMethods: [GET]}\n    trigger: true\n  - writeHttpResponse: {content: pong}\n",
		"id: waits\nroot:\n  - httpEndpoint: {path: waits, supportedMethods: [GET]}\n  - writeHttpResponse: {content: pong}\n")
	ask := func(path string, key *runtime.Key) {
		t.Helper()
		res, err := m.Endpoint(t.Context(), runtime.EndpointRequest{Method: "GET", Path: path, Key: key})
		if err != nil || res.Response == nil || string(res.Response.Body) != "pong" {
			t.Fatalf("got %+v, %v", res, err)
		}
	}
	kept := func() int {
		t.Helper()
		records, _, err := m.store.KeyRecords(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(records)
	}
	ask("ping", nil)
	m.execute("waits", "one", "")
	ask("waits", nil)
	if n := kept(); n != 0 {
		t.Errorf("%d answers are kept that nobody can ask for", n)
	}
	ask("ping", &runtime.Key{Scope: "GET /workflows/ping", Value: "k"})
	if kept() == 0 {
		t.Error("the answer to a caller's key is not kept")
	}
	m.sound()
}

func TestEndpointLimits(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	c[0].publish(`
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
		res, err := c[0].Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "upload", Body: body})
		if err != nil || res.Response == nil || string(res.Response.Body) != want {
			t.Errorf("%s: got %+v, %v; want %q", body, res.Response, err, want)
		}
	}
	if _, err := c[0].Endpoint(t.Context(), runtime.EndpointRequest{Method: "POST", Path: "small", Body: "12345"}); workflow.CodeOf(err) != workflow.CodeTooLarge {
		t.Errorf("got %v", err)
	}
	if _, err := c[0].Endpoint(t.Context(), runtime.EndpointRequest{Method: "GET", Path: "members"}); workflow.CodeOf(err) != workflow.CodeUnauthenticated {
		t.Errorf("got %v", err)
	}
}
