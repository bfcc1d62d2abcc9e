package remote_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// completes runs the completion of a line as shells do, and gives what it proposes and the directive.
func (u *user) completes(words ...string) string {
	u.t.Helper()
	got := u.weft(append([]string{"__complete"}, words...)...)
	if got.code != 0 {
		u.t.Errorf("%q: %s", words, got.err)
	}
	return strings.Join(strings.Fields(got.out), " ")
}

const (
	noFiles = ":4"
	files   = ":0"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("c.yaml", fmt.Sprintf(waiting, "comp-flow")))
	for _, id := range []string{"comp-1", "comp-2", "comp-3"} {
		u.wants(0, "*", "run", "comp-flow", "--id", id)
	}
	u.wants(0, "*", "events", "send", "comp-queued")
	queued := strings.TrimSpace(u.wants(0, "*", "queue", "list", "--all", "--jq", `.items[] | select(.name == "comp-queued") | .id`).out)
	polltest.Eventually(t, "the event is waited for", func() bool {
		return u.completes("events", "send", "comp-") == "comp-flow-go "+noFiles
	})
	for _, c := range []struct {
		line, want string
	}{
		{"instances get comp-", "comp-1 comp-2 comp-3 " + noFiles},
		{"i get instances/comp-", "instances/comp-1 instances/comp-2 instances/comp-3 " + noFiles},
		{"instances cancel comp-1 comp-", "comp-2 comp-3 " + noFiles},
		{"instances import comp-1 f", files},
		{"explain comp-2", "comp-2 " + noFiles},
		{"definitions get comp-", "comp-flow " + noFiles},
		{"run comp-", "comp-flow " + files},
		{"run ./", files},
		{"graph comp-", "comp-flow " + files},
		{"apply f", files},
		{"events waiting comp-", "comp-flow-go " + noFiles},
		{"why-not comp-", "comp-flow-go " + noFiles},
		{"nodes show no", "node-1 " + noFiles},
		{"nodes drain no", "node-1 " + noFiles},
		{"queue show " + queued, queued + " " + noFiles},
		{"queue delete " + queued, queued + " " + noFiles},
		{"dead-letters replay nothing-of-ours", noFiles},
		{"tasks complete nothing-of-ours", noFiles},
		{"jobs get nothing-of-ours", noFiles},
		{"locks show nothing-of-ours", noFiles},
		{"instances list -o js", "json jsonl " + noFiles},
		{"graph x -o ", "text svg mermaid dot " + noFiles},
		{"nodes list --time i", "iso " + noFiles},
	} {
		polltest.Eventually(t, fmt.Sprintf("weft %s gives %q", c.line, c.want), func() bool { // a completion that takes half a second gives nothing
			return u.completes(strings.Split(c.line, " ")...) == c.want
		})
	}

	polltest.Eventually(t, "the definition that was meant is told", func() bool { // it is looked for half a second
		got := u.weft("run", "comp-flwo")
		return got.code == 3 && strings.Contains(got.err, `there is no definition "comp-flwo" (definition-not-found) (did you mean comp-flow?)`)
	})
	if got := u.refuses(3, "definition-not-found", "definitions", "get", "nothing-like-it-at-all"); strings.Contains(got.err, "did you mean") {
		t.Errorf("%s", got.err)
	}

	alone := newUser(t)
	alone.wants(0, "*", "context", "set", "prod", "--server", "http://127.0.0.1:1")
	for line, want := range map[string]string{
		"context use ":          "prod " + noFiles,
		"nodes list --context ": "prod " + noFiles,
		"instances get ":        noFiles, // nobody answers
	} {
		if got := alone.completes(strings.Split(line, " ")...); got != want {
			t.Errorf("weft %s: %q, want %q", line, got, want)
		}
	}
}
