package httpapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yaml "go.yaml.in/yaml/v4"
)

func TestFaultedInstancesAreRetriedByFilter(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: retries#\nroot:\n  - executeWorkflow: retries-child#\n")
	for _, id := range []string{"retries-1#", "retries-2#", "retries-3#"} {
		if in := s.post(t, "/api/v1/definitions/retries#/execute", `{"instanceId": "`+id+`"}`, 200).json(t); in["subStatus"] != "Faulted" {
			t.Fatalf("got %v", in)
		}
	}
	s.publish(t, "id: retries-child#\nroot:\n  - writeLine: hi\n")
	first := s.post(t, "/api/v1/instances/retry", `{"definitionId": "retries#", "limit": 2}`, 200).json(t)
	if len(first["retried"].([]any)) != 2 || len(first["refused"].([]any)) != 0 || first["nextCursor"] == nil {
		t.Fatalf("first page: %v", first)
	}
	second := s.post(t, "/api/v1/instances/retry", `{"definitionId": "retries#", "limit": 2, "cursor": "`+first["nextCursor"].(string)+`"}`, 200).json(t)
	if len(second["retried"].([]any)) != 1 {
		t.Errorf("second page: %v", second)
	}
	in := s.get(t, "/api/v1/instances/retries-3#", "Prefer: wait=20").json(t)
	if in["subStatus"] != "Finished" {
		t.Errorf("after the retry: %v", in)
	}

	for body, want := range map[string]string{
		`{"definitionId": "a b"}`: "bad-id", `{"limit": 501}`: "bad-limit", `{"limit": -1}`: "bad-limit",
		`{"subStatus": "Faulted"}`: "unknown", `{"cursor": "?"}`: "invalid-request",
	} {
		if a := s.do(t, http.MethodPost, "/api/v1/instances/retry", body); a.status != 422 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

func TestEditorsGetTheSchemaOfTheNotation(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	a := s.get(t, "/schema/v1.json")
	if typ := a.header.Get("Content-Type"); a.status != 200 || typ != "application/schema+json" {
		t.Fatalf("%d %s", a.status, typ)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("v1.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("v1.json")
	if err != nil {
		t.Fatal(err)
	}
	for source, fits := range map[string]bool{
		"id: a\nroot:\n  - writeLine: hi\n": true,
		"id: a\nrot:\n  - writeLine: hi\n":  false,
		"id: a\nroot:\n  - writeLin: hi\n":  false,
	} {
		var v any
		if err := yaml.Unmarshal([]byte(source), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != fits {
			t.Errorf("%q: %v", source, err)
		}
	}
}
