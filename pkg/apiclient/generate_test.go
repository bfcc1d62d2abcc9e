package apiclient_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/weft-run/weft/pkg/apiclient"
)

var update = flag.Bool("update", false, "write operations_gen.go and types_gen.go")

// schema is the part of JSON Schema that openapi.json uses.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        any                `json:"type"`
	Format      string             `json:"format"`
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Patterns    map[string]*schema `json:"patternProperties"`
	Additional  any                `json:"additionalProperties"`
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
	OperationID string
	Summary     string
	Parameters  []parameter
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Content     map[string]media
	}
	Security []map[string][]string

	method, path string
}

type document struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
}

// byHand are operations whose methods are not generated: what they answer is not one value.
var byHand = map[string]string{
	"listInstances": "ListInstances",
	"stream":        "Stream", "getEndpoint": "Endpoint", "postEndpoint": "Endpoint", "putEndpoint": "Endpoint", "patchEndpoint": "Endpoint", "deleteEndpoint": "Endpoint",
}

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
	for path, methods := range doc.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
		}
	}
	return doc
}

// operations are all of them, by name.
func (d *document) operations() []*operation {
	var out []*operation
	for _, methods := range d.Paths {
		out = slices.AppendSeq(out, maps.Values(methods))
	}
	slices.SortFunc(out, func(a, b *operation) int { return cmp.Compare(a.OperationID, b.OperationID) })
	return out
}

func TestEveryOperationHasAMethod(t *testing.T) {
	t.Parallel()
	client := reflect.TypeFor[*apiclient.Client]()
	ops := readDocument(t).operations()
	if len(ops) < 40 {
		t.Fatalf("%d operations", len(ops))
	}
	for _, op := range ops {
		name := cmp.Or(byHand[op.OperationID], exported(op.OperationID))
		if _, ok := client.MethodByName(name); !ok {
			t.Errorf("%s %s (%s) has no method %s; run go generate ./pkg/apiclient", op.method, op.path, op.OperationID, name)
		}
	}
}

// The client says what the nodes of this commit serve.
func TestClientIsCurrent(t *testing.T) {
	t.Parallel()
	g := &generator{doc: readDocument(t), usedBy: map[string][]string{}, unions: map[string][]string{}}
	operations := g.operations()
	for name, source := range map[string]string{"operations_gen.go": operations, "types_gen.go": g.types()} {
		formatted, err := format.Source([]byte(source))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, source)
		}
		if *update {
			if err := os.WriteFile(name, formatted, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, formatted) {
			t.Errorf("%s is not what openapi.json says (%v); run go generate ./pkg/apiclient", name, err)
		}
	}
}

type generator struct {
	doc    *document
	usedBy map[string][]string // operations, by component
	unions map[string][]string // components, by name of the union
}

const header = "// Code generated from openapi.json by go generate ./pkg/apiclient; DO NOT EDIT.\n\npackage apiclient\n\n"

func (g *generator) operations() string {
	var b strings.Builder
	for _, op := range g.doc.operations() {
		g.operation(&b, op)
	}
	text := b.String()
	imports := `"context"` + "\n"
	for _, pkg := range []string{"iter", "net/url", "strconv"} {
		if strings.Contains(text, pkg[strings.LastIndexByte(pkg, '/')+1:]+".") {
			imports += fmt.Sprintf("%q\n", pkg)
		}
	}
	return header + "import (\n" + imports + ")\n\n" + text
}

func (g *generator) operation(b *strings.Builder, op *operation) {
	name := exported(op.OperationID)
	args, path := "ctx context.Context", fmt.Sprintf("%q", op.path)
	var query []parameter
	for _, p := range op.Parameters {
		switch p.In {
		case "path":
			args += ", " + p.Name + " string"
			path = strings.ReplaceAll(path, "{"+p.Name+"}", `" + url.PathEscape(`+p.Name+`) + "`)
		case "query":
			query = append(query, p)
		}
	}
	path = strings.TrimSuffix(path, ` + ""`)
	if byHand[op.OperationID] != "" {
		if op.OperationID == "listInstances" { // its two shapes have one method each
			g.query(b, name, query)
			g.answer(op)
			delete(g.unions, "InstanceFoundOrSummaryFound")
		}
		return
	}
	body := "nil"
	if op.RequestBody != nil {
		body = "body"
		if s := op.RequestBody.Content["application/json"].Schema; s.Ref != "" {
			g.use(s, op)
			args += ", body " + component(s)
		} else {
			args += ", body []byte"
		}
	}
	queryArg := "nil"
	if len(query) > 0 {
		g.query(b, name, query)
		args += ", query " + name + "Query"
		queryArg = "query.values()"
	}
	answer := g.answer(op)
	fmt.Fprintf(b, "// %s: %s.\n// It is %s %s%s.\n", name, strings.TrimSuffix(op.Summary, "."), op.method, op.path, g.problems(op))
	fmt.Fprintf(b, "func (c *Client) %s(%s, opts ...Option) (*Answer[%s], error) {\n", name, args, answer)
	fmt.Fprintf(b, "return call[%s](ctx, c, request{method: %q, path: %s, query: %s, body: %s}, opts)\n}\n\n", answer, op.method, path, queryArg, body)
	g.pages(b, name, answer, args, query)
}

