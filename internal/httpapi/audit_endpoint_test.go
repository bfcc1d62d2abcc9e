package httpapi_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
)

// What a workflow answers is not what became of the call: a resume link that
// it names is not in the audit log, and its 404 is no refusal, of which
// lines are left out.
func TestTheAuditLogSaysNothingOfWhatWorkflowsAnswer(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	for _, definition := range []string{`
id: sends-on
root:
  - httpEndpoint: {path: sends-on, supportedMethods: [POST]}
    trigger: true
  - parallel:
      - event: decided
        id: decision
      - writeHttpResponse: {statusCode: 201, responseHeaders: {Location: "${{ resumeUrl('decision') }}"}}
`, `
id: absent
root:
  - httpEndpoint: {path: absent, supportedMethods: [POST]}
    trigger: true
  - writeHttpResponse: {statusCode: 404, content: none}
`} {
		if a := g.do(t, "POST", "/api/v1/definitions", definition, g.keys[auth.Designer]); a.status != 201 {
			t.Fatalf("publish: %d %s", a.status, a.body)
		}
	}
	to := g.do(t, "POST", "/workflows/sends-on", "").header.Get("Location")
	_, token, ok := strings.Cut(to, "/links/")
	if !ok {
		t.Fatalf("Location is %q", to)
	}
	const times = 150 // more than the lines that strangers have at once
	for range times {
		if a := g.do(t, "POST", "/workflows/absent", ""); a.status != 404 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	// Nor is one that a caller puts where a name or a path belongs.
	for _, path := range []string{"/api/v1/events/", "/workflows/", "/links/"} {
		if a := g.do(t, "POST", path+token, "", g.keys[auth.Operator]); a.status >= 500 || path == "/links/" && a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := g.do(t, "POST", "/api/v1/stimuli", `{"activityType": "Elsa.Event", "stimulus": {"eventName": "e"}, "correlationId": "for `+token+`"}`, g.keys[auth.Operator]); a.status >= 300 {
		t.Fatalf("stimulus: %d %s", a.status, a.body)
	}
	log := g.log.String()
	if n := strings.Count(log, `"target":"(hidden)"`) + strings.Count(log, "correlation for (hidden)"); n != 3 {
		t.Errorf("%d lines name what was asked for, want 3", n)
	}
	if strings.Contains(log, token) {
		t.Error("the link is in the log")
	}
	if n := strings.Count(log, `"target":"absent"`); n != times {
		t.Errorf("%d lines about %d calls that each started an instance", n, times)
	}
}
