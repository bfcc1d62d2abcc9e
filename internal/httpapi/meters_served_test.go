package httpapi_test

import (
	"net/http"
	"testing"
)

// TestANodeTellsItsMeters asks over HTTP: what was counted is there at once, rates from the second
// question on.
func TestANodeTellsItsMeters(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: metered-#\nroot:\n  - writeLine: hello\n")
	s.post(t, "/api/v1/definitions/metered-#/execute", "", 200)
	v := s.get(t, "/api/v1/nodes/node-1/meters").json(t)
	if v["nodeId"] != "node-1" || len(v["commits"].([]any)) == 0 || v["bursts"].(map[string]any)["total"].(float64) < 1 || v["store"].(map[string]any)["quota"].(float64) <= 0 {
		t.Errorf("%v", v)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/nodes/nobody/meters", ""); a.status != http.StatusNotFound || a.code() != "node-not-found" {
		t.Errorf("of a node that is not there: %d %s", a.status, a.body)
	}
}