// pages writes the iterator over all pages of a list.
func (g *generator) pages(b *strings.Builder, name, answer, args string, query []parameter) {
	page := g.doc.Components.Schemas[answer]
	if page == nil || page.Properties["items"] == nil || !slices.ContainsFunc(query, func(p parameter) bool { return p.Name == "cursor" }) {
		return
	}
	item := g.typeOf(page.Properties["items"].Items)
	all := "All" + strings.TrimPrefix(strings.TrimPrefix(name, "List"), "Get")
	names := "ctx"
	for _, arg := range strings.Split(args, ", ")[1:] {
		names += ", " + strings.Fields(arg)[0]
	}
	fmt.Fprintf(b, "// %s goes through all pages of [Client.%s], from the cursor of query on.\n", all, name)
	fmt.Fprintf(b, "func (c *Client) %s(%s, opts ...Option) iter.Seq2[%s, error] {\n", all, args, item)
	fmt.Fprintf(b, "return pages(func(cursor string) ([]%s, *string, error) {\nif cursor != \"\" {\nquery.Cursor = cursor\n}\npage, err := c.%s(%s, opts...)\n", item, name, names)
	fmt.Fprintf(b, "if err != nil {\nreturn nil, nil, err\n}\nreturn page.Body.Items, page.Body.NextCursor, nil\n})\n}\n\n")
}

// problems are the codes of an operation that are its own.
func (g *generator) problems(op *operation) string {
	var codes []string
	for _, status := range []string{"404", "409", "412"} {
		if _, list, ok := strings.Cut(op.Responses[status].Description, "code is "); ok {
			codes = append(codes, strings.Split(list, ", ")...)
		}
	}
	text := ""
	if len(op.Security) > 0 {
		text = ", for the role " + op.Security[0]["bearer"][0]
	}
	if len(codes) > 0 {
		text += "; problems of its own are " + strings.Join(codes, ", ")
	}
	return text
}

// query writes the struct of an operation's query.
func (g *generator) query(b *strings.Builder, name string, params []parameter) {
	fmt.Fprintf(b, "// %sQuery is the query of [Client.%s]; zero fields are left out.\ntype %sQuery struct {\n", name, name, name)
	var set strings.Builder
	for _, p := range params {
		field, typ, doc := exported(p.Name), "string", p.Description
		switch {
		case p.Schema.Patterns != nil:
			typ = "map[string]string"
			fmt.Fprintf(&set, "for name, value := range q.%s {\nset(v, %q+name, value)\n}\n", field, p.Name+".")
		case strings.Contains(doc, "several may be given"):
			typ = "[]string"
			fmt.Fprintf(&set, "v[%q] = q.%s\n", p.Name, field)
		case p.Schema.Type == "boolean":
			typ = "*bool"
			fmt.Fprintf(&set, "if q.%s != nil {\nset(v, %q, strconv.FormatBool(*q.%s))\n}\n", field, p.Name, field)
		case p.Schema.Type == "integer" && slices.Contains([]string{"limit", "version", "tail", "items"}, p.Name):
			typ = "int64"
			fmt.Fprintf(&set, "if q.%s != 0 {\nset(v, %q, strconv.FormatInt(q.%s, 10))\n}\n", field, p.Name, field)
		case p.Schema.Type == "integer":
			typ = "*int64"
			fmt.Fprintf(&set, "if q.%s != nil {\nset(v, %q, strconv.FormatInt(*q.%s, 10))\n}\n", field, p.Name, field)
		default:
			fmt.Fprintf(&set, "set(v, %q, q.%s)\n", p.Name, field)
		}
		if p.Schema.Enum != nil {
			doc = strings.TrimSpace("One of " + strings.Join(p.Schema.Enum, ", ") + ". " + doc)
		}
		fmt.Fprintf(b, "%s %s%s\n", field, typ, comment(doc))
	}
	fmt.Fprintf(b, "}\n\nfunc (q %sQuery) values() url.Values {\nv := url.Values{}\n%sreturn v\n}\n\n", name, set.String())
}

// answer is the type of what an operation answers with.
func (g *generator) answer(op *operation) string {
	var parts []string
	raw := false
	for _, status := range []string{"200", "201", "202"} {
		for typ, content := range op.Responses[status].Content {
			if typ != "application/json" || content.Schema.Ref == "" && content.Schema.AnyOf == nil {
				raw = true
				continue
			}
			for _, s := range append(content.Schema.AnyOf, content.Schema) {
				if s.Ref != "" && !slices.Contains(parts, component(s)) {
					g.use(s, op)
					parts = append(parts, component(s))
				}
			}
		}
	}
	switch {
	case raw:
		return "Raw"
	case len(parts) == 0:
		return "None"
	case len(parts) == 1:
		return parts[0]
	}
	name := strings.Join(parts, "Or")
	g.unions[name] = parts
	return name
}

