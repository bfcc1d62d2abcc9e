package tree

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Each document was read by yaml 2.8.1 of npm ("core": YAML 1.2 with its core schema; merge keys where there is a <<) and js-yaml 4.1.0
// (given where it differs): what stands behind v, as JSON. With "weft" the reader gives something else or refuses, and "why" is the
// reason, which stands in docs/notation.md. Where a text is wanted, a plain scalar is the text that is written.
func TestYAMLIsReadAsItsCoreSchema(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/core.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ YAML, Core, Weft, Why string }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 300 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if (row.Weft == "") != (row.Why == "") {
			t.Errorf("%q: %s, why %q", row.YAML, row.Weft, row.Why)
		}
		want := row.Core
		if row.Weft != "" {
			want = row.Weft
		}
		got, text := behindV(t, row.YAML)
		if got != want && !sameJSON(got, want) {
			t.Errorf("%q: %s; want %s (core schema: %s)", row.YAML, got, want, row.Core)
		}
		written := strings.TrimSpace(strings.TrimPrefix(row.YAML, "v: "))
		if row.Why == "two versions" && text != written {
			t.Errorf("%q: where a text is wanted it is %q", row.YAML, text)
		}
	}
}

// behindV gives the value of the key v as JSON, and the text where one is wanted.
func behindV(t *testing.T, doc string) (value, text string) {
	t.Helper()
	r := New([]byte(doc), "")
	value = "undefined"
	if root := r.Parse(); root != nil && root.Kind == yaml.MappingNode {
		for _, p := range r.Pairs(root) {
			if p.Name != "v" {
				continue
			}
			raw, err := json.Marshal(r.Value(p.Value))
			if err != nil {
				t.Fatal(err)
			}
			value = string(raw)
			if p.Value.Kind == yaml.ScalarNode {
				text = r.Text(p.Value, "v")
			}
		}
	}
	if !r.Report.Empty() {
		value = "refused"
	}
	return value, text
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func TestAValueWithAMistakeIsNoValue(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"a: 1\na: 2\n", "a: 010\n", "a: !foo {b: 1}\n", "- .inf\n"} {
		if v, err := Value([]byte(doc)); err == nil {
			t.Errorf("%q is %v", doc, v)
		}
	}
}
