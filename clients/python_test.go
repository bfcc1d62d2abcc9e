package clients_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// python is the types and the class of weft.py.
func python(doc *document) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name]
		fmt.Fprintf(&b, "%s = TypedDict(%q, {\n", name, name)
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[field]
			typ := pythonType(p)
			if !slices.Contains(s.Required, field) {
				typ = "NotRequired[" + typ + "]"
			}
			fmt.Fprintf(&b, "    %q: %q,%s\n", field, typ, pythonComment(p))
		}
		b.WriteString("})\n\n")
	}
	b.WriteString("\nclass Client(_Core):\n    \"\"\"Calls a cluster. Its parameters: server, token, attempts, timeout (seconds of one attempt), pause (seconds before the second).\"\"\"\n")
	for _, op := range doc.operations() {
		pythonMethod(&b, doc, op)
	}
	return b.String()
}

func pythonComment(s *schema) string {
	doc := wrap(s.Description)
	if words := s.enums(); words != nil {
		doc = strings.TrimSpace("One of " + join(words) + ". " + doc)
	}
	if doc == "" {
		return ""
	}
	return "  # " + doc
}

func pythonMethod(b *strings.Builder, doc *document, op *operation) {
	args, given := []string{"self"}, []string{}
	path := fmt.Sprintf("%q", op.path)
	for _, p := range op.in("path") {
		args = append(args, snake(p.Name)+": str")
		path = "f" + strings.TrimPrefix(strings.ReplaceAll(path, "{"+p.Name+"}", "{_part("+snake(p.Name)+")}"), "f")
	}
	names := slices.Clone(args)
	if s, text, ok := op.body(); ok {
		typ := "Any"
		if s != nil && s.Ref != "" {
			typ = fmt.Sprintf("%q", component(s))
		}
		if text {
			typ = "Union[str, bytes, Mapping[str, Any]]"
		}
		args = append(args, bodyDefault(op, "body: Optional["+typ+"] = None", "body: "+typ))
		given = append(given, bodyDefault(op, "body or {}", "body"))
	}
	var keywords, query []string
	for _, p := range op.in("query") {
		keywords = append(keywords, snake(p.Name)+": Optional["+pythonParameter(p)+"] = None")
		query = append(query, fmt.Sprintf("%q: %s", p.Name, snake(p.Name)))
	}
	options := []string{"wait: Optional[int] = None", "accept: Optional[str] = None"}
	passed := []string{"wait=wait", "accept=accept"}
	if op.method != "GET" {
		options, passed = append(options, "key: Optional[str] = None"), append(passed, "key=key")
	}
	if slices.ContainsFunc(op.in("header"), func(p parameter) bool { return p.Name == "If-Match" }) {
		options, passed = append(options, "if_match: Optional[str] = None"), append(passed, "if_match=if_match")
	}
	if _, text, _ := op.body(); text {
		options, passed = append(options, "content_type: Optional[str] = None"), append(passed, "content_type=content_type")
	}
	args = append(append(append(args, "*"), keywords...), options...)
	call := append(append([]string{fmt.Sprintf("%q", op.method), path, "{" + join(query) + "}"}, given...), passed...)
	fmt.Fprintf(b, "\n    def %s(%s) -> Answer[%s]:\n        \"\"\"%s: %s %s.\"\"\"\n        return self._call(%s)\n",
		snake(op.OperationID), join(args), pythonAnswer(op), strings.ReplaceAll(strings.TrimSuffix(wrap(op.Summary), "."), `\`, `\\`), op.method, op.path, join(call))
	if item, ok := doc.list(op); ok {
		each := []string{}
		for _, p := range op.in("query") {
			each = append(each, fmt.Sprintf("%q: %s", snake(p.Name), snake(p.Name)))
		}
		for _, p := range op.in("path") {
			each = append(each, fmt.Sprintf("%q: %s", snake(p.Name), snake(p.Name)))
		}
		fmt.Fprintf(b, "\n    def %s(%s) -> Iterator[%s]:\n        \"\"\"All pages of %s.\"\"\"\n        return _pages(self.%s, {%s})\n",
			snake(allName(op)), join(append(append(names, "*"), keywords...)), quotedType(pythonType(item)), snake(op.OperationID), snake(op.OperationID), join(each))
	}
}

func quotedType(typ string) string { return fmt.Sprintf("%q", typ) }

func pythonAnswer(op *operation) string {
	refs, raw, none := op.answers()
	if raw {
		refs = append(refs, "Any")
	}
	if none || len(refs) == 0 {
		refs = append(refs, "None")
	}
	if len(refs) == 1 {
		return quotedType(refs[0])
	}
	return quotedType("Union[" + join(refs) + "]")
}

func pythonParameter(p parameter) string {
	switch {
	case p.Schema.Patterns != nil:
		return "Mapping[str, str]"
	case strings.Contains(p.Description, "several may be given"):
		return "Sequence[str]"
	}
	return pythonType(p.Schema)
}

func pythonType(s *schema) string {
	var parts []string
	for _, name := range s.names() {
		switch name {
		case "string":
			parts = append(parts, "str")
		case "boolean":
			parts = append(parts, "bool")
		case "integer":
			parts = append(parts, "int")
		case "number":
			parts = append(parts, "float")
		case "null":
			parts = append(parts, "None")
		case "array":
			parts = append(parts, "List["+pythonType(s.Items)+"]")
		case "object":
			of := "Any"
			if inner := s.inner(); inner != nil {
				of = pythonType(inner)
			}
			parts = append(parts, "Dict[str, "+of+"]")
		}
	}
	if s.Ref != "" {
		parts = append(parts, component(s))
	}
	for _, one := range s.AnyOf {
		parts = append(parts, pythonType(one))
	}
	switch len(parts) {
	case 0:
		return "Any"
	case 1:
		return parts[0]
	}
	return "Union[" + join(parts) + "]"
}
