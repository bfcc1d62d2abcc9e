package yaml_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yamllib "go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow/yaml"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(yaml.Schema(testTypes(t))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, src string) error {
	t.Helper()
	var v any
	if err := yamllib.Unmarshal([]byte(src), &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(jsonLike(v))
}

// jsonLike gives YAML's mappings with other keys than texts as JSON has them.
func jsonLike(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = jsonLike(e)
		}
	case map[any]any:
		out := map[string]any{}
		for k, e := range v {
			if s, ok := k.(string); ok {
				out[s] = jsonLike(e)
			} else {
				out["number"] = jsonLike(e)
			}
		}
		return out
	case time.Time: // editors take times for texts
		return v.Format(time.RFC3339)
	case []any:
		for i, e := range v {
			v[i] = jsonLike(e)
		}
	}
	return v
}

func TestTheSchemaAcceptsWhatIsRead(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, src := range []string{orderApproval, greeting} {
		if err := validate(t, s, src); err != nil {
			t.Errorf("%#v\n%s", err, src)
		}
	}
	for _, c := range goodRoots {
		if err := validate(t, s, "id: x\n"+c.src); err != nil {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

func TestTheSchemaRefusesMistypedKeys(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, src := range []string{
		"id: x", "id: a/b\nroot: []", "id: x\nroots: []\nroot: []", "id: x\nroot: [{writeLin: a}]", "id: x\nroot: [{writeLine: {txt: a}}]",
		"id: x\nroot: [{writeLine: a, then: []}]", "id: x\nroot: [{if: true, thenn: []}]", "id: x\nroot: [{finish: 3}]", "id: x\noptions: {catchUp: never}\nroot: []",
		"id: x\ninputs: {a: strin}\nroot: []",
	} {
		if validate(t, s, src) == nil {
			t.Errorf("accepted:\n%s", src)
		}
	}
}

func TestEqualTypesGiveEqualSchemas(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(yaml.Schema(testTypes(t)), yaml.Schema(testTypes(t))) {
		t.Error("they differ")
	}
}
