package elsajson

import (
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// Members by which .NET's serializers, and Elsa's on top of them, wrap a value.
const (
	wrapID     = "$id"
	wrapValues = "$values"
	wrapType   = "_type"
	wrapItems  = "_items"
	wrapIsland = "_island"
)

// dictionaries are aliases of objects with free names, in lower case, without .NET's JSON, which is read as it is written.
var dictionaries = []string{"json", "expandoobject", "objectdictionary", "objectmap", "stringdictionary", "stringmap"}

// preserved gives the value of a variable or an input as Elsa reads it for a type, with references: a list
// may be {"$id": "1", "$values": [...]}, and an object may have a $id, which is no member. For other types
// the value is what is written.
func preserved(v any, alias string) any {
	lower := strings.ToLower(alias)
	list := strings.HasSuffix(lower, "[]") || strings.Contains(lower, "<") && !strings.HasPrefix(lower, "idictionary")
	if !list && !strings.HasPrefix(lower, "idictionary") && !slices.Contains(dictionaries, lower) {
		return v
	}
	found := v
	if text, ok := v.(string); ok { // Elsa keeps values of variables, and of expressions of the kind Object, as text
		root, dups, err := jsontree.Parse([]byte(strings.TrimSpace(text)))
		if err != nil || len(dups) > 0 {
			return v
		}
		found = root.Value()
	}
	m, _ := found.(map[string]any)
	_, isText := m[wrapID].(string)
	if items, ok := m[wrapValues].([]any); ok && list && isText && len(m) == 2 {
		return items
	}
	if !isText || list {
		return v
	}
	delete(m, wrapID)
	return m
}

// bag gives a value of customProperties and metadata, where Elsa writes types beside lists and libraries' JSON objects.
func bag(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = bag(v[i])
		}
	case map[string]any:
		if typ, ok := v[wrapType].(string); ok {
			if inner, ok := island(v, names.Class(typ, "")); ok {
				return inner
			}
			for _, name := range []string{wrapItems, wrapValues} {
				if items, ok := v[name].([]any); ok {
					return bag(items)
				}
			}
		}
		for name := range v {
			v[name] = bag(v[name])
		}
	}
	return v
}

// island gives what a library's JSON object or list has, which Elsa writes as text.
func island(v map[string]any, class string) (any, bool) {
	text, ok := v[wrapIsland].(string)
	object := class == "JObject" || class == "JsonObject"
	if !ok || !object && class != "JArray" && class != "JsonArray" {
		return nil, false
	}
	switch root, _, err := jsontree.Parse([]byte(text)); {
	case err == nil:
		return root.Value(), true
	case strings.TrimSpace(text) != "":
		return nil, false
	case object:
		return map[string]any{}, true
	}
	return []any{}, true
}

// mostDigits is how many a decimal of .NET always has room for.
const mostDigits = 28

var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// spelled gives a number for an input that is a text. To Elsa it is a decimal, which keeps its last zeros: 1.10 is the text 1.10.
func spelled(n *jsontree.Node, want workflow.InputDescriptor) (string, bool) {
	if n.Kind != jsontree.Number || want.Type != "String" || !plainNumber.MatchString(n.Text) || len(strings.TrimLeft(n.Text, "-0.")) > mostDigits {
		return "", false
	}
	if string(marshal(n.Value())) == n.Text {
		return "", false // the same text comes of the number, which is written so
	}
	if strings.Trim(n.Text, "-0.") == "" {
		return strings.TrimPrefix(n.Text, "-"), true
	}
	return n.Text, true
}
