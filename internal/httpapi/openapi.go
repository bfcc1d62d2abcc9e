package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// describe writes the OpenAPI document of the routes.
func describe(routes []route, version string) ([]byte, error) {
	types := &schemas{components: map[string]schema{}, types: map[string]reflect.Type{}}
	problem := types.of(problemView{}, false)
	paths := map[string]map[string]any{}
	for i := range routes {
		rt := &routes[i]
		p := rt.fullPath()
		if paths[p] == nil {
			paths[p] = map[string]any{}
		}
		paths[p][strings.ToLower(rt.method)] = operation(rt, types, problem)
	}
	paths[endpointPrefix+"{path}"] = endpointDoc()
	return json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title":       "Weft",
			"version":     version,
			"description": "A clustered workflow runtime. 200 and 201 mean applied, 202 means durably accepted; after any other answer the caller may repeat with the same Idempotency-Key.",
			"license":     map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"paths": paths,
		"components": map[string]any{"schemas": types.components, "securitySchemes": map[string]any{
			bearerScheme: map[string]any{"type": "http", "scheme": "bearer",
				"description": "An API key (weft_…) or a JWT of the configured OpenID Connect provider. The roles viewer, operator, designer and admin each may do what those before may. A node without credentials asks for none."},
		}},
	}, "", "  ")
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func operation(rt *route, types *schemas, problem schema) map[string]any {
	op := map[string]any{"operationId": rt.name, "summary": rt.summary, "tags": []string{rt.tag}, "security": security(rt.role)}
	if params := parameters(rt); len(params) > 0 {
		op["parameters"] = params
	}
	switch {
	case rt.bodyDoc != "":
		text := map[string]any{"schema": schema{"type": "string"}}
		op["requestBody"] = map[string]any{"required": true, "description": rt.bodyDoc, "content": map[string]any{
			"application/yaml": text, "application/json": map[string]any{"schema": schema{"type": "object"}},
		}}
	case rt.body != nil:
		op["requestBody"] = map[string]any{"content": jsonContent(types.of(rt.body, true))}
	}
	responses := map[string]any{}
	for code, body := range rt.answers {
		r := map[string]any{"description": http.StatusText(code)}
		switch typ, isText := body.(textOf); {
		case isText:
			content := map[string]any{}
			for _, t := range typ {
				content[t] = map[string]any{"schema": schema{}}
			}
			if rt.events != nil {
				events := map[string]any{}
				for name, data := range rt.events {
					events[name] = map[string]any{"schema": types.of(data, false)}
				}
				r["x-events"] = events
			}
			r["content"] = content
		case body != nil:
			r["content"] = jsonContent(types.of(body, false))
		}
		if code == http.StatusCreated || code == http.StatusAccepted {
			r["headers"] = map[string]any{"Location": map[string]any{"schema": schema{"type": "string"}, "description": "Where to look at it."}}
		}
		responses[strconv.Itoa(code)] = r
	}
	for code, codes := range problemStatuses(rt) {
		slices.Sort(codes)
		r := map[string]any{
			"description": "Problem; code is " + strings.Join(slices.Compact(codes), ", "),
			"content":     map[string]any{"application/problem+json": map[string]any{"schema": problem}},
		}
		if code == http.StatusServiceUnavailable {
			r["headers"] = map[string]any{"Retry-After": map[string]any{"schema": schema{"type": "integer"}, "description": "Seconds."}}
		}
		responses[strconv.Itoa(code)] = r
	}
	op["responses"] = responses
	return op
}

// textOf stands for an answer that is not one JSON shape: its media types.
type textOf []string

func jsonContent(s schema) map[string]any {
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
func problemStatuses(rt *route) map[int][]string {
	by := map[int][]string{}
	var codes []workflow.Code
	if rt.role > auth.Anyone {
		codes = append(codes, workflow.CodeUnauthenticated, codeForbidden, workflow.CodeUnavailable)
	}
	if rt.kind != open {
		codes = append(codes, workflow.CodeInvalid, workflow.CodeBusy, workflow.CodeUnavailable, workflow.CodeDraining, workflow.CodeInternal)
	}
	if !isProbe(rt.path) {
		codes = append(codes, codeHost)
	}
	codes = append(codes, rt.problems...)
	if rt.body != nil || rt.bodyDoc != "" {
		codes = append(codes, workflow.CodeTooLarge, codeMediaType, workflow.CodeUnknownOutcome)
	}
	for _, c := range codes {
		by[status[c]] = append(by[status[c]], string(c))
	}
	return by
}

func parameters(rt *route) []map[string]any {
	var params []map[string]any
	for _, m := range pathParam.FindAllStringSubmatch(rt.path, -1) {
		params = append(params, map[string]any{"name": m[1], "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	for _, q := range rt.query {
		s := schema{"type": q.typ}
		if q.values != nil {
			s["enum"] = q.values
		}
		p := map[string]any{"name": q.name, "in": "query", "schema": s}
		if q.doc != "" {
			p["description"] = q.doc
		}
		if prefix, each := q.each(); each { // an object whose members are parameters of their own
			p["name"], p["style"], p["explode"] = strings.TrimSuffix(prefix, "."), "form", true
			p["schema"] = schema{"type": "object", "patternProperties": schema{"^" + regexp.QuoteMeta(prefix): s}, "additionalProperties": false}
		}
		params = append(params, p)
	}
	header := func(name, doc string) {
		params = append(params, map[string]any{"name": name, "in": "header", "schema": schema{"type": "string"}, "description": doc})
	}
	if rt.idempotent {
		header("Idempotency-Key", "The same key and request of the same caller give the same answer and one effect as long as the key is kept: 24 h by default, at least 10 minutes; another body or query gives 422.")
	}
	if rt.waits {
		header("Prefer", "wait=30 waits up to 30 seconds for the end of the instance.")
	}
	if rt.ifMatch != "" {
		header("If-Match", rt.ifMatch)
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
			"parameters": []map[string]any{{"name": "path", "in": "path", "required": true, "schema": schema{"type": "string"}, "description": "May have slashes."}},
			"responses":  map[string]any{"default": map[string]any{"description": fmt.Sprintf("What the workflow wrote; %d when nothing declares the path.", http.StatusNotFound)}},
		}
	}
	return item
}
