package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/pkg/workflow"
)

// describe writes the OpenAPI document of the routes.
func describe(routes []Route, version string) ([]byte, error) {
	types := schema.New()
	problem := types.Of(Problem{}, false)
	paths := map[string]map[string]any{}
	for i := range routes {
		rt := &routes[i]
		p := rt.FullPath()
		if paths[p] == nil {
			paths[p] = map[string]any{}
		}
		paths[p][strings.ToLower(rt.Method)] = operation(rt, types, problem)
	}
	paths[EndpointPrefix+"{path}"] = endpointDoc()
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title":       "Weft",
			"version":     version,
			"description": "A clustered workflow runtime. 200 and 201 mean applied, 202 means durably accepted; after any other answer the caller may repeat with the same Idempotency-Key.",
			"license":     map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"paths": paths,
		"components": map[string]any{"schemas": types.Components, "securitySchemes": map[string]any{
			bearerScheme: map[string]any{"type": "http", "scheme": "bearer",
				"description": "An API key (weft_…) or a JWT of the configured OpenID Connect provider. The roles business, viewer, operator, designer and admin each may do what those before may. A node without credentials asks for none."},
		}},
	}, "", "  ")
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func operation(rt *Route, types *schema.Set, problem schema.Schema) map[string]any {
	op := map[string]any{"operationId": rt.Name, "summary": rt.Summary, "tags": []string{rt.Tag}, "security": security(rt.Role)}
	if params := parameters(rt); len(params) > 0 {
		op["parameters"] = params
	}
	switch {
	case rt.BodyDoc != "":
		text := map[string]any{"schema": schema.Schema{"type": "string"}}
		op["requestBody"] = map[string]any{"required": true, "description": rt.BodyDoc, "content": map[string]any{
			"application/yaml": text, "application/json": map[string]any{"schema": schema.Schema{"type": "object"}},
		}}
	case rt.Body != nil:
		op["requestBody"] = map[string]any{"content": jsonContent(types.Of(rt.Body, true))}
	}
	responses := map[string]any{}
	for code, body := range rt.Answers {
		r := map[string]any{"description": http.StatusText(code)}
		switch typ, isText := body.(TextOf); {
		case isText:
			content := map[string]any{}
			for _, t := range typ {
				content[t] = map[string]any{"schema": schema.Schema{}}
			}
			if rt.Events != nil {
				events := map[string]any{}
				for name, data := range rt.Events {
					events[name] = map[string]any{"schema": types.Of(data, false)}
				}
				r["x-events"] = events
			}
			r["content"] = content
		case body != nil:
			r["content"] = jsonContent(types.Of(body, false))
		}
		if code == http.StatusCreated || code == http.StatusAccepted {
			r["headers"] = map[string]any{"Location": map[string]any{"schema": schema.Schema{"type": "string"}, "description": "Where to look at it."}}
		}
		responses[strconv.Itoa(code)] = r
	}
	if rt.Tagged {
		responses["304"] = map[string]any{"description": "The caller has it, as If-None-Match says."}
	}
	for code, codes := range problemStatuses(rt) {
		slices.Sort(codes)
		r := map[string]any{
			"description": "Problem; code is " + strings.Join(slices.Compact(codes), ", "),
			"content":     map[string]any{"application/problem+json": map[string]any{"schema": problem}},
		}
		if code == http.StatusServiceUnavailable {
			r["headers"] = map[string]any{"Retry-After": map[string]any{"schema": schema.Schema{"type": "integer"}, "description": "Seconds."}}
		}
		responses[strconv.Itoa(code)] = r
	}
	op["responses"] = responses
	return op
}

// TextOf stands for an answer that is not one JSON shape: its media types.
type TextOf []string

func jsonContent(s schema.Schema) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": s}}
}

const bearerScheme = "bearer"

// security says which role a route needs; an empty list is none.
func security(least auth.Role) []map[string][]string {
	if least == auth.Anyone {
		return []map[string][]string{}
	}
	return []map[string][]string{{bearerScheme: {least.String()}}}
}

// problemStatuses groups the problems that a route may answer with by status.
func problemStatuses(rt *Route) map[int][]string {
	by := map[int][]string{}
	codes := []workflow.Code{workflow.CodeInvalid} // of a query that cannot be read
	if rt.Role > auth.Anyone {
		codes = append(codes, workflow.CodeUnauthenticated, codeForbidden, workflow.CodeUnavailable)
	}
	if rt.Kind != Open {
		codes = append(codes, workflow.CodeBusy, workflow.CodeUnavailable, workflow.CodeDraining, workflow.CodeInternal)
	}
	if !isProbe(rt.Path) {
		codes = append(codes, codeHost)
	}
	if rt.keyed() {
		codes = append(codes, workflow.CodeKeyReused, workflow.CodeUnknownOutcome)
	}
	codes = append(codes, rt.Problems...)
	if rt.Body != nil || rt.BodyDoc != "" {
		codes = append(codes, workflow.CodeTooLarge, CodeMediaType, workflow.CodeUnknownOutcome)
	}
	for _, c := range codes {
		by[status[c]] = append(by[status[c]], string(c))
	}
	return by
}

func parameters(rt *Route) []map[string]any {
	var params []map[string]any
	for _, m := range pathParam.FindAllStringSubmatch(rt.Path, -1) {
		params = append(params, map[string]any{"name": m[1], "in": "path", "required": true, "schema": schema.Schema{"type": "string"}})
	}
	for _, q := range rt.Query {
		s := schema.Schema{"type": q.Type}
		if q.Values != nil {
			s["enum"] = q.Values
		}
		p := map[string]any{"name": q.Name, "in": "query", "schema": s}
		if q.Doc != "" {
			p["description"] = q.Doc
		}
		if prefix, each := q.each(); each { // an object whose members are parameters of their own
			p["name"], p["style"], p["explode"] = strings.TrimSuffix(prefix, "."), "form", true
			p["schema"] = schema.Schema{"type": "object", "patternProperties": schema.Schema{"^" + regexp.QuoteMeta(prefix): s}, "additionalProperties": false}
		}
		params = append(params, p)
	}
	header := func(name, doc string) {
		params = append(params, map[string]any{"name": name, "in": "header", "schema": schema.Schema{"type": "string"}, "description": doc})
	}
	if rt.keyed() {
		header("Idempotency-Key", "The same key and request of the same caller give the same answer and one effect as long as the key is kept: 24 h by default, at least 10 minutes; another body or query gives 422.")
	}
	if rt.Waits {
		header("Prefer", "wait=30 waits up to 30 seconds for the end of the instance.")
	}
	if rt.Tagged {
		header("If-None-Match", "The ETag that the caller has: 304 if it is the same.")
	}
	if rt.IfMatch != "" {
		header("If-Match", rt.IfMatch)
	}
	return params
}

// endpointDoc is about what definitions declare; their shapes are their own.
func endpointDoc() map[string]any {
	item := map[string]any{}
	for _, method := range []string{"get", "post", "put", "patch", "delete"} {
		item[method] = map[string]any{
			"operationId": method + "Endpoint", "tags": []string{"endpoints"},
			"summary":    "An HTTP endpoint that a definition declares; the definition says whether it needs credentials",
			"security":   []map[string][]string{{}, {bearerScheme: {}}},
			"parameters": []map[string]any{{"name": "path", "in": "path", "required": true, "schema": schema.Schema{"type": "string"}, "description": "May have slashes."}},
			"responses":  map[string]any{"default": map[string]any{"description": fmt.Sprintf("What the workflow wrote; %d when nothing declares the path.", http.StatusNotFound)}},
		}
	}
	return item
}
