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
	if len(rows) < 320 {
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

// What stands in for a pair of surrogates moves no place, and takes no character that is in the text.
func TestPairsOfSurrogatesHaveTheirPlace(t *testing.T) {
	t.Parallel()
	src := "a: [\"\\ud83d\\ude00\", \"\\ue000ud83d\\ue000ude00\", \uE001] # \\ud83d\\ude00\nb: {\"\\ud83d\\ude00\": 1, \"\\ud83d\\ude00\": 2}\n"
	r := New([]byte(src), "")
	root := r.Parse()
	var got []any
	for _, p := range r.Pairs(root) {
		got = append(got, r.Value(p.Value))
	}
	if want := []any{"😀", "\ue000ud83d\ue000ude00", "\ue001"}; !reflect.DeepEqual(got[0], want) {
		t.Errorf("%q", got[0])
	}
	if c := root.Content[1].LineComment; c != `# \ud83d\ude00` {
		t.Errorf("comment %q", c)
	}
	problems := r.Report.Problems()
	if len(problems) != 1 || problems[0].Place.Line != 2 || problems[0].Place.Column != 24 {
		t.Errorf("%+v", problems)
	}
}

func TestAValueWithAMistakeIsNoValue(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"a: 1\na: 2\n", "a: 010\n", "a: !foo {b: 1}\n", "- .inf\n"} {
		if v, err := Value([]byte(doc)); err == nil {
			t.Errorf("%q is %v", doc, v)
		}
	}
}
