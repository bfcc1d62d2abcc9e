package httpapi_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

const drawnYAML = `
id: drawn#
inputs: {big: boolean}
root:
  - if: ${{ inputs.big }}
    then:
      - event: approved#
        timeout: 48h
  - forEach: [1, 2, 3]
    body:
      - writeLine: round
  - writeLine: %s
`

func TestDefinitionsAreDrawn(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(drawnYAML, "one"))
	s.publish(t, fmt.Sprintf(drawnYAML, "</svg><script>alert(1)</script>"))
	for format, want := range map[string]struct{ typ, has string }{
		"svg": {"image/svg+xml", "&lt;/svg&gt;"}, "text": {"text/plain; charset=utf-8", "├─ if ${{ inputs.big }}"},
		"mermaid": {"text/vnd.mermaid; charset=utf-8", "flowchart TD\n"}, "dot": {"text/vnd.graphviz; charset=utf-8", "digraph"},
		"json": {"application/json", `"kind":"choice","id":"if1","type":"if"`},
	} {
		a := s.get(t, "/api/v1/definitions/drawn#/graph?format="+format)
		if a.status != 200 || a.header.Get("Content-Type") != want.typ || !strings.Contains(string(a.body), want.has) {
			t.Errorf("%s: %d %s %s", format, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
	a := s.get(t, "/api/v1/definitions/drawn#/graph?version=1")
	if err := xml.Unmarshal(a.body, new(struct{})); err != nil || strings.Contains(string(a.body), "script") {
		t.Errorf("version 1: %v: %s", err, a.body)
	}
	if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || !strings.Contains(got, "sandbox") {
		t.Errorf("a picture that is opened by its address may do what %q allows", got)
	}
	for path, want := range map[string]string{
		"/api/v1/definitions/nobody/graph": "definition-not-found", "/api/v1/definitions/drawn#/graph?version=3": "definition-not-found",
		"/api/v1/definitions/drawn#/graph?version=0": "invalid-request", "/api/v1/definitions/drawn#/graph?version=x": "invalid-request",
		"/api/v1/definitions/drawn#/graph?format=png": "invalid-request", "/api/v1/instances/nobody/graph": "instance-not-found",
		"/api/v1/instances/nobody/graph?version=1": "invalid-request",
	} {
		if a := s.do(t, http.MethodGet, path, ""); a.code() != want {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.body, want)
		}
	}
}

func TestInstancesAreDrawnAsTheyAre(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(drawnYAML, "end"))
	s.post(t, "/api/v1/definitions/drawn#/execute", `{"instanceId": "drawn-1#", "input": {"big": true}}`, 200)
	text := func(id string) string {
		return string(s.get(t, "/api/v1/instances/"+id+"/graph?format=text").body)
	}
	for _, want := range []string{"▶ if ${{ inputs.big }}", "… event approved# (48h)", "├─ forEach", "└─ writeLine end"} {
		if got := text("drawn-1#"); !strings.Contains(got, s.own(want)) {
			t.Errorf("while it waits there is no %q:\n%s", want, got)
		}
	}
	s.publish(t, fmt.Sprintf(drawnYAML, "another version")) // it stays on its own
	s.post(t, "/api/v1/events/approved#", `{}`, 200)
	polltest.Eventually(t, "it ends", func() bool { return s.get(t, "/api/v1/instances/drawn-1#").json(t)["status"] == "Finished" })
	for _, want := range []string{"✓ if ${{ inputs.big }}", "✓ event approved# (48h)", "✓ ×3 writeLine round", "✓ writeLine end"} {
		if got := text("drawn-1#"); !strings.Contains(got, s.own(want)) {
			t.Errorf("at the end there is no %q:\n%s", want, got)
		}
	}
	s.post(t, "/api/v1/definitions/drawn#/execute", `{"instanceId": "drawn-2#", "input": {"big": true}}`, 200)
	s.post(t, "/api/v1/instances/drawn-2#/cancel", ``, 200)
	if got := text("drawn-2#"); strings.Contains(got, "▶") || strings.Contains(got, "…") || !strings.Contains(got, "⊘ if") {
		t.Errorf("cancelled:\n%s", got)
	}
}
