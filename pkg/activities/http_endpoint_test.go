package activities_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func request(extra map[string]any) map[string]any {
	in := map[string]any{"method": "POST", "path": "orders/5", "routeData": map[string]any{"id": "5"}, "query": map[string]any{"a": "b"}, "headers": map[string]any{"H": "v"}, "body": `{"x":1}`, "parsedBody": map[string]any{"x": 1}}
	for k, v := range extra {
		in[k] = v
	}
	return in
}

func endpoint(in inputs) *workflow.Activity {
	a := named("ep", act("HttpEndpoint", in))
	a.Outputs = map[string]string{"routeData": "route", "parsedContent": "content"}
	return a
}

func TestHTTPEndpointAsTrigger(t *testing.T) {
	t.Parallel()
	ep := endpoint(inputs{"path": lit("/Orders/{id}/"), "supportedMethods": {Kind: workflow.Object, Value: `["get","POST","get"]`}, "requestSizeLimit": lit("1000"), "authorize": lit("true")})
	ep.CanStart = true
	def := root(seq(ep, act("WriteHttpResponse", inputs{"statusCode": lit("Created"), "content": varExpr("content"), "responseHeaders": lit(`{"X-A":"1"}`)})))
	def.Variables = []workflow.Variable{{Name: "route"}, {Name: "content"}}
	b := start(t, def, withTrigger("ep", request(nil))).wantStatus(workflow.Finished)
	tr := b.prog.Triggers()
	if len(tr) != 2 || tr[0].Route.Template != "Orders/{id}" || tr[0].Route.Method != http.MethodGet || tr[1].Route.Method != http.MethodPost || tr[1].Route.MaxBody != 1000 || !tr[1].Route.Authorize {
		t.Fatalf("triggers %+v", tr)
	}
	if want, _ := workflow.Hash(workflow.EndpointType, workflow.EndpointPayload("post", "orders/{ID}")); tr[1].Hash != want {
		t.Error("hash of the trigger")
	}
	r := b.response
	if r == nil || r.Status != 201 || string(r.Body) != `{"x":1}` || r.ContentType != "application/json" || r.Headers["X-A"] != "1" {
		t.Errorf("response %+v", r)
	}
}

func TestHTTPEndpointInTheMiddle(t *testing.T) {
	t.Parallel()
	def := root(flow("s -> ep, ep -> w, ep.Request too large -> big", say("s"), endpoint(inputs{"path": lit("orders/{id}"), "supportedMethods": lit([]any{"GET", "POST"})}),
		named("w", act("WriteHttpResponse", inputs{"content": lit("fine")})), say("big")))
	def.Variables = []workflow.Variable{{Name: "route"}, {Name: "content"}}
	b := start(t, def).wantStatus(workflow.Suspended)
	if got := fmt.Sprint(b.bookmarks()); got != "[GET /orders/{id} POST /orders/{id}]" {
		t.Errorf("bookmarks %s", got)
	}
	b.resume("POST /orders/{id}", request(nil))
	b.wantStatus(workflow.Finished)
	if len(b.last.Burned) != 2 || b.response == nil || b.response.Status != 200 || string(b.response.Body) != "fine" || !strings.HasPrefix(b.response.ContentType, "text/plain") {
		t.Errorf("burned %v, response %+v", b.last.Burned, b.response)
	}
	b = start(t, def)
	b.resume("ep", request(map[string]any{"tooLarge": true}))
	b.wantLines("s", "big")
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	for path, ok := range map[string]bool{
		"": true, "a": true, "/a/b/": true, "a/{id}": true, "a/{id}/b/{other}": true, "files/{*rest}": true, "files/{**rest}": true,
		"a/{id": false, "a/x{id}": false, "a/{}": false, "a/{id}/{ID}": false, "a/{*rest}/b": false, "a//b": false, "a/../b": false, "a?b": false, "a b": false, "a%2fb": false, "a/{*}": false,
	} {
		ep := act("HttpEndpoint", inputs{"path": expr(func(engine.Scope) (any, error) { return "/" + path, nil })})
		want := workflow.Suspended
		if !ok {
			want = workflow.Faulted
		}
		if b := start(t, root(ep)); b.header.SubStatus != want {
			t.Errorf("%q: %s %v", path, b.header.SubStatus, b.header.Incidents)
		}
	}
}
