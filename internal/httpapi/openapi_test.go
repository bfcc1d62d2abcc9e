package httpapi

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func describeAll(t *testing.T) (*API, map[string]any) {
	t.Helper()
	a := &API{cfg: Config{Gatherer: prometheus.NewRegistry()}}
	raw, err := describe(a.table(), "test")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	a.document = raw
	return a, doc
}

func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	a, doc := describeAll(t)
	paths := doc["paths"].(map[string]any)
	ids := map[string]bool{}
	for _, rt := range a.table() {
		item, ok := paths[rt.fullPath()].(map[string]any)
		if !ok {
			t.Errorf("path %s is missing", rt.fullPath())
			continue
		}
		op, ok := item[strings.ToLower(rt.method)].(map[string]any)
		if !ok {
			t.Errorf("%s %s is missing", rt.method, rt.fullPath())
			continue
		}
		id, _ := op["operationId"].(string)
		if id == "" || ids[id] {
			t.Errorf("%s %s: operationId %q is missing or taken", rt.method, rt.fullPath(), id)
		}
		ids[id] = true
		if op["summary"] == "" || rt.tag == "" || len(rt.answers) == 0 || rt.serve == nil {
			t.Errorf("%s %s is not wholly described", rt.method, rt.fullPath())
		}
		declared := map[string]bool{}
		for _, p := range list2(op["parameters"]) {
			param := p.(map[string]any)
			if param["in"] == "path" {
				declared[param["name"].(string)] = true
			}
		}
		for _, m := range pathParam.FindAllStringSubmatch(rt.path, -1) {
			if !declared[m[1]] {
				t.Errorf("%s %s: path parameter %s is not declared", rt.method, rt.fullPath(), m[1])
			}
		}
		responses := op["responses"].(map[string]any)
		for code, r := range responses {
			if !regexp.MustCompile(`^[2-5]\d\d$`).MatchString(code) || r.(map[string]any)["description"] == "" {
				t.Errorf("%s %s: response %q is not well described", rt.method, rt.fullPath(), code)
			}
		}
	}
}

func list2(v any) []any {
	l, _ := v.([]any)
	return l
}

// The document's schemas are JSON Schema 2020-12, and every reference leads
// somewhere: the compiler checks both.
func TestOpenAPISchemasCompile(t *testing.T) {
	t.Parallel()
	a, doc := describeAll(t)
	compiler := jsonschema.NewCompiler()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.document))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("openapi.json", parsed); err != nil {
		t.Fatal(err)
	}
	pointers := schemaPointers("", doc)
	if len(pointers) < 50 {
		t.Fatalf("found %d schemas only", len(pointers))
	}
	for _, p := range pointers {
		if _, err := compiler.Compile("openapi.json#" + p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// schemaPointers finds the schemas of a document.
func schemaPointers(at string, v any) []string {
	var found []string
	object, ok := v.(map[string]any)
	if !ok {
		for i, e := range list2(v) {
			found = append(found, schemaPointers(at+"/"+itoa(i), e)...)
		}
		return found
	}
	for k, e := range object {
		here := at + "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(k)
		if k == "schema" || strings.HasSuffix(at, "/components/schemas") {
			found = append(found, here)
			continue
		}
		found = append(found, schemaPointers(here, e)...)
	}
	return found
}

// docs/api.md is written by hand; this holds it to the table.
func TestDocumentationHasEveryRoute(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	a := &API{cfg: Config{Gatherer: prometheus.NewRegistry()}}
	for _, rt := range a.table() {
		if !strings.Contains(string(raw), "`"+rt.method+" "+rt.path+"`") {
			t.Errorf("docs/api.md does not have `%s %s`", rt.method, rt.path)
		}
		for _, q := range rt.query {
			if !strings.Contains(string(raw), "`"+q.name+"`") && !strings.Contains(string(raw), q.name+"=") {
				t.Errorf("docs/api.md does not have the parameter %s of %s", q.name, rt.path)
			}
		}
	}
	for code := range status {
		if !strings.Contains(string(raw), "`"+string(code)+"`") {
			t.Errorf("docs/api.md does not have the code %s", code)
		}
	}
}
