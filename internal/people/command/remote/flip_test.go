package remote_test

import (
	"strings"
	"testing"
)

// Who publishes is told what begins and ceases to start instances, and how many run on.
func TestApplyTellsTheFlip(t *testing.T) {
	t.Parallel()
	u := at(t)
	file := u.file("flip.yaml", "id: flips\nroot:\n  - event: flip-placed\n    trigger: true\n  - event: flip-paid\n")
	first := u.wants(0, "DEFINITION  VERSION  OUTCOME    FILE\nflips       -> v1    published  "+file+"\n  flips  + trigger event flip-placed\n", "apply", file, "--wait", "1m")
	if first.err != "nodes  1 of 1 know it\n" {
		t.Errorf("nodes: %q", first.err)
	}
	u.wants(0, "*", "run", "flips", "--id", "flips-1")
	u.wants(0, "*", "run", "flips", "--id", "flips-2")
	u.file("flip.yaml", "id: flips\nroot:\n  - httpEndpoint: {path: flip, supportedMethods: [POST]}\n    trigger: true\n  - cron: 0 0 3 1 1 *\n    trigger: true\n")
	if got := u.wants(0, "*", "apply", file, "--dry-run"); !strings.HasSuffix(got.out, "would be published  "+file+"\n  flips  2 running stay on v1\n") || got.err != "" {
		t.Errorf("dry run: %+v", got)
	}
	got := u.wants(0, "*", "apply", file)
	_, flip, _ := strings.Cut(got.out, file+"\n")
	for _, want := range []string{"  flips  + route POST /workflows/flip\n", "  flips  + schedule 0 0 3 1 1 *\n", "  flips  - trigger event flip-placed\n", "  flips  2 running stay on v1\n"} {
		if !strings.Contains(flip, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	u.file("flip.yaml", "id: flips\nroot: []\n")
	u.wants(0, "2 [] [\"route POST /workflows/flip\",\"schedule 0 0 3 1 1 *\"] 0\n", "apply", file, "--jq", `.items[] | "\(.before) \(.added) \(.removed | sort) \(.running)"`)
	u.wants(0, "DEFINITION  VERSION  OUTCOME    FILE\nflips       v3       unchanged  "+file+"\n", "apply", file)
	u.wants(0, "", "diff", file)

	behind := played(t, map[string]string{
		"/definitions": `{"id": "flips", "before": 0, "version": 1, "published": true, "revision": 7}`, "/interface": `{"starts": []}`,
		"/nodes": `{"items": [{"nodeId": "n1", "catalogRevision": 7}, {"nodeId": "n2", "catalogRevision": 6}]}`,
	}, false)
	u.refuses(6, "it is published, and 1 of 2 nodes know it: n2 does not after ", "apply", file, "--wait=1s", "--server", behind.URL)
}
