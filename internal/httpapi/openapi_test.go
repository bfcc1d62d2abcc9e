package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weft-run/weft/internal/httpapi/run"
	"github.com/weft-run/weft/internal/httpapi/serve"
)

func describeAll(t *testing.T) ([]byte, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	served(t, serve.Config{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/openapi.json", nil))
	raw := w.Body.Bytes()
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return raw, doc
}

func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	_, doc := describeAll(t)
	paths := doc["paths"].(map[string]any)
	ids := map[string]bool{}
	for _, rt := range everyRoute(t) {
		item, ok := paths[rt.FullPath()].(map[string]any)
		if !ok {
			t.Errorf("path %s is missing", rt.FullPath())
			continue
		}
		op, ok := item[strings.ToLower(rt.Method)].(map[string]any)
		if !ok {
			t.Errorf("%s %s is missing", rt.Method, rt.FullPath())
			continue
		}
		id, _ := op["operationId"].(string)
		if id == "" || ids[id] {
			t.Errorf("%s %s: operationId %q is missing or taken", rt.Method, rt.FullPath(), id)
		}
		ids[id] = true
		if op["summary"] == "" || rt.Tag == "" || len(rt.Answers) == 0 || rt.Serve == nil {
			t.Errorf("%s %s is not wholly described", rt.Method, rt.FullPath())
		}
		declared := map[string]bool{}
		for _, p := range list2(op["parameters"]) {
			param := p.(map[string]any)
			if param["in"] == "path" {
				declared[param["name"].(string)] = true
			}
		}
		for _, m := range inPath.FindAllStringSubmatch(rt.Path, -1) {
			if !declared[m[1]] {
				t.Errorf("%s %s: path parameter %s is not declared", rt.Method, rt.FullPath(), m[1])
			}
		}
		responses := op["responses"].(map[string]any)
		for code, r := range responses {
			if !regexp.MustCompile(`^[2-5]\d\d$`).MatchString(code) || r.(map[string]any)["description"] == "" {
				t.Errorf("%s %s: response %q is not well described", rt.Method, rt.FullPath(), code)
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
	raw, doc := describeAll(t)
	compiler := jsonschema.NewCompiler()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
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
			found = append(found, schemaPointers(at+"/"+strconv.Itoa(i), e)...)
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
	for _, rt := range everyRoute(t) {
		if !strings.Contains(string(raw), "`"+rt.Method+" "+rt.Path+"`") {
			t.Errorf("docs/api.md does not have `%s %s`", rt.Method, rt.Path)
		}
		for _, q := range rt.Query {
			if !strings.Contains(string(raw), "`"+q.Name+"`") && !strings.Contains(string(raw), q.Name+"=") {
				t.Errorf("docs/api.md does not have the parameter %s of %s", q.Name, rt.Path)
			}
		}
	}
}

// Each line of the audit log says what it is about.
func TestEveryAuditedRouteHasATarget(t *testing.T) {
	t.Parallel()
	for _, rt := range everyRoute(t) {
		if rt.Kind >= serve.Changes && rt.Target == "" && !strings.Contains(rt.Path, "{id}") && !strings.Contains(rt.Path, "{name}") {
			t.Errorf("%s %s", rt.Method, rt.Path)
		}
	}
}

// An endpoint may keep its caller waiting longer than other routes.
func TestAnEndpointMayWait(t *testing.T) {
	t.Parallel()
	if !run.Endpoint.MayWait {
		t.Error("it may not")
	}
}
