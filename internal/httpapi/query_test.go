package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// A query that cannot be read whole is refused on every route, before anything is done: the
// standard library leaves such a pair out, and a dry run would be a run.
func TestNoPartOfAQueryIsDropped(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(waitingYAML, "query#", "query#"))
	s.post(t, "/api/v1/definitions/query#/execute", `{"instanceId": "query-1#"}`, 200)
	doc := s.get(t, "/openapi.json").json(t)
	walked := 0
	for path, methods := range doc["paths"].(map[string]any) {
		for method, is := range methods.(map[string]any) {
			op, ok := is.(map[string]any)
			if !ok || op["operationId"] == nil {
				continue
			}
			at := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, url.PathEscape(s.own("query#")))
			method = strings.ToUpper(method)
			walked++
			for _, broken := range []string{"dryRun=true;", "dryRun=true%", "a=1&%zz=2", "limit=1;cursor=x"} {
				a := s.do(t, method, at+"?"+broken, "")
				if a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), "bad-query") {
					t.Errorf("%s %s?%s: %d %s", method, at, broken, a.status, a.body)
				}
			}
			params, _ := op["parameters"].([]any)
			for _, p := range params {
				p, _ := p.(map[string]any)
				name, _ := p["name"].(string)
				about := fmt.Sprint(p["description"])
				if p["in"] != "query" || p["style"] != nil || strings.Contains(about, "may be given") || strings.Contains(about, "or one each") {
					continue
				}
				if a := s.do(t, method, at+"?"+name+"=1&"+name+"=2", ""); a.status != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), "given 2 times") {
					t.Errorf("%s %s with %s twice: %d %s", method, at, name, a.status, a.body)
				}
			}
		}
	}
	if walked < 60 {
		t.Errorf("only %d operations were walked", walked)
	}
	if in := s.get(t, "/api/v1/instances/query-1#").json(t); in["subStatus"] != "Suspended" {
		t.Errorf("something was done: %v", in)
	}
}

// So is one of an endpoint, and a form that says it is one. Text that curl calls a form stays text.
func TestNoPairOfAnEndpointIsDropped(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: pairs#\nvariables: {got: object}\nroot:\n  - httpEndpoint: {path: \"pairs#\", supportedMethods: [GET, POST]}\n    trigger: true\n    outputs: {parsedContent: got, queryStringData: got}\n"+
		"  - writeHttpResponse: {statusCode: 200, content: ok}\n")
	const form = "Content-Type: application/x-www-form-urlencoded"
	for _, c := range []struct {
		query, body string
		headers     []string
		status      int
		says        string
	}{
		{"?a=1;", "", nil, 422, "bad-query"},
		{"?a=%", "", nil, 422, "bad-query"},
		{"", "a=1&b=%zz", []string{form}, 422, "bad-form"},
		{"", "a=1;b=2", []string{form}, 422, "bad-form"},
		{"?a=%25", "a=1&b=%25", []string{form}, 200, "ok"},
		{"", "100% sure; thanks", []string{form}, 200, "ok"},
		{"", "a=1;b=2", []string{"Content-Type: text/plain"}, 200, "ok"},
	} {
		a := s.do(t, http.MethodPost, "/workflows/pairs#"+c.query, c.body, c.headers...)
		if a.status != c.status || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s with %q: %d %s", c.query, c.body, a.status, a.body)
		}
	}
}
