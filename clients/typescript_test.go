package clients_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// scriptMethods is the class of weft.js.
func scriptMethods(doc *document) string {
	var b strings.Builder
	b.WriteString("export class Client extends Core {\n")
	for _, op := range doc.operations() {
		args, call := scriptArguments(op)
		path := pathParameter.ReplaceAllString(op.path, "${part($1)}")
		fmt.Fprintf(&b, "  %s(%s) {\n    return this.call(%q, `%s`, { %s });\n  }\n\n", op.OperationID, args, op.method, path, call)
		if _, ok := doc.list(op); ok {
			names := pathNames(op)
			fmt.Fprintf(&b, "  %s(%s) {\n    return this.pages((page) => this.%s(%s), query);\n  }\n\n",
				allName(op), join(append(slices.Clone(names), "query = {}", "options = {}")), op.OperationID, join(append(names, "page", "options")))
		}
	}
	return strings.TrimSuffix(b.String(), "\n") + "}\n"
}

func pathNames(op *operation) (names []string) {
	for _, p := range op.in("path") {
		names = append(names, p.Name)
	}
	return names
}

func join(words []string) string { return strings.Join(words, ", ") }

// scriptArguments are the parameters of a method, and what it hands on.
func scriptArguments(op *operation) (args, call string) {
	names, given := pathNames(op), []string{}
	if _, _, ok := op.body(); ok {
		names, given = append(names, bodyDefault(op, "body = {}", "body")), append(given, "body")
	}
	if len(op.in("query")) > 0 {
		names, given = append(names, "query = {}"), append(given, "query")
	}
	return join(append(names, "options = {}")), join(append(given, "options"))
}

// bodyDefault tells bodies that may be left out: those of which nothing is required.
func bodyDefault(op *operation, optional, required string) string {
	if s, text, _ := op.body(); text || s == nil || s.Ref == "" {
		return required
	}
	return optional
}

// scriptTypes is weft.d.ts.
func scriptTypes(doc *document) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name]
		fmt.Fprintf(&b, "export interface %s {\n", name)
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			p, optional := s.Properties[field], "?"
			if slices.Contains(s.Required, field) {
				optional = ""
			}
			if p.Description != "" {
				fmt.Fprintf(&b, "  /** %s */\n", strings.ReplaceAll(wrap(p.Description), "*/", "* /"))
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", scriptKey(field), optional, scriptType(p))
		}
		b.WriteString("}\n\n")
	}
	b.WriteString("export class Client {\n  constructor(config?: Config);\n\n")
	for _, op := range doc.operations() {
		scriptSignature(&b, doc, op)
	}
	b.WriteString(`  /**
   * The server-sent events of GET /stream, until the caller leaves the loop. It comes back by itself, behind the last
   * event, so that nothing is missed. It ends with an error when the server refuses, or when as many attempts in
   * a row as the client makes brought nothing, not even the comment of a quiet stream.
   */
  stream(query: { topics: string[]; after?: string }, options?: Options): AsyncIterableIterator<StreamEvent>;

  /** Calls an HTTP endpoint that a definition declares. */
  endpoint(method: string, path: string, init?: RequestInit): Promise<Response>;
}
`)
	return b.String()
}

func scriptSignature(b *strings.Builder, doc *document, op *operation) {
	var args []string
	for _, name := range pathNames(op) {
		args = append(args, name+": string")
	}
	names := slices.Clone(args)
	if s, text, ok := op.body(); ok {
		typ := "unknown"
		if s != nil && s.Ref != "" {
			typ = component(s)
		}
		if text {
			typ = "string | object"
		}
		args = append(args, bodyDefault(op, "body?: ", "body: ")+typ)
	}
	query := ""
	if params := op.in("query"); len(params) > 0 {
		query = "{ "
		for _, p := range params {
			query += fmt.Sprintf("%s?: %s; ", scriptKey(p.Name), scriptParameter(p))
		}
		query += "}"
		args = append(args, "query?: "+query)
	}
	args = append(args, "options?: Options")
	fmt.Fprintf(b, "  /** %s: %s %s. */\n  %s(%s): Promise<Answer<%s>>;\n\n", strings.TrimSuffix(wrap(op.Summary), "."), op.method, op.path, op.OperationID, join(args), scriptAnswer(op))
	if item, ok := doc.list(op); ok {
		fmt.Fprintf(b, "  /** All pages of %s. */\n  %s(%s): AsyncIterableIterator<%s>;\n\n", op.OperationID, allName(op), join(append(names, "query?: "+query, "options?: Options")), scriptType(item))
	}
}

func scriptAnswer(op *operation) string {
	refs, raw, none := op.answers()
	if raw {
		refs = append(refs, "any")
	}
	if none {
		refs = append(refs, "undefined")
	}
	if len(refs) == 0 {
		return "undefined"
	}
	return strings.Join(refs, " | ")
}

func scriptParameter(p parameter) string {
	switch {
	case p.Schema.Patterns != nil:
		return "Record<string, string>"
	case strings.Contains(p.Description, "several may be given"):
		return "string[]"
	}
	return scriptType(p.Schema)
}

var plainKey = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

func scriptKey(name string) string {
	if plainKey.MatchString(name) {
		return name
	}
	return fmt.Sprintf("%q", name)
}

func scriptType(s *schema) string {
	if words := s.enums(); words != nil {
		if slices.Contains(s.Enum, "") {
			words = append(words, `""`)
		}
		return strings.Join(words, " | ")
	}
	var parts []string
	for _, name := range s.names() {
		switch name {
		case "string", "boolean", "null":
			parts = append(parts, name)
		case "integer", "number":
			parts = append(parts, "number")
		case "array":
			parts = append(parts, "Array<"+scriptType(s.Items)+">")
		case "object":
			of := "any"
			if inner := s.inner(); inner != nil {
				of = scriptType(inner)
			}
			parts = append(parts, "Record<string, "+of+">")
		}
	}
	if s.Ref != "" {
		parts = append(parts, component(s))
	}
	for _, one := range s.AnyOf {
		parts = append(parts, scriptType(one))
	}
	if len(parts) == 0 {
		return "any"
	}
	return strings.Join(parts, " | ")
}
