package instances

import (
	"encoding/json"
	"testing"

	"github.com/weft-run/weft/internal/people/console/shape"
)

func TestWhatBecameOfAVariable(t *testing.T) {
	t.Parallel()
	is := func(raw string) *shape.Variable { return &shape.Variable{Value: json.RawMessage(raw)} }
	for _, c := range []struct {
		before, after *shape.Variable
		want          string
	}{
		{nil, is("1"), "added"}, {is("null"), is("1"), "added"}, {is("1"), nil, "removed"}, {is("1"), is("null"), "removed"},
		{is("1"), is("2"), "changed"}, {is("1"), is("1"), "as before"}, {nil, is("null"), "as before"}, {nil, nil, "as before"},
		{&shape.Variable{Hidden: true}, is("1"), "set"}, {nil, &shape.Variable{Hidden: true}, "added"}, {&shape.Variable{Hidden: true}, nil, "removed"},
		{&shape.Variable{Value: json.RawMessage(`"a"`), Clipped: true}, &shape.Variable{Value: json.RawMessage(`"a"`), Clipped: true}, "set"},
		{&shape.Variable{Value: json.RawMessage(`"a"`), Clipped: true}, &shape.Variable{Value: json.RawMessage(`"b"`), Clipped: true}, "changed"},
	} {
		if got := (variableChange{Before: c.before, After: c.after}).What(); got != c.want {
			t.Errorf("%v to %v is %s, want %s", c.before, c.after, got, c.want)
		}
	}
}
