package activities_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// FuzzRun reads a definition, compiles it and runs it through commands: in memory,
// and loaded from its encoded state between any two of them. Every commit is the same
// to the byte, nothing panics, and no incident is one of a panic.
func FuzzRun(f *testing.F) {
	for i, source := range sources(f) {
		f.Add(source, `{"n": 2, "amount": 1500, "orderId": "o-1", "items": [1, "x", null]}`, []byte{100, byte(40 + i), 200, 10, 250, 28, 77})
	}
	f.Fuzz(func(t *testing.T, source, input string, commands []byte) {
		if len(source) > 16<<10 || len(input) > 4<<10 {
			return
		}
		one, two := programOf(source), programOf(source)
		if one == nil || two == nil {
			if (one == nil) != (two == nil) {
				t.Fatal("it compiles now and then")
			}
			return
		}
		c := course{prog: one, start: workflow.Start{Input: map[string]any{}}, limits: engine.Limits{Activities: 60, Script: 50 * time.Millisecond, Output: 16 << 10, Data: 256 << 10}}
		// What comes from outside is UTF-8; else it is refused before.
		_ = workflow.Unmarshal([]byte(strings.ToValidUTF8(input, "?")), &c.start.Input)
		for i, b := range commands[:min(len(commands), 10)] {
			if triggers := one.Triggers(); i == 0 && b%2 == 1 && len(triggers) > 0 {
				c.start.Trigger = triggers[int(b/2)%len(triggers)].ActivityID
				c.start.TriggerInput = map[string]any{"payload": c.start.Input, "routeData": map[string]any{"id": int64(b)}, "parsedBody": c.start.Input}
			}
			c.seed = append(c.seed, 4*int(b))
		}
		second := c
		second.prog = two
		said := strings.Join(equalHistories(unlessByTime{t}, c, second), "\n")
		for _, bug := range []string{"panic:", "runtime error", "this cannot be", "goroutine "} {
			if strings.Contains(said, bug) && !strings.Contains(source+input, strings.Trim(bug, ": ")) {
				t.Fatalf("%q in %s", bug, said)
			}
		}
	})
}

// unlessByTime is a test to which commits that differ by how long a script took on
// this machine, or by what memory its neighbours left, say nothing.
type unlessByTime struct{ *testing.T }

func (t unlessByTime) Fatalf(format string, args ...any) {
	t.Helper()
	for _, a := range args {
		for _, limit := range []error{expression.ErrTime, expression.ErrMemory} {
			if text, ok := a.(string); ok && strings.Contains(text, limit.Error()) {
				t.Skip("a limit of the machine")
			}
		}
	}
	t.T.Fatalf(format, args...)
}

// programOf is the program of a definition; nil if it is not valid.
func programOf(source string) *engine.Program {
	types := activities.Default()
	def, problems := yaml.Read([]byte(source), "fuzz.yaml", types)
	if len(problems) > 0 {
		return nil
	}
	if def.ID == "" {
		def.ID = "fuzz"
	}
	resolve := func(workflow.DefinitionRef) (*workflow.Definition, bool) {
		return &workflow.Definition{ID: "child", Root: wait("child"), Options: workflow.Options{UsableAsActivity: true}}, true
	}
	prog, problems := engine.Compile(def, engine.Options{Registry: types, Evaluators: expression.All(), Resolve: resolve})
	if len(problems) > 0 {
		return nil
	}
	return prog
}

// sources are the definitions of the examples, of the page about the notation, and of
// the tests.
func sources(tb testing.TB) []string {
	tb.Helper()
	var out []string
	top := filepath.Join("..", "..")
	for _, pattern := range []string{"examples/*.yaml", "docs/notation.md", "pkg/workflow/yaml/*_test.go", "pkg/workflowtest/*_test.go", "pkg/activities/*_test.go", "pkg/engine/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			switch filepath.Ext(file) {
			case ".yaml":
				out = append(out, string(raw))
			case ".md":
				for _, part := range strings.Split(string(raw), "```yaml\n")[1:] {
					block, _, _ := strings.Cut(part, "```")
					if strings.HasPrefix(block, "- ") {
						block = "root:\n" + block
					}
					out = append(out, block)
				}
			default:
				out = append(out, literals(tb, file)...)
			}
		}
	}
	valid := 0
	for _, source := range out {
		if programOf(source) != nil {
			valid++
		}
	}
	if valid < 50 {
		tb.Fatalf("only %d of %d seeds are definitions", valid, len(out))
	}
	return out
}

// literals are the texts in a Go file that may be definitions.
func literals(tb testing.TB, file string) []string {
	tb.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	ast.Inspect(tree, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, "root:") {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}