func (g *generator) use(s *schema, op *operation) {
	name := component(s)
	if !slices.Contains(g.usedBy[name], exported(op.OperationID)) {
		g.usedBy[name] = append(g.usedBy[name], exported(op.OperationID))
	}
}

func (g *generator) types() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.doc.Components.Schemas)) {
		g.component(&b, name)
	}
	for _, name := range slices.Sorted(maps.Keys(g.unions)) {
		parts := g.unions[name]
		fmt.Fprintf(&b, "// %s is one of these; the others are nil.\ntype %s struct {\n", name, name)
		for _, part := range parts {
			fmt.Fprintf(&b, "%s *%s\n", part, part)
		}
		fmt.Fprintf(&b, "}\n\n// UnmarshalJSON takes the shape that the fields are of.\nfunc (u *%s) UnmarshalJSON(raw []byte) error {\nreturn choose(raw, ", name)
		for _, part := range parts {
			fmt.Fprintf(&b, "\nalternative{[]string{%s}, func() any { u.%s = &%s{}; return u.%s }},", quoted(g.doc.Components.Schemas[part].Required), part, part, part)
		}
		b.WriteString("\n)\n}\n\n")
	}
	imports := ""
	if strings.Contains(b.String(), "time.Time") {
		imports = "import \"time\"\n\n"
	}
	return header + imports + b.String()
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(out, ", ")
}

func (g *generator) component(b *strings.Builder, name string) {
	s := g.doc.Components.Schemas[name]
	isRequest := strings.HasSuffix(name, "Request")
	doc := name + " is a part of other answers."
	if by := g.usedBy[name]; by != nil {
		for i, op := range by {
			by[i] = "[Client." + op + "]"
		}
		doc = name + map[bool]string{true: " is the body of ", false: " is the answer of "}[isRequest] + strings.Join(by, ", ") + "."
	}
	if isRequest && g.usedBy[name] == nil {
		doc = name + " is a part of other bodies. Zero fields are left out."
	} else if isRequest {
		doc += " Zero fields are left out."
	}
	fmt.Fprintf(b, "// %s\ntype %s struct {\n", doc, name)
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		typ, options := g.typeOf(p), ""
		if isRequest || !slices.Contains(s.Required, field) {
			options = ",omitempty"
			if typ == "time.Time" {
				options = ",omitzero"
			}
		}
		text := p.Description
		if values := slices.DeleteFunc(slices.Clone(p.Enum), func(v string) bool { return v == "" }); len(values) > 0 {
			text = strings.TrimSpace("One of " + strings.Join(values, ", ") + ". " + text)
		}
		fmt.Fprintf(b, "%s %s `json:\"%s%s\"`%s\n", exported(field), typ, field, options, comment(text))
	}
	b.WriteString("}\n\n")
}

// typeOf is the Go type of a schema: of what may be null a pointer, of anything any.
func (g *generator) typeOf(s *schema) string {
	switch typ := s.Type.(type) {
	case []any:
		plain := *s
		plain.Type = typ[0]
		return "*" + g.typeOf(&plain)
	case string:
		switch typ {
		case "string":
			if s.Format == "date-time" {
				return "time.Time"
			}
			return "string"
		case "boolean":
			return "bool"
		case "integer":
			return "int64"
		case "number":
			return "float64"
		case "array":
			return "[]" + g.typeOf(s.Items)
		case "object":
			of := "any"
			if inner, ok := s.Additional.(map[string]any); ok && len(inner) > 0 {
				raw, _ := json.Marshal(inner)
				var value schema
				if json.Unmarshal(raw, &value) == nil {
					of = g.typeOf(&value)
				}
			}
			return "map[string]" + of
		}
	}
	if s.Ref != "" {
		return component(s)
	}
	if len(s.AnyOf) == 2 && s.AnyOf[0].Ref != "" && s.AnyOf[1].Type == "null" {
		return "*" + component(s.AnyOf[0])
	}
	return "any"
}

func component(s *schema) string { return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] }

func comment(doc string) string {
	if doc == "" {
		return ""
	}
	return " // " + strings.Join(strings.Fields(doc), " ")
}

// initialisms are written in capitals in Go.
var initialisms = map[string]string{"Id": "ID", "Url": "URL", "Sha256": "SHA256", "Ttl": "TTL", "Json": "JSON", "Http": "HTTP"}

// exported is a name of JSON as one of Go.
func exported(name string) string {
	var words []string
	for i, r := range name {
		if i == 0 || unicode.IsUpper(r) {
			words = append(words, "")
		}
		words[len(words)-1] += string(r)
	}
	for i, w := range words {
		w = strings.ToUpper(w[:1]) + w[1:]
		words[i] = cmp.Or(initialisms[w], w)
	}
	return strings.Join(words, "")
}
