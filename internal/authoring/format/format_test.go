package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/format"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
)

func formatted(t *testing.T, file, src string) string {
	t.Helper()
	out, err := format.Source([]byte(src), file, activities.Default())
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	again, err := format.Source(out, file, activities.Default())
	if err != nil || !bytes.Equal(again, out) {
		t.Errorf("formatted again (%v) it is\n%s\nand not\n%s", err, again, out)
	}
	return string(out)
}

func TestForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"order of a definition": {
			"# The file.\n\n# Steps.\nroot:\n- finish:   # the end\nname:   Order\n# Who.\nid: x\n",
			"# The file.\n\n# Who.\nid: x\nname: Order\n# Steps.\nroot:\n  - finish:   # the end\n",
		},
		"order of an activity": {
			"id: x\nroot:\n- onTimeout: {finish: }\n  timeout: 1h  # long\n  # what comes\n  result: r\n  event: e\n  id: a\nvariables: {r: object}\n",
			"id: x\nvariables: {r: object}\nroot:\n  - event: e\n    id: a\n    # what comes\n    result: r\n    timeout: 1h  # long\n    onTimeout: {finish: }\n",
		},
		"who it is stands above a long value": {
			"id: x\nroot:\n- sequence:\n  - finish:\n  # a retry\n  retry: 3\n  id: a\n- retry: 2\n  sequence:\n  - finish:\n",
			"id: x\nroot:\n  - id: a\n    sequence:\n      - finish:\n    # a retry\n    retry: 3\n  - retry: 2\n    sequence:\n      - finish:\n",
		},
		"a comment moves to the front of an item": {
			"id: x\nroot:\n  - then: {finish: }\n    # why\n    if: true\n",
			"id: x\nroot:\n  - # why\n    if: true\n    then: {finish: }\n",
		},
		"comments below stay where they are indented": {
			"id: x\nroot:\n- finish:\n  # of the item\n# of the list\n\n\n\n# of the file\n",
			"id: x\nroot:\n  - finish:\n    # of the item\n# of the list\n\n# of the file\n",
		},
		"texts": {
			"id:   x\nroot:\n    - writeLine:   |\n         one\n           two\n\n         three  \n    - writeLine: \"a\n         b\"\n    - writeLine: >-   # folded\n        x\n\n        y\n    - runJavaScript: |2\n          indented\n        not\n",
			"id: x\nroot:\n  - writeLine: |\n      one\n        two\n\n      three  \n  - writeLine: \"a\n      b\"\n  - writeLine: >-   # folded\n      x\n\n      y\n  - runJavaScript: |2\n        indented\n      not\n",
		},
		"braces": {
			"id: x\nroot:\n - setVariable: {variable: a, # a\n    value: {x: [1,2],\n      y: \"# no\"}   # b\n   }\n",
			"id: x\nroot:\n  - setVariable: {variable: a, # a\n      value: {x: [1,2],\n        y: \"# no\"}   # b\n    }\n",
		},
		"anchors keep the order": {
			"name: n\nid: &i x\nroot:\n- &w {writeLine: a}\n- *w\n-   <<: *w\n    name: b\n",
			"name: n\nid: &i x\nroot:\n  - &w {writeLine: a}\n  - *w\n  - <<: *w\n    name: b\n",
		},
		"lists in lists": {
			"id: x\nroot:\n-  -   delay: 1s\n   -   finish:\n-\n   # here\n   finish:\n-\n  - break\n",
			"id: x\nroot:\n  - - delay: 1s\n    - finish:\n  - # here\n    finish:\n  - - break\n",
		},
		"windows, blanks and a byte order mark": {"\ufeffid: x  \r\n\r\n\r\n\r\nroot: []\t\n\r\n", "id: x\r\n\r\nroot: []\r\n"},
		"the line that names the schema":        {"# yaml-language-server: $schema=s.json\nroot: []\nid: x\n", "# yaml-language-server: $schema=s.json\nid: x\nroot: []\n"},
		"the marks of a document":               {"# above\n---\n# a\nroot: []\nid: x\n...\n", "# above\n---\nid: x\n# a\nroot: []\n...\n"},
		"kept empty lines":                      {"root:\n- writeLine: |+\n    a\n\n\nid: x\n", "id: x\nroot:\n  - writeLine: |+\n      a\n\n\n"},
		"nothing":                               {"", ""},
		"a state":                               {"id: x\nroot:\n  stateMachine:\n    states:\n      A:\n        transitions:\n        - to: B\n          on: {event: e}\n        entry: {finish: }\n      B: {final: true}\n    initial: A\n", "id: x\nroot:\n  stateMachine:\n    states:\n      A:\n        entry: {finish: }\n        transitions:\n          - on: {event: e}\n            to: B\n      B: {final: true}\n    initial: A\n"},
		"what is no definition yet":             {"id: x\nroot:\n- writeLin: a\n  id:   b\n", "id: x\nroot:\n  - writeLin: a\n    id: b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := formatted(t, "x.yaml", c.src); got != c.want {
				t.Errorf("it is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	tests := "cases:\n- expect: {status: Finished}\n  name: a # first\n\n- name: b\ndefinition: d.yaml\n"
	if got, want := formatted(t, "x.test.yaml", tests), "definition: d.yaml\ncases:\n  - name: a # first\n    expect: {status: Finished}\n\n  - name: b\n"; got != want {
		t.Errorf("tests are\n%s\nwant\n%s", got, want)
	}
}

// What the pages and the examples show is the form.
func TestTheDocumentationHasThisForm(t *testing.T) {
	t.Parallel()
	sources := map[string]string{}
	for _, page := range []string{"notation.md", "testing.md", "tutorial.md"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(raw), "```yaml\n")[1:] {
			block, _, _ := strings.Cut(part, "```")
			name := page + string(rune('a'+i)) + ".yaml"
			if strings.Contains(block, "\ncases:") {
				name = page + ".test.yaml"
			}
			sources[name] = block
		}
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file] = string(raw)
	}
	if len(sources) < 25 {
		t.Fatalf("only %d sources", len(sources))
	}
	for name, src := range sources {
		if got := formatted(t, name, src); got != src {
			t.Errorf("%s is not in the form; it is\n%s\nand not\n%s", name, src, got)
		}
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, src, place, text string
	}{
		"a tab":             {"x.yaml", "id: x\nroot:\n\t- a\n", "x.yaml:3:1", "this is not YAML"},
		"an open quote":     {"x.yaml", "id: x\nname: \"a\n", "x.yaml:", "this is not YAML"},
		"an open brace":     {"x.yaml", "id: x\nroot: [a\n", "x.yaml:", "this is not YAML"},
		"two documents":     {"x.yaml", "id: x\n---\nid: y\n", "x.yaml:", "a second one begins here"},
		"a key of a list":   {"x.yaml", "? [a]\n: b\n", "x.yaml:1:", "a key like this"},
		"a line separator":  {"x.yaml", "id: x\nname: a\u2028b\n", "x.yaml:2:8", "write it as an escape"},
		"no text":           {"x.yaml", "id: \xff\n", "x.yaml:", "this is not YAML"},
		"JSON":              {"x.json", "{\n  \"a\": 1,\n  b}", "x.json:3:3", "this is not JSON"},
		"JSON that is open": {"x.json", "{\"a\": [", "x.json:1:", "this is not JSON"},
		"much":              {"x.yaml", strings.Repeat("# much\n", 200_000), "x.yaml:1:1", "up to 1048576 are possible"},
		"deep":              {"x.yaml", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "x.yaml:1:", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := format.Source([]byte(c.src), c.file, activities.Default())
			var problems workflow.Problems
			if !errors.As(err, &problems) || len(problems) != 1 {
				t.Fatalf("%q, %v", out, err)
			}
			if at := fmt.Sprintf("%s:%d:%d", problems[0].Place.File, problems[0].Place.Line, problems[0].Place.Column); !strings.HasPrefix(at, c.place) || !strings.Contains(problems[0].Detail, c.text) {
				t.Errorf("%s: %s", at, problems[0].Detail)
			}
		})
	}
}

func TestJSONKeepsOrderAndNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, src, want string }{
		{"x.json", ` {"z":1.00e5,"a":[ ],"b":{"c":12345678901234567890,"d":"<é"}}`, "{\n  \"z\": 1.00e5,\n  \"a\": [],\n  \"b\": {\n    \"c\": 12345678901234567890,\n    \"d\": \"<é\"\n  }\n}\n"},
		{"-", `{"id":"x"}`, "{\n  \"id\": \"x\"\n}\n"},
		{"x.yaml", "{id: x,   root: []}\n\n", "{id: x,   root: []}\n"},
	} {
		if got := formatted(t, c.file, c.src); got != c.want {
			t.Errorf("it is\n%s\nwant\n%s", got, c.want)
		}
	}
}
