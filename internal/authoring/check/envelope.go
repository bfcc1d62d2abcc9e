package check

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/authoring/check/dotnet"
	"github.com/weft-run/weft/pkg/workflow"
)

// wrapping are members by which .NET's serializers, and Elsa's on top of them, write a value's type, a list, or
// that it is one from before. What Elsa reads of them without types was read before this: what is left is a field like any other.
var wrapping = []string{"$type", "$ref", "$values", "_type", "_items", "_island"}

// reference is the number of an object, and no address as in a JSON schema.
var reference = regexp.MustCompile(`^[0-9]+$`)

// envelope reports a value of Elsa's JSON that has such a member, also one that is the text of an object or a list.
func envelope(c *checker, p place, at workflow.Place, e workflow.Expression, what string) {
	if !c.elsa() || e.Kind != workflow.Literal && e.Kind != workflow.Object || c.full() {
		return
	}
	v := e.Value
	text, isText := v.(string)
	if isText {
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || workflow.Unmarshal([]byte(text), &v) != nil {
			return
		}
	}
	name, where := wrapped(v, "", 0)
	if name == "" {
		return
	}
	where += "/" + name
	q := warning("typed-envelope", "%s has %s at %s, by which .NET's serializers wrap a value; here it is a field like any other: write the value itself, without it", what, name, workflow.Shorten(where))
	if isText {
		q.Within = workflow.Within{Text: e.Value.(string), Offset: max(0, strings.Index(e.Value.(string), strconv.Quote(name)))}
	}
	c.report(p, at, q)
}

// wrapped is the first such member in a value, in the order of the names, and the JSON pointer of the object that has it.
func wrapped(v any, ptr string, depth int) (name, where string) {
	if depth >= mostDepth {
		return "", ""
	}
	switch v := v.(type) {
	case []any:
		for i, kid := range v {
			if name, where = wrapped(kid, ptr+"/"+strconv.Itoa(i), depth+1); name != "" {
				return name, where
			}
		}
	case map[string]any:
		for _, name := range wrapping {
			text, isText := v[name].(string)
			_, isList := v[name].([]any)
			list := name == "$values" || name == "_items"
			if list && isList || !list && isText && (name != "$ref" || reference.MatchString(text)) {
				return name, ptr
			}
		}
		for _, key := range sortedKeys(v) {
			if name, where = wrapped(v[key], ptr+"/"+key, depth+1); name != "" {
				return name, where
			}
		}
	}
	return "", ""
}

// fits warns of a number that its type of .NET has not, or not all of whose digits are kept.
func fits(c *checker, v any, typ, what string, at workflow.Place) {
	if code, detail := dotnet.Misfit(v, typ, c.elsa()); code != "" {
		c.report(place{}, at, warning(code, "%s is %s", what, detail))
	}
}
