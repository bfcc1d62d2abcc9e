package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// What an ordinary definition makes of one request may be more than is ever read
// again: it is refused, or the instance faults and says why, and nobody else notices.
func TestAnInstanceThatGrowsPastWhatIsReadIsRefused(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: packweb#\nvariables: {body: object}\nroot:\n  - httpEndpoint: {path: pack#, supportedMethods: [POST]}\n    trigger: true\n    outputs: {parsedContent: body}\n"+
		"  - parallelForEach: ${{ variables.body.items }}\n    body: [{runTask: {taskName: 'pack#', payload: {order: \"${{ variables.body.order }}\"}}}]\n"))
	s.publish(t, s.own("id: variables#\nroot:\n  - forEach: ${{ inputs.items }}\n    body:\n    - runJavaScript: \"setVariable('v' + getVariable('CurrentIndex'), 'x'.repeat(900000))\"\n  - event: go#\n"))
	items := strings.TrimSuffix(strings.Repeat(`"item",`, 400), ",")
	body := fmt.Sprintf(`{"items":[%s],"order":%q}`, items, strings.Repeat("x", 58_000))

	a := s.do(t, "POST", s.own("/workflows/pack#"), body, "Content-Type: application/json")
	// On a busy machine the start is durable, and said so, before the burst is over.
	if a.code() != "instance-faulted" && !strings.Contains(string(a.body), `"outcome":"started"`) {
		t.Errorf("the endpoint: %d %.300s", a.status, a.body)
	}
	polltest.Eventually(t, "the instance of the endpoint faults", func() bool {
		a = s.get(t, "/api/v1/instances?definitionId=packweb#")
		return strings.Contains(string(a.body), `"subStatus":"Faulted"`)
	})
	if !strings.Contains(string(a.body), "at most 16777216") {
		t.Errorf("the instance of the endpoint: %.2000s", a.body)
	}
	a = s.do(t, "POST", s.own("/api/v1/definitions/packweb#/dispatch"), fmt.Sprintf(`{"instanceId":%q,"input":{}}`, s.own("d#")), "Content-Type: application/json")
	if a.status != 202 {
		t.Errorf("dispatch: %d %.300s", a.status, a.body)
	}
	a = s.do(t, "POST", s.own("/api/v1/definitions/variables#/execute"), fmt.Sprintf(`{"input":{"items":[%s]}}`, items), "Content-Type: application/json")
	if a.status != 202 && (a.status != 413 || a.code() != "too-large") {
		t.Errorf("execute: %d %.300s", a.status, a.body)
	}
	id := s.own("v#")
	a = s.do(t, "POST", s.own("/api/v1/definitions/variables#/dispatch"), fmt.Sprintf(`{"instanceId":%q,"input":{"items":[%s]}}`, id, items), "Content-Type: application/json")
	if a.status != 202 {
		t.Fatalf("dispatch: %d %.300s", a.status, a.body)
	}
	in := s.do(t, "GET", "/api/v1/instances/"+id, "", "Prefer: wait=60")
	if !strings.Contains(string(in.body), `"subStatus":"Faulted"`) || !strings.Contains(string(in.body), "at most") {
		t.Errorf("the instance: %d %.500s", in.status, in.body)
	}
	for _, path := range []string{"/api/v1/instances?limit=500", "/api/v1/tasks", s.own("/api/v1/instances?definitionId=packweb#")} {
		if a := s.do(t, "GET", path, ""); a.status != 200 {
			t.Errorf("%s: %d %.300s", path, a.status, a.body)
		}
	}
	if a := s.do(t, "DELETE", "/api/v1/instances/"+id, ""); a.status != 204 && a.status != 202 {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
}
