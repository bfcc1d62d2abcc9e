package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Tests run on the node, against what is published or what is sent, and leave nothing.
func TestDefinitionsAreTestedInPlace(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: tried-child#\noptions: {usableAsActivity: true}\nroot:\n  - writeLine: child\n")
	s.publish(t, "id: tried#\ninputs: {who: {type: string}}\noutputs: {who: \"${{ inputs.who }}\"}\nroot:\n  - event: paid\n  - executeWorkflow: tried-child#\n    waitForCompletion: true\n")
	try := func(tests, text, id string) answer {
		t.Helper()
		body, err := json.Marshal(map[string]string{"tests": s.own(tests), "text": s.own(text), "definitionId": s.own(id)})
		if err != nil {
			t.Fatal(err)
		}
		return s.do(t, http.MethodPost, "/api/v1/definitions/test", string(body), "Content-Type: application/json")
	}
	cases := "others: [tried-child#.yaml]\ncases:\n  - name: good\n    input: {who: Ada}\n    steps: [{event: paid}]\n    expect: {status: Finished, output: {who: Ada}}\n  - name: bad\n    expect: {status: Finished}\n"
	v := try(cases, "", "tried#").json(t)
	if v["passed"] != float64(1) || v["failed"] != float64(1) {
		t.Errorf("%v", v)
	}
	bad := v["cases"].([]any)[1].(map[string]any)
	if first := bad["failures"].([]any)[0].(map[string]any); bad["name"] != "bad" || first["field"] != "status" || len(bad["journal"].([]any)) == 0 {
		t.Errorf("%v", bad)
	}
	if v := try("cases:\n  - expect: {status: Finished}\n", "id: draft\nroot:\n  - writeLine: hello\n", "").json(t); v["passed"] != float64(1) {
		t.Errorf("what is sent: %v", v)
	}
	for what, c := range map[string]struct {
		tests, text, id, code string
		status                int
	}{
		"no definition":   {"cases: [{}]", "", "", "missing-field", 422},
		"none published":  {"cases: [{}]", "", "nobody#", "definition-not-found", 404},
		"no test":         {"", "id: x\nroot: []\n", "", "bad-test", 422},
		"a mistake in it": {"cases:\n  - nmae: x\n", "id: x\nroot: []\n", "", "did you mean name?", 422},
		"no end":          {"cases:\n" + strings.Repeat("  - steps: [{advance: 10000h}]\n", 100), "id: x\nroot:\n  - forEach: ${{ 0..1900 }}\n    body:\n      - delay: 1s\n      - forEach: ${{ 0..4 }}\n        body: [{runJavaScript: \"let n = 0; for (let i = 0; i < 3000; i++) n += i; n\"}]\n", "", "too-long", 422},
	} {
		if a := try(c.tests, c.text, c.id); a.status != c.status || !strings.Contains(string(a.body), c.code) {
			t.Errorf("%s: %d %.600s", what, a.status, a.body)
		}
	}
	if a := try("others: [/etc/passwd, ../../secret.yaml]\ncases: [{}]", "id: x\nroot: []\n", ""); a.status != 422 || !strings.Contains(string(a.body), "is a path") || strings.Contains(string(a.body), "root:x") {
		t.Errorf("paths: %s", a.body)
	}
	if v := try("mocks: {acme.Ship: {}}\ncases:\n  - expect: {status: Finished, calls: {acme.Ship: [{to: x}]}}\n", "id: draft\nroot:\n  - acme.Ship: {to: x}\n", "").json(t); v["passed"] != float64(1) {
		t.Errorf("an activity of another program: %v", v)
	}
}
