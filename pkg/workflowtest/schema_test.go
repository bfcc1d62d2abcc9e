package workflowtest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yamllib "go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
	"github.com/weft-run/weft/pkg/workflowtest"
)

//go:generate go test -run TestSchemaFilesAreCurrent -count=1 -update .

var update = flag.Bool("update", false, "write the schemas of docs/schema")

const schemas = "../../docs/schema"

// The files are what a program of this commit says with weft schema.
func TestSchemaFilesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]byte{"v1.json": yaml.Schema(activities.Default()), "test-v1.json": workflowtest.Schema()} {
		file := filepath.Join(schemas, name)
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/schema/%s is stale (%v); run go generate ./pkg/workflowtest", name, err)
		}
	}
}

func compiled(t *testing.T, src []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
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

func valid(t *testing.T, s *jsonschema.Schema, src []byte) error {
	t.Helper()
	var v any
	if err := yamllib.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(asJSON(v))
}

// asJSON gives what YAML has as an editor takes it: times are texts, and so are keys.
func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = asJSON(e)
		}
	case map[any]any:
		out := map[string]any{}
		for k, e := range v {
			raw, _ := json.Marshal(k)
			out[strings.Trim(string(raw), `"`)] = asJSON(e)
		}
		return out
	case []any:
		for i, e := range v {
			v[i] = asJSON(e)
		}
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return v
}

// What is read is valid: every test file and every definition in YAML of this tree that
// is right.
func TestTheSchemasAcceptWhatIsRead(t *testing.T) {
	t.Parallel()
	definitions, tests := compiled(t, yaml.Schema(activities.Default())), compiled(t, workflowtest.Schema())
	n := map[bool]int{}
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return skip(err)
		}
		if d.IsDir() || filepath.Ext(file) != ".yaml" {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		isTest, schema := strings.HasSuffix(file, ".test.yaml"), definitions
		if isTest {
			schema = tests
			if !reads(file) {
				return nil
			}
		} else if def, problems := yaml.Read(src, file, activities.Default()); len(problems) > 0 || !compiles(def) {
			return nil
		}
		n[isTest]++
		if err := valid(t, schema, src); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		return nil
	})
	if err != nil || n[false] < 100 || n[true] < 4 {
		t.Errorf("%d definitions and %d test files: %v", n[false], n[true], err)
	}
}

func reads(file string) bool {
	_, err := workflowtest.RunFile(file, workflowtest.FileOptions{Only: regexp.MustCompile("^$")})
	return err == nil
}

func compiles(def *workflow.Definition) bool {
	_, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: expression.All()})
	return len(problems) == 0
}

