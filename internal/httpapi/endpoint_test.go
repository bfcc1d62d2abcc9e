package httpapi_test

import (
	"strings"
	"testing"
)

// What a workflow gets of a request's body: values of JSON and forms, the text of
// all else. A body that says that it is JSON and is not starts nothing.
func TestWhatAnEndpointGetsOfABody(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	if a := s.do(t, "POST", "/api/v1/definitions", s.own("id: bodies#\nvariables: {b: object}\nroot:\n  - httpEndpoint: {path: bodies/#, supportedMethods: [POST]}\n    trigger: true\n"+
		"    outputs: {parsedContent: b}\n  - writeHttpResponse: {content: \"${{ {got: variables.b} }}\"}\n")); a.status != 201 {
		t.Fatalf("publish: %d %s", a.status, a.body)
	}
	const form = "application/x-www-form-urlencoded"
	for _, c := range []struct{ typ, body, got string }{
		{"application/json", `{"a": [1, "x"]}`, `{"got":{"a":[1,"x"]}}`},
		{"application/json; charset=utf-8", `"x"`, `{"got":"x"}`},
		{"application/cloudevents+json", `[true]`, `{"got":[true]}`},
		{"", `{"a": 1}`, `{"got":{"a":1}}`},
		{"", `hello`, `{"got":"hello"}`},
		{form, `a=1&b=x&b=y`, `{"got":{"a":"1","b":["x","y"]}}`},
		{form, `{"a": 1}`, `{"got":{"a":1}}`},
		{form, `%zz`, `{"got":"%zz"}`},
		{form, `{no JSON`, `{"got":"{no JSON"}`},
		{"text/plain", `hello`, `{"got":"hello"}`},
		{"text/plain", `12`, `{"got":"12"}`},
		{"text/plain", `{"a": 1}`, `{"got":{"a":1}}`},
		{"text/csv", `a,b`, `{"got":"a,b"}`},
		{"application/xml", `<a/>`, `{"got":"\u003ca/\u003e"}`},
		{"application/json", ``, `{"got":null}`},
	} {
		a := s.do(t, "POST", "/workflows/bodies/#", c.body, "Content-Type: "+c.typ)
		if a.status != 200 || strings.TrimSpace(string(a.body)) != c.got {
			t.Errorf("%s %q: %d %s, want %s", c.typ, c.body, a.status, a.body, c.got)
		}
	}
	before := len(s.do(t, "GET", "/api/v1/instances?definitionId=bodies#&limit=500", "").json(t)["items"].([]any))
	for _, body := range []string{`{"a": `, `hello`, `{} {}`, `{"a": 1, "a": 2}`, strings.Repeat("[", 300)} {
		a := s.do(t, "POST", "/workflows/bodies/#", body, "Content-Type: application/json")
		if a.status != 400 || a.code() != "unreadable-body" || !strings.Contains(string(a.body), `"errors"`) {
			t.Errorf("%.40q: %d %s", body, a.status, a.body)
		}
	}
	if after := len(s.do(t, "GET", "/api/v1/instances?definitionId=bodies#&limit=500", "").json(t)["items"].([]any)); after != before {
		t.Errorf("%d instances were started by what is not JSON", after-before)
	}
}

// Whose workflow has not answered in time is told what it is at, and where to look.
func TestWhoIsNotAnsweredInTimeIsToldWhy(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	if a := s.do(t, "POST", "/api/v1/definitions", s.own("id: slow#\nroot:\n  - httpEndpoint: {path: slow/#, supportedMethods: [POST], requestTimeout: 50ms}\n    trigger: true\n"+
		"  - event: go\n  - writeHttpResponse: {content: late}\n")); a.status != 201 {
		t.Fatalf("publish: %d %s", a.status, a.body)
	}
	for _, key := range []string{"X-None: x", "Idempotency-Key: slow#"} {
		a := s.do(t, "POST", "/workflows/slow/#", "{}", key)
		said := string(a.body)
		if a.status != 202 || !strings.Contains(said, "is Suspended, waiting at event1 go; it has not answered") || strings.Contains(said, "a repeat with the same") != strings.HasPrefix(key, "Idem") ||
			!strings.HasPrefix(a.header.Get("Location"), "/api/v1/instances/") {
			t.Errorf("%q: %d %s %v", key, a.status, a.body, a.header)
		}
	}
}
