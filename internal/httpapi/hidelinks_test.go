package httpapi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// TestResumeLinksAreForThoseWhoMayResume puts links wherever a workflow can.
func TestResumeLinksAreForThoseWhoMayResume(t *testing.T) {
	t.Parallel()
	var lines logBuffer
	g := startGuarded(t, func(c *node.Config) { c.Lines, c.PublicURL = &lines, "https://weft.example/sub" })
	const definition = `
id: approval
variables: {link: string}
outputs: {mail: string}
root:
  - parallel:
      - event: decided
        id: decision
      - - setVariable: {variable: link, value: "${{ resumeUrl('decision', 'approve') }}"}
        - setName: for ${{ variables.link }}
        - setOutput: {outputName: mail, outputValue: "see ${{ variables.link }}, soon"}
        - writeLine: said ${{ variables.link }}
        - runTask: {taskName: mail, payload: {link: "${{ variables.link }}", nested: [{"${{ 1 }}": "a ${{ variables.link }} b"}]}}
      - - event: broken
        - fault: broken by ${{ resumeUrl('decision') }}
`
	if a := g.do(t, "POST", "/api/v1/definitions", definition, g.keys[auth.Designer]); a.status != 201 {
		t.Fatalf("publish: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", "/api/v1/definitions/approval/execute", `{"instanceId": "one"}`, g.keys[auth.Operator]); a.status != 200 {
		t.Fatalf("execute: %d %s", a.status, a.body)
	}
	token := regexp.MustCompile(`/links/([A-Za-z0-9_.-]+)`)
	get := func(path string, role auth.Role) string {
		t.Helper()
		a := g.get(t, path, g.keys[role])
		if a.status != 200 {
			t.Fatalf("%s as %v: %d %s", path, role, a.status, a.body)
		}
		return string(a.body)
	}
	paths := []string{"/api/v1/tasks", "/api/v1/instances", "/api/v1/instances/one", "/api/v1/instances/one/journal", "/api/v1/instances/one/explain", "/api/v1/instances/one/owners", "/api/v1/definitions/approval"}
	viewerSeesNone := func() {
		t.Helper()
		for _, path := range paths {
			if body := get(path, auth.Viewer); token.MatchString(body) {
				t.Errorf("a viewer sees a link at %s: %s", path, body)
			}
		}
	}
	viewerSeesNone()
	shown := token.FindStringSubmatch(get("/api/v1/tasks", auth.Operator))
	if shown == nil {
		t.Fatalf("an operator does not see the link of the task: %s", get("/api/v1/tasks", auth.Operator))
	}
	if a := g.do(t, "POST", "/api/v1/events/broken", `{"instanceId": "one"}`, g.keys[auth.Operator]); a.status != 200 && a.status != 202 {
		t.Fatalf("the event that breaks it: %d %s", a.status, a.body)
	}
	polltest.Eventually(t, "it is faulted", func() bool {
		return strings.Contains(get("/api/v1/instances/one", auth.Viewer), "broken by ")
	})
	viewerSeesNone() // of the incident neither
	if viewed := get("/api/v1/instances/one", auth.Viewer); !strings.Contains(viewed, "https://weft.example/sub/links/(hidden)") {
		t.Errorf("a viewer sees no trace of it: %s", viewed)
	}
	for what, text := range map[string]string{
		"the journal": get("/api/v1/instances/one/journal", auth.Admin), "the log": g.log.String(), "the node's lines": lines.String(),
	} {
		if strings.Contains(text, shown[1]) || token.MatchString(text) {
			t.Errorf("%s has a link: %s", what, text)
		}
	}
	if !strings.Contains(lines.String(), "said https://weft.example/sub/links/(hidden)") {
		t.Errorf("lines: %q", lines.String())
	}
	// It is the real one.
	if a := g.do(t, "POST", "/links/"+shown[1], ""); a.status != 200 && a.status != 410 {
		t.Errorf("the link: %d %s", a.status, a.body)
	}
}
