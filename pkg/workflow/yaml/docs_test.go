package yaml_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// blocks gives the YAML blocks of the notation's page; a list stands for a root.
func blocks(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "notation.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	parts := strings.Split(string(page), "```yaml\n")
	for _, part := range parts[1:] {
		block, _, _ := strings.Cut(part, "```")
		if strings.HasPrefix(block, "- ") {
			block = "root:\n" + block
		}
		out = append(out, block)
	}
	return out
}

// TestThePageTellsTheTruth reads every example of docs/notation.md, and of the
// fixed samples, with the activities that a node has.
func TestThePageTellsTheTruth(t *testing.T) {
	t.Parallel()
	types := activities.Default()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(yaml.Schema(types)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	examples := append(blocks(t), orderApproval, greeting)
	if len(examples) < 12 {
		t.Fatalf("only %d examples found", len(examples))
	}
	for _, src := range examples {
		def, problems := yaml.Read([]byte(src), "page.yaml", types)
		for _, p := range problems {
			t.Errorf("%s\n%s", p.Detail, p.Excerpt)
		}
		if err := validate(t, schema, src); err != nil {
			t.Errorf("the schema refuses:\n%s\n%v", src, err)
		}
		if def == nil || len(problems) > 0 {
			continue
		}
		out, err := yaml.Write(def, types)
		if err != nil {
			t.Fatal(err)
		}
		back, problems := yaml.Read(out, "page.yaml", types)
		if d := diff(def, back); d != "" || len(problems) > 0 {
			t.Errorf("%v\n%s\n%s", problems, d, out)
		}
		asJSON, err := elsajson.Write(def, types)
		if err != nil {
			t.Fatal(err)
		}
		back, problems = elsajson.Read(asJSON, "page.json", types)
		if d := diff(def, back); d != "" || len(problems) > 0 {
			t.Errorf("%v\n%s\n%s", problems, d, asJSON)
		}
	}
}

// A built-in activity that the page does not have is one that nobody finds.
func TestThePageHasEveryActivity(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "notation.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range activities.Default().All() {
		if slices.ContainsFunc(d.Inputs, func(in workflow.InputDescriptor) bool { return in.Type == "Go" }) {
			continue // it has no YAML
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(d.ShortName()) + `\b`).Match(page) {
			t.Errorf("docs/notation.md does not have %s, as %q", d.Type, d.ShortName())
		}
	}
}

// The keys beside any type are those of the page's table, in the code's order;
// inputs and workflow are told where definitions are run.
func TestThePageHasTheCommonKeys(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "notation.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "These keys may stand beside any type:\n\n")
	if !ok {
		t.Fatal("docs/notation.md has lost its list of keys")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, row := range strings.Split(table, "\n")[2:] {
		cell := strings.Split(row, "|")[1]
		for _, key := range regexp.MustCompile("`([a-zA-Z]+)").FindAllStringSubmatch(cell, -1) {
			told = append(told, key[1])
		}
	}
	keys := slices.DeleteFunc(yaml.CommonKeys(), func(k string) bool { return k == "inputs" || k == "workflow" })
	if !slices.Equal(told, keys) {
		t.Errorf("docs/notation.md has the keys\n%v\nthe notation\n%v", told, keys)
	}
}
