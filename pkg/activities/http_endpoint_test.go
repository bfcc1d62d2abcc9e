package activities_test

import (
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
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

func TestRulesForFilesOfAnEndpoint(t *testing.T) {
	t.Parallel()
	given := inputs{
		"path": lit("a"), "fileSizeLimit": lit("10"), "allowedFileExtensions": {Kind: workflow.Object, Value: `[".pdf"]`}, "blockedFileExtensions": lit([]any{".exe"}),
		"allowedMimeTypes": lit([]any{"application/pdf"}), "exposeFileTooLargeOutcome": lit(true), "exposeInvalidFileExtensionOutcome": lit(true), "exposeInvalidFileMimeTypeOutcome": lit(true),
	}
	want := files.Rules{MaxSize: 10, Allowed: []string{".pdf"}, Blocked: []string{".exe"}, Types: []string{"application/pdf"}, SizeGoesOn: true, ExtensionGoesOn: true, TypeGoesOn: true}
	ep := endpoint(given)
	ep.CanStart = true
	def := root(seq(ep))
	def.Variables = []workflow.Variable{{Name: "route"}, {Name: "content"}}
	b := start(t, def, withTrigger("ep", request(nil)))
	if tr := b.prog.Triggers(); len(tr) != 1 || tr[0].Route.Files == nil || !reflect.DeepEqual(*tr[0].Route.Files, want) {
		t.Errorf("the trigger's: %+v", tr)
	}
	def = root(endpoint(given))
	def.Variables = []workflow.Variable{{Name: "route"}, {Name: "content"}}
	b = start(t, def).wantStatus(workflow.Suspended)
	if e := workflow.EndpointOf(&b.header.Bookmarks[0]); e == nil || e.Files == nil || !reflect.DeepEqual(*e.Files, want) {
		t.Errorf("the bookmark's: %+v", e)
	}
	for limit, most := range map[any]int64{nil: 0, 0: -1, 7: 7, int64(math.MaxInt64): math.MaxInt64} {
		b = start(t, root(act("HttpEndpoint", inputs{"path": lit("a"), "fileSizeLimit": lit(limit)}))).wantStatus(workflow.Suspended)
		if e := workflow.EndpointOf(&b.header.Bookmarks[0]); e.Files.MaxSize != most {
			t.Errorf("%v: %+v", limit, e.Files)
		}
	}
}

func TestListsOfFileRulesInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, entry string }{
		{"blockedFileExtensions", "exe,bat"}, {"allowedFileExtensions", "*.pdf"}, {"allowedFileExtensions", ".tar.gz"}, {"blockedFileExtensions", "application/x"}, {"blockedFileExtensions", "a b"},
		{"blockedFileExtensions", "exe;bat"}, {"blockedFileExtensions", "."}, {"allowedMimeTypes", "pdf"}, {"allowedMimeTypes", "image/*"}, {"allowedMimeTypes", "image/png,image/gif"},
	} {
		list := expr(func(engine.Scope) (any, error) { return []any{c.entry}, nil })
		b := start(t, root(act("HttpEndpoint", inputs{"path": lit("a"), c.input: list}))).wantStatus(workflow.Faulted)
		if says := fmt.Sprint(b.header.Incidents); !strings.Contains(says, c.input) || !strings.Contains(says, c.entry) {
			t.Errorf("%v: %s", c, says)
		}
		p := compileProblems(t, root(act("HttpEndpoint", inputs{"path": lit("a"), c.input: lit([]any{c.entry})})))
		wantProblem(t, p, "bad-file-rule", c.entry)
	}
	start(t, root(act("HttpEndpoint", inputs{"path": lit("a"), "blockedFileExtensions": lit([]any{" .exe", "7z"}), "allowedMimeTypes": lit([]any{"text/plain; charset=utf-8", "application/vnd.oasis.opendocument.text"})}))).wantStatus(workflow.Suspended)
}

func TestFilesOfARequest(t *testing.T) {
	t.Parallel()
	ep := named("ep", act("HttpEndpoint", inputs{"path": lit("a")}))
	ep.Outputs = map[string]string{"file": "one", "files": "all"}
	def := root(flow("ep -> w, ep.Invalid file extension -> no", ep, named("w", act("WriteLine", inputs{"text": expr(func(s engine.Scope) (any, error) {
		one, _ := s.Variable("one")
		all, _ := s.Variable("all")
		return fmt.Sprint(one, all), nil
	})})), say("no")))
	def.Variables = []workflow.Variable{{Name: "one"}, {Name: "all"}}
	b := start(t, def)
	b.resume("ep", request(map[string]any{"files": []any{"a", "b"}}))
	b.wantLines("a[a b]")
	b = start(t, def)
	b.resume("ep", request(map[string]any{"files": []any{}, "refused": files.Extension}))
	b.wantLines("no")
}
