package clients_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write what is generated of each client")

// mark is the line behind which a file is generated.
const mark = "---- generated from openapi.json by go generate ./clients; do not edit below ----\n"

// schema is the part of JSON Schema that openapi.json uses.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        any                `json:"type"`
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Patterns    map[string]*schema `json:"patternProperties"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Items       *schema            `json:"items"`
	Required    []string           `json:"required"`
	AnyOf       []*schema          `json:"anyOf"`
	Enum        []string           `json:"enum"`
}

type parameter struct {
	Name, In, Description string
	Schema                *schema
}

type media struct{ Schema *schema }

type operation struct {
	OperationID, Summary string
	Parameters           []parameter
	RequestBody          *struct{ Content map[string]media }
	Responses            map[string]struct{ Content map[string]media }

	method, path string
}

type document struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
}

// byHand are operations that the part above the mark has.
var byHand = []string{"stream", "getEndpoint", "postEndpoint", "putEndpoint", "patchEndpoint", "deleteEndpoint"}

func readDocument(t *testing.T) *document {
	t.Helper()
	resp, err := http.Get(sharedServer(t) + "/openapi.json") //nolint:noctx // it is the node of this process
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	doc := &document{}
	if err := json.NewDecoder(resp.Body).Decode(doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations are those that are generated, by name.
func (d *document) operations() []*operation {
	var out []*operation
	for path, methods := range d.Paths {
		for method, op := range methods {
			if op.method, op.path = strings.ToUpper(method), path; !slices.Contains(byHand, op.OperationID) {
				out = append(out, op)
			}
		}
	}
	slices.SortFunc(out, func(a, b *operation) int { return cmp.Compare(a.OperationID, b.OperationID) })
	return out
}

// in gives the parameters of a place.
func (op *operation) in(place string) (out []parameter) {
	for _, p := range op.Parameters {
		if p.In == place {
			out = append(out, p)
		}
	}
	return out
}

// body is the schema of the request's body; text tells that it may be one.
func (op *operation) body() (s *schema, text, ok bool) {
	if op.RequestBody == nil {
		return nil, false, false
	}
	_, text = op.RequestBody.Content["application/yaml"]
	return op.RequestBody.Content["application/json"].Schema, text, true
}

// answers are the components that an operation answers with; raw tells that it may answer
// with another text than JSON, none that it may answer with nothing.
func (op *operation) answers() (refs []string, raw, none bool) {
	for _, status := range []string{"200", "201", "202", "204"} {
		r, ok := op.Responses[status]
		none = none || ok && len(r.Content) == 0
		for _, typ := range slices.Sorted(maps.Keys(r.Content)) {
			s := r.Content[typ].Schema
			if typ != "application/json" || s.Ref == "" && s.AnyOf == nil {
				raw = true
				continue
			}
			for _, one := range append(s.AnyOf, s) {
				if one.Ref != "" && !slices.Contains(refs, component(one)) {
					refs = append(refs, component(one))
				}
			}
		}
	}
	return refs, raw, none
}

// list tells whether an operation gives pages, and of what.
func (d *document) list(op *operation) (item *schema, ok bool) {
	refs, _, _ := op.answers()
	if len(refs) == 0 || !slices.ContainsFunc(op.in("query"), func(p parameter) bool { return p.Name == "cursor" }) {
		return nil, false
	}
	item = &schema{}
	for _, ref := range refs {
		items := d.Components.Schemas[ref].Properties["items"]
		if items == nil {
			return nil, false
		}
		item.AnyOf = append(item.AnyOf, items.Items)
	}
	return item, true
}

// allName is what the iterator over all pages of a list is called.
func allName(op *operation) string {
	return "all" + strings.TrimPrefix(strings.TrimPrefix(op.OperationID, "list"), "get")
}

func component(s *schema) string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

// inner is the schema of the values of an object; nil if they may be anything.
func (s *schema) inner() *schema {
	var of schema
	if len(s.Additional) < 3 || json.Unmarshal(s.Additional, &of) != nil {
		return nil
	}
	return &of
}

// names are the types of a schema; null is one of them.
func (s *schema) names() []string {
	switch typ := s.Type.(type) {
	case string:
		return []string{typ}
	case []any:
		var out []string
		for _, t := range typ {
			out = append(out, fmt.Sprint(t))
		}
		return out
	}
	return nil
}

// TestClientsAreCurrent holds the files against what a node of this commit says of itself.
func TestClientsAreCurrent(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	for file, generated := range map[string]string{
		"typescript/weft.js": scriptMethods(doc), "typescript/weft.d.ts": scriptTypes(doc), "python/weft.py": python(doc),
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, after, ok := strings.Cut(string(raw), mark)
		switch {
		case !ok:
			t.Errorf("%s has lost the line %s", file, mark)
		case *update:
			if err := os.WriteFile(file, []byte(before+mark+"\n"+generated), 0o644); err != nil {
				t.Fatal(err)
			}
		case after != "\n"+generated:
			t.Errorf("%s is not what openapi.json says; run go generate ./clients", file)
		}
	}
}

// Each operation has a method in each client.
func TestEveryOperationHasAMethod(t *testing.T) {
	t.Parallel()
	ops := readDocument(t).operations()
	if len(ops) < 60 {
		t.Fatalf("%d operations", len(ops))
	}
	for file, form := range map[string]func(op *operation) string{
		"typescript/weft.js":   func(op *operation) string { return "\n  " + op.OperationID + "(" },
		"typescript/weft.d.ts": func(op *operation) string { return "\n  " + op.OperationID + "(" },
		"python/weft.py":       func(op *operation) string { return "\n    def " + snake(op.OperationID) + "(self" },
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			if strings.Count(string(raw), form(op)) != 1 {
				t.Errorf("%s has not one method for %s", file, op.OperationID)
			}
		}
	}
}

func wrap(doc string) string { return strings.Join(strings.Fields(doc), " ") }

// enums are the words that a value may be, without the empty one.
func (s *schema) enums() []string {
	var out []string
	for _, e := range s.Enum {
		if e != "" {
			out = append(out, fmt.Sprintf("%q", e))
		}
	}
	return out
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// snake is a name in Python's style.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if out := b.String(); slices.Contains(pythonKeywords, out) {
		return out + "_"
	}
	return b.String()
}

// pythonKeywords are what no parameter may be called in Python.
var pythonKeywords = strings.Fields("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")