func skip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// The reader and the schema know the same keys: the reader lists its own when it meets
// one that it does not know.
func TestTheSchemaHasTheKeysOfTheReader(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal(workflowtest.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	at := func(path ...string) any {
		var v any = root
		for _, p := range path {
			switch step := v.(type) {
			case map[string]any:
				v = step[p]
			case []any:
				v = step[1]
			}
		}
		return v
	}
	const start = "definition: d.yaml\ncases:\n  - name: a\n"
	for what, c := range map[string]struct {
		src    string
		schema any
	}{
		"file": {"definition: d.yaml\nwrong: 1\n", at("properties")}, "case": {start + "    wrong: 1\n", at("$defs", "case", "properties")},
		"step":   {start + "    steps: [{wrong: 1}]\n", at("$defs", "step", "anyOf", "1", "properties")},
		"expect": {start + "    expect: {wrong: 1}\n", at("$defs", "expect", "properties")}, "mock": {start + "    mocks: {x: {wrong: 1}}\n", at("$defs", "mock", "properties")},
		"child":  {start + "    children: {x: {wrong: 1}}\n", at("$defs", "child", "properties")},
		"answer": {start + "    http: [{wrong: 1}]\n", at("$defs", "answer", "properties")},
	} {
		dir := write(t, map[string]string{"d.yaml": "id: d\nroot: []\n", "d.test.yaml": c.src})
		_, err := workflowtest.RunFile(filepath.Join(dir, "d.test.yaml"), workflowtest.FileOptions{})
		if err == nil {
			t.Fatalf("%s: no problem", what)
		}
		_, list, _ := strings.Cut(err.Error(), "known are ")
		list, _, _ = strings.Cut(list, "\n")
		props, _ := c.schema.(map[string]any)
		if got := strings.Join(slices.Sorted(maps.Keys(props)), ", "); got != list {
			t.Errorf("%s: the schema has\n%s\nthe reader\n%s", what, got, list)
		}
		if valid(t, compiled(t, workflowtest.Schema()), []byte(c.src)) == nil {
			t.Errorf("%s: the schema takes a key that the reader does not", what)
		}
	}
}

// Whoever writes an input is told what it is for, wherever it may stand.
func TestEveryInputIsDescribed(t *testing.T) {
	t.Parallel()
	var root struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(yaml.Schema(activities.Default()), &root); err != nil {
		t.Fatal(err)
	}
	one, _ := root.Defs["one"].(map[string]any)
	props, _ := one["properties"].(map[string]any)
	only, _ := one["dependentSchemas"].(map[string]any)
	tells := func(v any) bool { m, _ := v.(map[string]any); return m["description"] != nil }
	for _, d := range activities.Default().All() {
		typ, _ := root.Defs["type:"+d.Type].(map[string]any)
		if !tells(typ) {
			t.Errorf("%s is not described", d.Type)
		}
		forms, _ := typ["anyOf"].([]any)
		form, _ := forms[1].(map[string]any)
		inside, _ := form["properties"].(map[string]any)
		own, _ := only[d.ShortName()].(map[string]any)
		beside, _ := own["properties"].(map[string]any)
		for _, in := range d.Inputs {
			if in.Name == d.Cases {
				continue
			}
			if !tells(inside[in.Name]) || !tells(props[in.Name]) && !tells(beside[in.Name]) {
				t.Errorf("%s: input %s is not described: inside %v, beside %v", d.Type, in.Name, tells(inside[in.Name]), tells(props[in.Name]) || tells(beside[in.Name]))
			}
		}
	}
}

// An editor misses a required input where the compiler does, in each way to give it, and nowhere else.
func TestTheSchemaMissesWhatTheCompilerMisses(t *testing.T) {
	t.Parallel()
	s := compiled(t, yaml.Schema(activities.Default()))
	values := map[string]string{"String": "a", "TimeSpan": "5s", "DateTimeOffset": "2026-01-31T08:00:00Z", "Object[]": "[1]", "Variable": "v", "cronExpression": "0 0 3 * * *"}
	checked := 0
	for _, d := range activities.Default().All() {
		var required []workflow.InputDescriptor
		for _, in := range d.Inputs {
			if in.Required && in.Type != "Go" {
				required = append(required, in)
			}
		}
		for _, in := range required {
			rest := ""
			for _, other := range required {
				if other.Name != in.Name {
					rest += other.Name + ": " + cmp.Or(values[other.Name], values[other.Type]) + ", "
				}
			}
			v := cmp.Or(values[in.Name], values[in.Type])
			full := rest + in.Name + ": "
			for _, name := range []string{d.ShortName(), d.Type} {
				forms := []string{
					"{" + name + ": {" + full + v + "}}", "{" + name + ": {" + rest + "}, " + in.Name + ": " + v + "}", "{" + name + ": , " + full + v + "}",
					"{" + name + ": {" + full + "\"${{ variables.v }}\"}}", "{" + name + ": {" + full + "*v}}", "{" + name + ": {<<: {" + full + v + "}}}", "{" + name + ": {" + full + "{js: getV()}}}",
					"{" + name + ": {" + rest + "}}", "{" + name + ": {" + full + "}}", "{" + name + ": {" + full + "\"\"}}", "{" + name + ": {" + rest + "}, " + in.Name + ": }", "{" + name + ": {" + rest + "}, name: a}", "{" + name + ": }",
					"{" + name + ": " + v + ", " + strings.TrimSuffix(rest, ", ") + "}", "{" + name + ": {js: getV()}, " + strings.TrimSuffix(rest, ", ") + "}", "{" + name + ": \"\", " + rest + "}", "{" + name + ": *v, " + rest + "}",
				}
				if name == d.ShortName() {
					forms = append(forms, name)
				}
				for _, form := range forms {
					src := "id: x\nlabels: {v: &v " + strings.Trim(v, "[]") + "}\nvariables: {v: object}\nroot:\n  - " + form + "\n"
					def, problems := yaml.Read([]byte(src), "x.yaml", activities.Default())
					if len(problems) > 0 {
						continue // no such form
					}
					_, problems = engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: expression.All()})
					missed := slices.ContainsFunc(problems, func(p workflow.Problem) bool {
						return p.Code == "missing-input" || in.Type == "Variable" && strings.Contains(form, `""`) // which is no variable
					})
					checked++
					if err := valid(t, s, []byte(src)); (err != nil) != missed {
						t.Errorf("%s\nthe compiler misses an input: %v %v\nthe schema: %v", src, missed, problems, err)
					}
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("%d forms were checked", checked)
	}
}

// Of the mistakes that the compiler is known to find, the schema finds what is missing.
func TestTheSchemaFindsMissingInputsAmongTheMistakes(t *testing.T) {
	t.Parallel()
	s := compiled(t, yaml.Schema(activities.Default()))
	found := 0
	err := filepath.WalkDir("../../internal/authoring/check/testdata/mistakes", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(src, []byte("error missing-input:")) {
			return err
		}
		found++
		if err := valid(t, s, src); err == nil {
			t.Errorf("%s: an input is missing, and the schema takes it", file)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d files: %v", found, err)
	}
}
