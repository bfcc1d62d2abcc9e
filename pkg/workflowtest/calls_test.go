package workflowtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflowtest"
)

// Calls are beside each other in a test as on a node: all are made with what is there as they begin, and they end in the
// order of the time that the test says, in that of the definition where it says none.
func TestCallsBesideEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("calls.yaml", `
id: calls
variables:
  seen: {value: none}
root:
- parallel:
  - - sendHttpRequest: {url: "http://a.test", content: "${{ variables.seen }}"}
      id: slow
    - setVariable: {variable: seen, value: slow}
    - writeLine: slow
  - - sendHttpRequest: {url: "http://b.test", content: "${{ variables.seen }}"}
      id: fast
    - setVariable: {variable: seen, value: fast}
    - writeLine: fast
- fork:
    joinMode: WaitAny
    branches:
    - sendHttpRequest: {url: "http://c.test"}
      id: loser
    - - sendHttpRequest: {url: "http://d.test"}
        id: winner
      - writeLine: won
- writeLine: "${{ variables.seen }}"
`)
	file := write("calls_test.yaml", `
definition: calls.yaml
cases:
- name: as they come back
  mocks:
    slow: {after: 2s}
    fast: {after: 1s}
    loser: {after: 1h}
    winner: {after: 1m}
  expect:
    lines: [fast, slow, won, slow]
    calls: {slow: [{content: none}], fast: [{content: none}], loser: 1, winner: 1}
- name: as they stand there
  mocks: {slow: {}, fast: {}, loser: {after: 1s}, winner: {}}
  expect:
    lines: [slow, fast, won, fast]
    calls: {slow: [{content: none}], fast: [{content: none}]}
`)
	workflowtest.CheckFiles(t, workflowtest.FileOptions{}, file)
	bad := write("bad_test.yaml", "definition: calls.yaml\ncases:\n- name: bad\n  mocks: {slow: {after: -1s}}\n")
	if _, err := workflowtest.RunFile(bad, workflowtest.FileOptions{}); err == nil || !strings.Contains(err.Error(), "after takes a duration") {
		t.Errorf("a call that comes back before it is made: %v", err)
	}
}
