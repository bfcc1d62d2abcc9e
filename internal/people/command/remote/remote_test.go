package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/remote"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// One node serves the tests of this package that need no other. Tests name what they make.
var shared = nodetest.Shared{Config: node.Config{NodeID: "node-1"}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func sharedServer(t *testing.T) string {
	t.Helper()
	return nodetest.Address(shared.Node(t))
}

// user is a person at a shell, with a home directory.
type user struct {
	t       *testing.T
	environ []string
	home    string
	in      string
}

func newUser(t *testing.T, environ ...string) *user {
	t.Helper()
	home := t.TempDir()
	return &user{t: t, home: home, environ: append([]string{"HOME=" + home}, environ...)}
}

// at is a user whose environment names the shared node.
func at(t *testing.T) *user {
	t.Helper()
	return newUser(t, "WEFT_SERVER="+sharedServer(t))
}

// said is what a command wrote, and its exit code.
type said struct {
	out, err string
	code     int
}

func (u *user) weft(args ...string) said {
	u.t.Helper()
	var out bytes.Buffer
	return u.to(&out, &out, args...)
}

func (u *user) to(w io.Writer, buffer *bytes.Buffer, args ...string) said {
	u.t.Helper()
	return u.until(u.t.Context(), w, buffer, args...)
}

// until runs a command that is interrupted when ctx ends.
func (u *user) until(ctx context.Context, w io.Writer, buffer *bytes.Buffer, args ...string) said {
	u.t.Helper()
	var stderr bytes.Buffer
	root := &cobra.Command{Use: "weft", SilenceUsage: true, SilenceErrors: true}
	root.SetOut(w)
	root.SetErr(&stderr)
	remote.Add(root, ask.Streams{In: strings.NewReader(u.in), Out: w, Err: &stderr}, u.environ, "test", "0123abc")
	root.SetArgs(args)
	code := 0
	if err := root.ExecuteContext(ctx); err != nil {
		if text := err.Error(); text != "" {
			fmt.Fprintln(&stderr, "weft:", text)
		}
		var known bool
		if code, known = ask.ExitCode(err); !known {
			u.t.Errorf("weft %q ends with an error without a code: %v", args, err)
		}
	}
	return said{buffer.String(), stderr.String(), code}
}

// wants runs a command and compares its exit code and output; ids, times and ages are read
// as ID, TIME and AGE.
func (u *user) wants(code int, out string, args ...string) said {
	u.t.Helper()
	got := u.weft(args...)
	if got.code != code {
		u.t.Fatalf("weft %q ends with %d, want %d\n%s%s", args, got.code, code, got.out, got.err)
	}
	if text := masked(got.out); out != "*" && text != out {
		u.t.Errorf("weft %q wrote\n%s\nwant\n%s", args, text, out)
	}
	return got
}

// refuses runs a command that fails, with one line about why.
func (u *user) refuses(code int, why string, args ...string) said {
	u.t.Helper()
	got := u.weft(args...)
	last := strings.TrimRight(got.err, "\n")
	if got.code != code || !strings.Contains(last, why) {
		u.t.Errorf("weft %q ends with %d and\n%s\nwant %d and %q", args, got.code, got.err, code, why)
	}
	return got
}

var masks = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`), "TIME"},
	{regexp.MustCompile(`\b(in )?(\d+[dhms])+\b( ago)?`), "AGE"},
}

func masked(s string) string {
	for _, m := range masks {
		s = m.pattern.ReplaceAllString(s, m.as)
	}
	return s
}

const waiting = `id: %[1]s
inputs: {n: {type: number}}
variables: {got: {type: object}}
outputs: {by: "${{ variables.got.by }}"}
root:
  - writeLine: "n is ${{ inputs.n }}"
  - event: %[1]s-go
    result: got
`

func (u *user) file(name, content string) string {
	u.t.Helper()
	path := filepath.Join(u.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		u.t.Fatal(err)
	}
	return path
}

func TestAnInstanceFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	u := at(t)
	file := u.file("flow.yaml", fmt.Sprintf(waiting, "life"))
	u.wants(0, "DEFINITION  VERSION  OUTCOME    FILE\nlife        -> v1    published  "+file+"\n", "apply", file)
	u.wants(0, "DEFINITION  VERSION  OUTCOME    FILE\nlife        v1       unchanged  "+file+"\n", "apply", file)
	u.wants(0, "INSTANCE  DEFINITION  STATUS     CORRELATION  WAITS  INCIDENTS  CREATED               UPDATED\nlife-1    life v1     Suspended  c-1          1      0          TIME  TIME\n",
		"run", "life", "--id", "life-1", "-i", "n=12345678901234567890", "--correlation", "c-1", "--time", "iso")
	u.wants(0, "INSTANCE  DEFINITION  STATUS     CORRELATION  WAITS FOR      CREATED               UPDATED\nlife-1    life v1     Suspended  c-1          event life-go  TIME  TIME\n",
		"instances", "list", "def:life", "--time", "iso")
	u.wants(0, "instances/life-1\n", "instance", "ls", "def:life", "-o", "name")
	u.wants(0, "life-1  12345678901234567890\n", "instances", "get", "instances/life-1", "--columns", "instanceId,input.n", "--no-headers")
	u.wants(0, "12345678901234567890\nSuspended\n", "i", "get", "life-1", "--jq", ".input.n, .subStatus")
	if got := u.wants(0, "*", "i", "get", "life-1", "-o", "yaml"); !strings.Contains(got.out, ": 12345678901234567890\n") {
		t.Errorf("as YAML: %s", got.out)
	}
	polltest.Eventually(t, "nobody holds it", func() bool { return strings.Contains(u.weft("explain", "life-1").out, "\n  owner    nobody\n") })
	if got := u.wants(0, "*", "explain", "life-1"); !strings.Contains(got.out, "event life-go, correlation c-1") || !strings.Contains(got.out, "life-1  life v1  waiting, Suspended for ") ||
		!strings.Contains(got.out, "  owner    nobody\n  mailbox  empty\n  commit   ") || !strings.Contains(got.out, " by node-1, fence ") || !strings.Contains(got.out, "  next     weft events send life-go --correlation c-1\n") {
		t.Errorf("explain: %s", got.out)
	}
	if got := u.wants(0, "*", "instances", "describe", "life-1"); !strings.Contains(got.out, "waits        event1 (Elsa.Event) life-go") || !strings.Contains(got.out, "Suspended  event1") {
		t.Errorf("describe: %s", got.out)
	}
	u.wants(0, "life\n├─ ✓ writeLine n is ${{ inputs.n }}\n└─ … event life-go\n", "graph", "life-1")
	u.wants(0, "life\n├─ writeLine n is ${{ inputs.n }}\n└─ event life-go\n", "graph", file)
	u.wants(1, "nothing waits for it: it would wait in the queue\n  life-1 waits for it with the correlation c-1\n", "why-not", "life-go", "--correlation", "c-2")
	if got := u.wants(0, "*", "events", "send", "life-go", "--correlation", "c-1", "--dry-run"); !regexp.MustCompile(`^would resume life-1 \(bookmark \S+\)\nwould start nothing\n$`).MatchString(got.out) {
		t.Errorf("dry run: %s", got.out)
	}
	u.wants(0, "*", "events", "send", "life-ho", "--correlation", "c-1")
	polltest.Eventually(t, "a node remembers what was misspelt", func() bool {
		return strings.Contains(u.weft("why-not", "life-go", "--correlation", "c-2").out, "\n  life-ho, correlation c-1, was sent ")
	})
	u.wants(6, "*", "instances", "get", "life-1", "--wait", "1s")
	u.in = `{"by": "Ada"}`
	u.wants(0, "resumed  life-1\n", "events", "send", "life-go", "--correlation", "c-1", "-d", "@-")
	u.wants(0, "Ada\n", "instances", "get", "life-1", "--wait", "20s", "--jq", ".output.by")
	if got := u.wants(0, "*", "instances", "journal", "life-1", "-f"); !strings.Contains(got.out, "Completed  event1") {
		t.Errorf("journal: %s", got.out)
	}
	whole, parts := u.wants(0, "*", "instances", "journal", "life-1", "--time", "iso"), ""
	for last := (said{err: "--before 9007199254740991 "}); ; { // its commits one by one, as each says how to go on
		m := regexp.MustCompile(`--before (\d+) `).FindStringSubmatch(last.err)
		if m == nil {
			break
		}
		last = u.wants(0, "*", "instances", "journal", "life-1", "--tail", "1", "--before", m[1], "--time", "iso")
		parts = last.out + parts
	}
	if whole.err != "" || parts != whole.out || strings.Count(parts, "\n") < 5 {
		t.Errorf("the journal is\n%s%s\nand by its commits\n%s", whole.out, whole.err, parts)
	}
	if got := u.wants(0, "*", "instances", "watch", "life-1"); !strings.Contains(got.out, "Finished") {
		t.Errorf("watch: %s", got.out)
	}
	u.refuses(3, "instance-finished", "instances", "cancel", "life-1", "--yes")
	u.wants(0, "life-1  deleted\n", "instances", "delete", "life-1", "--yes")
	u.refuses(3, `there is no instance "life-1" (instance-not-found)`, "explain", "life-1")
	u.refuses(3, `there is no definition and no instance "life-1"`, "graph", "life-1")
}

func TestRepair(t *testing.T) {
	t.Parallel()
	u := at(t)
	file := u.file("bad.yaml", "id: broken\nvariables: {fixed: {type: boolean}}\nroot:\n  - if: ${{ !variables.fixed }}\n    then: {fault: not yet}\n")
	u.wants(0, "*", "apply", file)
	u.wants(1, "*", "run", "broken", "--id", "broken-1", "--wait", "10s", "--exit-status")
	polltest.Eventually(t, "explain says that it is faulted", func() bool { return u.weft("explain", "broken-1").code == 1 }) // its burst lets go of it after the answer
	alter := u.file("alter.json", `[{"type": "setVariable", "variable": "fixed", "value": true}, {"type": "retry", "activity": "if1"}]`)
	if got := u.wants(0, "*", "instances", "alter", "broken-1", "--file", alter, "--dry-run"); !strings.Contains(got.out, "would: ") {
		t.Errorf("dry run: %s", got.out)
	}
	u.wants(0, "broken-1  altered\n", "instances", "alter", "broken-1", "--file", alter, "--reason", "a test")
	u.wants(0, "*", "instances", "get", "broken-1", "--wait", "20s", "--exit-status")
	u.refuses(2, "is no list of alterations", "instances", "alter", "broken-1", "--file", file)
	for range 3 {
		u.wants(1, "*", "run", "broken", "--exit-status", "--correlation", "many", "--wait", "10s")
	}
	u.refuses(2, "say --yes", "instances", "cancel", "--query", "def:broken corr:many")
	for did, n := range map[string]int{"cancel": 0, "delete": 3, "retry": 3} { // what is faulted does not run; and nothing of it is done
		got := u.weft("instances", did, "--query", "def:broken corr:many", "--dry-run")
		if !strings.HasPrefix(got.out, fmt.Sprintf("would %s %d instances of ", did, n)) || got.err != "" || (got.code == 0) != strings.Contains(got.out, fmt.Sprintf(" %d would take it and 0 would refuse it", n)) {
			t.Errorf("%s: %+v", did, got)
		}
	}
	if got := u.weft("instances", "delete", "broken-1", "nothing-1", "--dry-run"); got.code != 1 || !strings.HasPrefix(got.out, "would delete 1 instances of ") || !strings.Contains(got.err, "1 of the 2 instances were not found") {
		t.Errorf("by ids: %+v", got)
	}
	if got := u.wants(1, "*", "instances", "retry", "--query", "def:broken corr:many", "--yes"); got.out != "retry  3 took it (faulted again 3)\n" {
		t.Errorf("the end of a job: %+v", got)
	}
	u.wants(0, "alter  3 took it (finished 3)\n", "instances", "alter", "--query", "def:broken corr:many", "--file", alter, "--yes")
	got := u.weft("instances", "retry", "--query", "def:broken corr:many status:finished", "--yes")
	if got.code != 3 || got.out != "retry  0 took it, 3 refused it (instance-finished 3)\n" || strings.Count(got.err, ": instance-finished ") != 3 {
		t.Errorf("all refuse: %+v", got)
	}
	u.wants(0, "delete  3 took it (deleted 3)\n", "instances", "delete", "--query", "def:broken corr:many", "--yes")
	u.wants(0, "", "instances", "list", "def:broken", "corr:many")
}

func TestExportAndImport(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("x.yaml", fmt.Sprintf(waiting, "moved")))
	u.wants(0, "*", "run", "moved", "--id", "moved-1", "-i", "n=1")
	out := filepath.Join(u.home, "moved.json")
	u.wants(0, "", "instances", "export", "moved-1", "--out", out)
	u.wants(0, "moved-1  imported\n", "instances", "import", "moved-1", out, "--yes")
	u.refuses(3, "instance-moved", "instances", "import", "moved-1", out, "--yes")
	u.wants(0, "moved-1  imported\n", "instances", "import", "moved-1", out, "--yes", "--force")
	u.wants(0, "", "instances", "variables", "moved-1")
	u.wants(0, "*", "instances", "delete", "moved-1", "--yes")
	u.wants(0, "moved-1  imported\n", "instances", "import", "moved-1", out, "--yes")
	u.wants(0, "*", "instances", "get", "moved-1")
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	u := at(t)
	file := u.file("defs/one.yaml", fmt.Sprintf(waiting, "one"))
	u.file("defs/sub/two.yaml", fmt.Sprintf(waiting, "two"))
	u.file("defs/one.test.yaml", "not a definition")
	dir := filepath.Dir(file)
	if got := u.wants(1, "*", "diff", dir); !strings.Contains(got.out, "+id: one\n") || !strings.Contains(got.out, "+id: two\n") {
		t.Errorf("diff: %s", got.out)
	}
	u.wants(0, "*", "apply", dir, "--dry-run")
	u.refuses(3, "definition-not-found", "definitions", "get", "one")
	u.wants(0, "*", "apply", dir)
	u.wants(0, "", "diff", dir)
	u.wants(0, fmt.Sprintf(waiting, "one"), "definitions", "get", "one")
	u.wants(0, "ok: 2 valid\n", "validate", dir)
	u.wants(0, "ok: 2 valid\n", "validate", dir, "--server", sharedServer(t))

	// One that is not valid keeps all from being published.
	u.file("defs/one.yaml", strings.Replace(fmt.Sprintf(waiting, "one"), "n is", "n was", 1))
	bad := u.file("defs/three.yaml", "id: three\nroot:\n  - writeLin: Hi\n")
	for _, args := range [][]string{{"apply", dir}, {"validate", dir, "--server", sharedServer(t)}} {
		got := u.refuses(map[string]int{"apply": 3, "validate": 1}[args[0]], "did you mean writeLine", args...)
		if !strings.Contains(got.err, bad) || !strings.Contains(got.err, "3 |   - writeLin: Hi") {
			t.Errorf("%q: %s", args, got.err)
		}
	}
	u.refuses(1, bad+":3:5: ", "validate", dir)

	// What may be a mistake is one with --strict only, here and on the server.
	parent := u.file("kin/parent.yaml", "id: parent\nroot:\n  - executeWorkflow: {workflowDefinitionId: kid, input: {nmae: a}}\n")
	u.file("kin/kid.yaml", "id: kid\ninputs: {name: string}\nroot: []\n")
	kin := filepath.Dir(parent)
	if got := u.wants(0, "ok: 2 valid\n", "validate", kin); !strings.Contains(got.err, parent+":3:58: warning: ") || !strings.Contains(got.err, "did you mean name?") {
		t.Errorf("warnings: %s", got.err)
	}
	u.refuses(1, "did you mean name?", "validate", "--strict", kin)
	if got := u.wants(0, "ok: 1 valid\n", "validate", parent, "--server", sharedServer(t)); !strings.Contains(got.err, "unknown-definition") {
		t.Errorf("warnings: %s", got.err)
	}
	u.refuses(1, "no published definition kid", "validate", "--strict", parent, "--server", sharedServer(t))
	u.refuses(3, "no published definition kid", "apply", "--strict", parent)
	u.wants(0, "*", "apply", filepath.Join(kin, "kid.yaml"))
	if got := u.wants(0, "ok: 1 valid\n", "validate", parent, "--server", sharedServer(t)); !strings.Contains(got.err, "unknown-child-input") {
		t.Errorf("warnings: %s", got.err)
	}
	near := u.file("near.yaml", "id: near\nroot:\n  - executeWorkflow: kidd\n")
	if got := u.wants(0, "ok: 1 valid\n", "validate", near, "--server", sharedServer(t)); !strings.Contains(got.err, "(did you mean kid?)") {
		t.Errorf("warnings: %s", got.err)
	}
	u.wants(0, "1\n", "definitions", "list", "--all", "--jq", `.items[] | select(.id == "one") | .version`)
	u.wants(0, "1  true  yaml\n", "definitions", "versions", "two", "--columns", "version,published,notation", "--no-headers")
	u.wants(0, "one  refreshed\ntwo  refreshed\n", "definitions", "refresh", "two", "definitions/one")
	u.wants(0, "two  retracted\n", "definitions", "retract", "two", "--yes")
	u.wants(0, "two  deleted\n", "definitions", "delete", "two", "--yes")
}

func TestFamiliesOfInstances(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("flows/child.yaml", "id: fam-child\nroot:\n  - event: fam-go\n"), u.file("flows/parent.yaml", "id: fam-parent\nroot:\n  - dispatchWorkflow: {workflowDefinitionId: fam-child, waitForCompletion: true}\n"))
	u.wants(0, "*", "run", "fam-parent", "--id", "fam-1")
	child := ""
	polltest.Eventually(t, "the child is there", func() bool {
		child = strings.TrimSpace(u.wants(0, "*", "instances", "list", "def:fam-child", "--jq", ".items[].instanceId").out)
		return child != ""
	})
	u.wants(0, "fam-1 *\n  "+child+"\n", "instances", "lineage", "fam-1", "--columns", "instanceId", "--jq", `.items[] | if .depth == 0 then "\(.instanceId) *" else "  \(.instanceId)" end`)
	if got := u.wants(0, "*", "instances", "lineage", child); !strings.Contains(got.out, "\nfam-1 ") || !strings.Contains(got.out, "\n  "+child+" *") {
		t.Errorf("lineage of the child:\n%s", got.out)
	}
	bookmark := ""
	polltest.Eventually(t, "the child waits", func() bool {
		bookmark = strings.TrimSpace(u.wants(0, "*", "bookmarks", "list", "--event", "fam-go", "-o", "name").out)
		return bookmark != ""
	})
	if got := u.wants(0, "*", "bookmarks", "list", "--event", "fam-go", "--columns", "instanceId", "--no-headers"); strings.TrimSpace(got.out) != child {
		t.Errorf("who waits: %q", got.out)
	}
	u.wants(0, "*", "bookmarks", "resume", bookmark)
	u.wants(0, "*", "instances", "get", "fam-1", "--wait", "30s", "--exit-status")
	u.refuses(3, "is finished", "bookmarks", "resume", bookmark)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("ways.yaml", "id: ways\ninputs: {n: {type: number}}\nvariables: {got: {type: number}}\nroot:\n  - setVariable: {variable: got, value: \"${{ inputs.n }}\"}\n  - if: ${{ inputs.n > 1 }}\n    then: {writeLine: much}\n    else: {writeLine: little}\n"))
	for id, n := range map[string]string{"ways-1": "1", "ways-2": "2", "ways-3": "2"} {
		u.wants(0, "*", "run", "ways", "--id", id, "-i", "n="+n, "--wait", "30s", "--exit-status")
	}
	u.wants(0, "", "instances", "compare", "ways-2", "ways-3")
	got := u.wants(1, "*", "instances", "compare", "ways-1", "ways-2")
	for _, row := range []string{`(?m)^input\.n +1 +2$`, `(?m)^variable\.got +1 +2$`, `(?m)^journal\.\d+ .*`} {
		if !regexp.MustCompile(row).MatchString(got.out) {
			t.Errorf("no row %s in\n%s", row, got.out)
		}
	}
	u.refuses(3, "instance-not-found", "instances", "compare", "ways-1", "ways-9")

	// What is kept out of the journal is told, and is neither the same nor different.
	u.wants(0, "*", "apply", u.file("kept.yaml", "id: kept\noptions: {logging: Exclude}\ninputs: {n: {type: number}}\nvariables: {got: {type: number}}\nroot:\n  - setVariable: {variable: got, value: \"${{ inputs.n }}\"}\n"))
	for id, n := range map[string]string{"kept-1": "1", "kept-2": "2", "kept-3": "2"} {
		u.wants(0, "*", "run", "kept", "--id", id, "-i", "n="+n, "--wait", "30s", "--exit-status")
	}
	if got := u.wants(0, "*", "instances", "compare", "kept-2", "kept-3"); !strings.Contains(got.err, "variable.got: not compared") {
		t.Errorf("no word of the variable: %+v", got)
	}
	if got := u.wants(1, "*", "instances", "compare", "kept-1", "kept-2"); !strings.Contains(got.out, "input.n") || strings.Contains(got.out, "variable.got") || !strings.Contains(got.err, "variable.got: not compared") {
		t.Errorf("of what is kept: %+v", got)
	}

	// A journal tells 100 variables of a commit: what it does not tell may differ.
	var many strings.Builder
	for i := range 120 {
		fmt.Fprintf(&many, "  v%03d: {type: number, value: %d}\n", i, i+1)
	}
	u.wants(0, "*", "apply", u.file("many.yaml", "id: many\nvariables:\n"+many.String()+"root:\n  - writeLine: x\n"))
	for _, id := range []string{"many-1", "many-2"} {
		u.wants(0, "*", "run", "many", "--id", id, "--wait", "30s", "--exit-status")
	}
	if got := u.wants(0, "", "instances", "compare", "many-1", "many-2"); strings.Count(got.err, "does not tell all of its variables") != 2 {
		t.Errorf("no word of what may differ: %q", got.err)
	}

	// Journals that part far behind, and a variable of which the API gives the beginning.
	u.wants(0, "*", "apply", u.file("rounds.yaml", "id: rounds\ninputs: {much: {type: boolean}}\nvariables: {long: {type: string, value: "+strings.Repeat("x", 5000)+"}}\nroot:\n"+
		"  - for: {start: 1, end: 600}\n    body: {writeLine: again}\n  - if: ${{ inputs.much }}\n    then: {writeLine: much}\n"))
	for id, much := range map[string]string{"rounds-1": "true", "rounds-2": "false", "rounds-3": "false"} {
		u.wants(0, "*", "run", "rounds", "--id", id, "-i", "much="+much, "--wait", "30s", "--exit-status")
	}
	same := u.wants(0, "", "instances", "compare", "rounds-2", "rounds-3")
	if !strings.Contains(same.err, "variable.long: only the beginning was compared") {
		t.Errorf("no word of the long variable: %q", same.err)
	}
	if got := u.wants(1, "*", "instances", "compare", "rounds-1", "rounds-2"); !regexp.MustCompile(`(?m)^journal\.\d{4} +Started if1.*`).MatchString(got.out) {
		t.Errorf("the journals do not part:\n%s", got.out)
	}
	whole := u.wants(0, "*", "instances", "journal", "rounds-2", "--time", "iso")
	end := u.wants(0, "*", "instances", "journal", "rounds-2", "--items", "3", "--time", "iso")
	if strings.Count(whole.out, "\n") < 1800 || !strings.HasSuffix(whole.out, end.out) || strings.Count(end.out, "\n") != 3 || !strings.Contains(end.err, "come before these: --items shows more") {
		t.Errorf("the end of the journal: %s%s", end.out, end.err)
	}
	described := u.wants(0, "*", "instances", "describe", "rounds-2")
	if _, journal, _ := strings.Cut(described.out, "\njournal, its end\n"); strings.Count(journal, "\n") != 50 {
		t.Errorf("described:\n%s", described.out)
	}
}

func TestSchedulesAndTop(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("nightly.yaml", "id: nightly\nroot:\n  - cron: 0 0 3 * * *\n    trigger: true\n"))
	polltest.Eventually(t, "the schedule is listed", func() bool {
		return strings.Contains(u.wants(0, "*", "schedules", "list", "--all", "-o", "name").out, "definitions/nightly\n")
	})
	u.counted()
	if got := u.wants(0, "*", "top", "--once"); !regexp.MustCompile(`(?m)^commands +accepted \d+\.\d/s, applied \d+\.\d/s$`).MatchString(got.out) || !regexp.MustCompile(`(?m)^node-1 +working +0 `).MatchString(got.out) {
		t.Errorf("top:\n%s", got.out)
	}
	u.wants(0, "node-1\n", "top", "--once", "--jq", ".nodes[].nodeId")
	u.refuses(2, "--every must be", "top", "--every", "1ms")
}

// A look that fails is said, and the next one is taken; an interrupt ends it in order, also
// within a look.
func TestTopGoesOn(t *testing.T) {
	t.Parallel()
	u := at(t)
	ctx, interrupt := context.WithCancel(t.Context())
	target, _ := url.Parse(sharedServer(t))
	var looks atomic.Int64
	between := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			if strings.HasSuffix(r.Request.URL.Path, "/nodes") {
				switch looks.Add(1) {
				case 2:
					r.StatusCode = http.StatusNotFound
				case 4:
					interrupt()
				}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(between.Close)
	var out bytes.Buffer
	got := u.until(ctx, &out, &out, "top", "--every", "100ms", "--server", between.URL)
	views := strings.Split(got.out, "weft top ")[1:]
	if got.code != 0 || len(views) != 3 || strings.Contains(views[0]+views[2], "no look") || !strings.Contains(views[1], "no look") || !strings.Contains(views[1], "node-1 ") {
		t.Errorf("%d, %s\n%s", got.code, got.err, got.out)
	}
}

// Tasks come name by name: the oldest is looked for among all of a page.
func TestTopKnowsTheOldestTask(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	task := func(id string, ago time.Duration) string {
		return fmt.Sprintf(`{"taskId": %q, "createdAt": %q}`, id, at.Add(-ago).Format(time.RFC3339))
	}
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/tasks") && r.URL.Query().Get("limit") == "500" {
			fmt.Fprintf(w, `{"items": [%s, %s, %s]}`, task("a", time.Hour), task("m", 3*time.Hour), task("z", 2*time.Hour))
			return
		}
		fmt.Fprintf(w, `{"items": [], "at": %q}`, time.Now().Format(time.RFC3339Nano))
	}))
	t.Cleanup(cluster.Close)
	newUser(t).wants(0, "m\n", "top", "--once", "--jq", ".oldestTask.taskId", "--server", cluster.URL)
}

// counted waits until a node has counted the balance, which takes a new one some ten seconds.
func (u *user) counted() {
	u.t.Helper()
	polltest.Eventually(u.t, "the balance is counted", func() bool { return u.weft("cluster", "balance").code == 0 })
}

func TestAuditReadsLogs(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	log := u.file("audit.log", `{"time":"2026-11-22T13:16:40Z","level":"INFO","msg":"audit","who":"key:ada","role":"admin","operation":"pause","target":"","result":"done","status":200,"code":""}
not JSON
{"time":"2026-11-22T13:16:41Z","level":"INFO","msg":"ready"}
{"time":"2026-11-22T13:16:42Z","level":"INFO","msg":"audit","who":"key:bob","role":"viewer","operation":"cancelInstance","target":"o-1","result":"denied","status":403,"code":"forbidden"}`)
	u.wants(0, "pause\ncancelInstance\n", "audit", log, "--jq", ".operation")
	u.wants(0, "cancelInstance\n", "audit", log, "--jq", ".operation", "--failed", "--who", "key:bob", "--target", "o-")
	u.in = string(must(os.ReadFile(log)))
	if got := u.wants(0, "*", "audit", "-", "--operation", "cancelInstance"); !strings.Contains(got.out, "denied 403 forbidden") || strings.Contains(got.out, "pause") {
		t.Errorf("audit: %s", got.out)
	}
	u.refuses(2, "no such file", "audit", "nowhere.log")
	u.refuses(2, "tail -f FILE", "audit", log, "-f")
	u.in = strings.Repeat("x", 3<<20) + "\n" + u.in // a line without an end is no audit
	u.wants(0, "pause\ncancelInstance\n", "audit", "-", "--jq", ".operation")
}

// Without a file the nodes are asked, and with -f again and again: each line is shown once.
func TestAuditAsksTheNodes(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	u := newUser(t, "WEFT_SERVER="+nodetest.Address(nodetest.Start(t, node.Config{NodeID: "audited", AuditLog: log})))
	u.wants(0, "*", "events", "send", "audit-1")
	u.refuses(3, "dead-letter-not-found", "dead-letters", "replay", "audit-2")
	for _, args := range [][]string{{"audit"}, {"audit", log}} {
		if got := u.wants(0, "*", append(args, "--target", "audit-")...); !regexp.MustCompile(`(?m)^.* sendEvent +accepted 202 +audit-1\n.* replayDeadLetter +failed 404 dead-letter-not-found +audit-2$`).MatchString(got.out) || got.err != "" {
			t.Errorf("%q:\n%s%s", args, got.out, got.err)
		}
	}
	u.wants(0, "replayDeadLetter\n", "audit", "--failed", "--jq", ".items[].operation")
	u.wants(0, "", "audit", "--who", "key:nobody")
	ctx, interrupt := context.WithCancel(t.Context())
	var out shown
	ended := make(chan said, 1)
	go func() { ended <- u.until(ctx, &out, &bytes.Buffer{}, "audit", "-f", "--operation", "sendEvent") }()
	polltest.Eventually(t, "what was", func() bool { return out.has("audit-1\n") })
	for i := range 3 {
		name := fmt.Sprintf("audit-later-%d", i)
		u.wants(0, "*", "events", "send", name)
		polltest.Eventually(t, "what is new", func() bool { return out.has(name + "\n") })
	}
	interrupt()
	if got := <-ended; got.code != 0 || strings.Count(out.b.String(), "\n") != 4 {
		t.Errorf("%d %s\n%s", got.code, got.err, out.b.String())
	}
	if got := at(t).wants(0, "", "audit"); !strings.Contains(got.err, "node-1 keeps no audit log") {
		t.Errorf("%q", got.err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	u := at(t)
	empty := filepath.Join(u.home, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	large := u.file("large.yaml", strings.Repeat("# much\n", 3<<20))
	u.refuses(2, "is larger than a definition may be (1024 KiB)", "apply", large)
	u.refuses(2, "has no definitions", "apply", empty)
	u.refuses(2, "no such file", "apply", filepath.Join(u.home, "nothing.yaml"))
	u.refuses(2, "is empty", "apply", u.file("blank.yaml", " \n"))
	u.refuses(2, "is an instance that Elsa exported, and no definition", "validate", u.file("i.json", `{"WorkflowState": {}}`))
	u.refuses(2, "is an instance that Elsa exported, and no definition", "apply", u.file("i.json", `{"WorkflowState": {"id": "i", "definitionId": "d", "activityExecutionContexts": []}}`))
	u.refuses(2, "is a zip archive: unpack it", "apply", u.file("all.zip", zipped(t, "a.json", "{}")))
	same := []string{u.file("same/a.yaml", "id: same\nroot: {writeLine: a}\n"), u.file("same/b.yaml", "id: same\nroot: {writeLine: b}\n")}
	u.refuses(2, same[0]+" and "+same[1]+" are the same definition, same: leave one of them out", "apply", filepath.Dir(same[0]))
	u.refuses(2, "is a directory", "graph", "./")
	u.refuses(2, `there is no command "cancl" in weft instances (did you mean cancel?)`, "instances", "cancl", "x")
	u.refuses(2, "unknown flag: --nope", "instances", "list", "--nope")
	u.refuses(2, "accepts 1 arg(s)", "explain")
	u.refuses(2, "it must be one of table, wide, json, jsonl, yaml, name", "instances", "list", "-o", "xml")
	u.refuses(2, "--jq", "nodes", "list", "--jq", ".[")
	u.refuses(2, "name=value", "run", "x", "-i", "novalue")
	u.refuses(2, "give ids, or --query", "instances", "cancel")
	u.refuses(2, "say --yes", "instances", "delete", "x")
	for _, empty := range [][]string{{"events", "send", "go", "--correlation", ""}, {"events", "send", "go", "--instance="}, {"instances", "cancel", "x", "--yes", "--query", ""}} { // of a script whose variable is empty
		u.refuses(2, "is empty: leave it out if that is meant", empty...)
	}
	u.refuses(2, `there is no context "prod"`, "nodes", "list", "--context", "prod")
	u.refuses(2, "must be a URL", "nodes", "list", "--server", "localhost:8080")
	u.refuses(2, "has no certificate", "nodes", "list", "--cacert", u.file("none.pem", "no PEM"))
	u.refuses(2, "is larger than a file of certificates may be", "nodes", "list", "--cacert", large)
	u.refuses(3, "1 | statsu:x\n        ^", "instances", "list", "statsu:x")
	u.refuses(5, "nothing listens at http://127.0.0.1:1", "nodes", "list", "--server", "http://127.0.0.1:1")
	u.refuses(5, "say with --server where a node is", "nodes", "list", "--server", "http://nowhere.invalid:1", "--timeout", "2s")
}

// brokenPipe is what is left of a pipe whose reader is gone.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// Who reads the beginning of a list is told nothing more; what was to be done to several is done to all.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	u := at(t)
	if got := u.to(brokenPipe{}, &bytes.Buffer{}, "nodes", "list"); got.code != 141 || got.err != "" {
		t.Errorf("%d %q", got.code, got.err)
	}
	u.wants(0, "*", "apply", u.file("pipe.yaml", fmt.Sprintf(waiting, "pipe")))
	for _, id := range []string{"pipe-1", "pipe-2", "pipe-3"} {
		u.wants(0, "*", "run", "pipe", "--id", id)
	}
	if got := u.to(brokenPipe{}, &bytes.Buffer{}, "instances", "delete", "pipe-1", "pipe-2", "pipe-3", "--yes"); got.code != 141 || got.err != "" {
		t.Errorf("%d %q", got.code, got.err)
	}
	polltest.Eventually(t, "all of them are gone", func() bool { return u.wants(0, "*", "instances", "list", "def:pipe").out == "" })
}

// An answer that is lost each time leaves an outcome that is not known; the line that is
// printed repeats the command, which then has one effect.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("x.yaml", fmt.Sprintf(waiting, "unknown")))
	target, _ := url.Parse(sharedServer(t))
	losing := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(*http.Response) error { return errors.New("lost") },
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(losing.Close)
	got := u.refuses(5, "outcome unknown; repeat with: weft run unknown ", "run", "unknown", "-i", "n=1", "--server", losing.URL)
	_, line, _ := strings.Cut(strings.TrimSpace(got.err), "repeat with: weft ")
	args := strings.Fields(strings.ReplaceAll(line, losing.URL, sharedServer(t)))
	u.wants(0, "*", args...)
	u.wants(0, "1\n", "instances", "list", "def:unknown", "--jq", ".items | length")
}

// The line that repeats a command for several things has the key of which the keys of its requests are
// parts: repeated, each request has the key that it had.
func TestUnknownOutcomeOfSeveral(t *testing.T) {
	t.Parallel()
	u := at(t)
	dir := filepath.Dir(u.file("flows/a.yaml", fmt.Sprintf(waiting, "several-a")))
	u.file("flows/b.yaml", fmt.Sprintf(waiting, "several-b"))
	target, _ := url.Parse(sharedServer(t))
	var mu sync.Mutex
	var keys []string // of the requests that publish; guarded by mu
	losing := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodPost && r.Request.URL.Query().Get("dryRun") != "true" {
				mu.Lock()
				defer mu.Unlock()
				keys = append(keys, r.Request.Header.Get("Idempotency-Key"))
				return errors.New("lost")
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(losing.Close)
	got := u.refuses(5, "outcome unknown; repeat with: weft apply ", "apply", dir, "--server", losing.URL)
	losing.Close()
	mu.Lock()
	defer mu.Unlock()
	_, line, _ := strings.Cut(strings.TrimSpace(got.err), "repeat with: weft ")
	args := strings.Fields(strings.ReplaceAll(line, losing.URL, sharedServer(t)))
	if len(keys) == 0 || keys[0] != args[len(args)-1]+"-1" {
		t.Errorf("the requests had the keys %q, and the line is %q", keys, line)
	}
	u.wants(0, "*", args...)
	u.wants(0, "", "diff", dir)
}

func TestContextsAndCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, entry, err := auth.NewKey("ada", auth.Viewer, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := time.Now().Add(-time.Hour)
	old, oldEntry, err := auth.NewKey("old", auth.Admin, &ended)
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(90 * time.Minute)
	soon, soonEntry, err := auth.NewKey("bob", auth.Operator, &ends)
	if err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, keyFile(t, entry, oldEntry, soonEntry), 0o600); err != nil {
		t.Fatal(err)
	}
	server := nodetest.Address(nodetest.Start(t, node.Config{AuthKeysFile: keys}))
	u := newUser(t)
	u.refuses(4, "sign in with weft login", "nodes", "list", "--server", server)
	u.refuses(4, "the API key has expired; give a key or token that counts with --token-file", "login", "--server", server, "--token-file", u.file("old", old))
	u.wants(0, "", "context", "list")
	u.in = key + "\n"
	u.wants(0, "mine  signed in at "+server+"\n", "login", "--server", server, "--token-file", "-", "--name", "mine")
	u.wants(0, "mine  "+server+"  true  true\n", "context", "list", "--no-headers")
	file := filepath.Join(u.home, ".config", "weft", "config.yaml")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of contexts: %v, %v", info.Mode(), err)
	}
	u.wants(0, "server   "+server+"\ncontext  mine\nname     key:ada\nrole     viewer\nby       an API key\nexpires  never\n", "whoami")
	u.wants(0, "mine key:ada viewer key null\n", "whoami", "--jq", `"\(.context) \(.name) \(.role) \(.by) \(.expiresAt)"`)
	u.wants(0, "callers/key:ada\n", "whoami", "-o", "name")
	u.wants(0, "server   "+server+"\ncontext  mine\nname     key:bob\nrole     operator\nby       an API key\nexpires  TIME (AGE)\n",
		"whoami", "--server", server, "--token-file", u.file("soon", soon))
	u.refuses(4, "the API key has expired; sign in with weft login", "whoami", "--token-file", u.file("old", old))
	u.refuses(4, "the API key is unknown", "whoami", "--token-file", u.file("wrong", "weft_wrong"))
	u.refuses(5, "nothing listens at http://127.0.0.1:1", "whoami", "--server", "http://127.0.0.1:1")
	u.refuses(2, `there is no context "prod"`, "whoami", "--context", "prod")
	u.wants(0, "*", "nodes", "list")
	u.refuses(4, "this needs the role operator", "events", "send", "x")
	// The token is for its own server only.
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token went to another server")
		}
	}))
	t.Cleanup(other.Close)
	u.weft("nodes", "list", "--server", other.URL)
	if got := u.wants(0, "*", "events", "send", "x", "--curl"); strings.Contains(got.out, key) || !strings.Contains(got.out, "$WEFT_TOKEN") {
		t.Errorf("curl: %s", got.out)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	u.refuses(2, "chmod 600", "nodes", "list")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	u.wants(0, "mine  signed out\n", "logout")
	u.refuses(4, "sign in with weft login", "nodes", "list")
	u.wants(0, "mine  forgotten\n", "context", "delete", "mine")
}

func TestTheCluster(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "nodes/node-1\n", "nodes", "list", "-o", "name")
	u.refuses(3, `there is no live node "nobody"`, "nodes", "show", "nobody")
	u.counted()
	u.wants(0, "*", "doctor")
	u.wants(0, "*", "cluster", "status")
	u.wants(0, "*", "locks", "list")
	u.refuses(3, `nobody holds or wants the lock "instance/none"`, "locks", "show", "locks/instance/none")
	u.wants(0, "*", "timers", "list")
	u.wants(0, "*", "jobs", "list")
	u.wants(1, "*", "version", "--check")
	u.wants(0, "queued  *\n", "nodes", "list", "--jq", `"queued  *"`)
	got := u.wants(0, "*", "events", "send", "nobody-waits", "-d", "text", "--key", "cluster-1")
	id := strings.Fields(got.out)[1]
	if got := u.wants(0, "*", "queue", "list", "--all", "--columns", "id,name", "--no-headers"); !strings.Contains("\n"+got.out, "\n"+id+"  nobody-waits\n") { // beside those of other tests
		t.Errorf("the queue: %s", got.out)
	}
	if got := u.wants(0, "*", "queue", "show", id); !strings.Contains(got.out, "nobody-waits") {
		t.Errorf("queue show: %s", got.out)
	}
	if got := u.wants(0, "*", "events", "trace", "cluster-1"); !strings.Contains(got.out, "POST") || !strings.Contains(got.out, "queued") {
		t.Errorf("trace: %s", got.out)
	}
	u.wants(0, id+"  deleted\n", "queue", "delete", "queue/"+id, "--yes")
	u.wants(0, "", "dead-letters", "list")
	u.refuses(3, "dead-letter-not-found", "dead-letters", "show", "none")
	u.refuses(2, "give ids, or", "dead-letters", "replay")
}

func TestWhatIsKnownHere(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	if got := u.wants(0, "*", "activities", "writeLine"); !strings.Contains(got.out, "text  (") || !strings.Contains(got.out, "OUTCOMES  Done") {
		t.Errorf("an activity: %s", got.out)
	}
	if got := u.wants(0, "*", "activities", "-o", "name"); !strings.Contains(got.out, "activities/writeLine\n") {
		t.Errorf("activities: %s", got.out)
	}
	u.refuses(2, `there is no activity "writeLin" (did you mean writeLine?); weft activities lists them, and with --server those of a node`, "activities", "writeLin")
	if got := u.wants(0, "*", "activities", "sendHttpRequest"); !strings.Contains(got.out, "\nEXAMPLE\n  - sendHttpRequest") && !strings.Contains(got.out, "\nEXAMPLE\n  sendHttpRequest") {
		t.Errorf("an activity: %s", got.out)
	}
	server := sharedServer(t)
	at(t).wants(0, "*", "apply", u.file("uses.yaml", "id: uses-an-activity\nroot:\n  - event: used\n"))
	here := u.wants(0, "*", "activities", "-o", "json", "--jq", ".items[] | del(.users, .usedBy)").out
	if there := u.wants(0, "*", "activities", "--server", server, "--jq", ".items[] | del(.users, .usedBy)").out; here != there || here == "" {
		t.Errorf("what is told here and there is not the same:\n%s\n%s", here, there)
	}
	polltest.Eventually(t, "the node knows who uses it", func() bool {
		return u.wants(0, "*", "activities", "event", "--server", server, "--jq", ".users > 0").out == "true\n"
	})
	if got := u.wants(0, "*", "activities", "Elsa.Event", "--server", server); !strings.Contains(got.out, "\nUSED BY  ") {
		t.Errorf("an activity: %s", got.out)
	}
	u.refuses(2, `there is no context "prod"`, "activities", "--context", "prod")
	u.refuses(2, `there is no context "prod"`, "schema", "--context", "prod")
	if got := u.wants(0, "*", "schema"); !strings.Contains(got.out, "json-schema.org") {
		t.Errorf("schema: %.100s", got.out)
	}
	if got := u.wants(0, "*", "version"); !strings.HasPrefix(got.out, "weft test, go1.") || !strings.Contains(got.out, "\ncommit       0123abc\ndata format  4\n") || !strings.Contains(got.out, "\netcd client  ") {
		t.Errorf("version: %s", got.out)
	}
	u.wants(0, "test 0123abc v1 4\n", "version", "--jq", `"\(.version) \(.commit) \(.api) \(.dataFormat)"`)
}

// keyFile is a file of API keys, as weft apikey writes it.
func keyFile(t *testing.T, entries ...auth.KeyEntry) []byte {
	t.Helper()
	raw, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
