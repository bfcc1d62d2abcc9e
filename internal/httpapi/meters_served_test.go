package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// TestANodeTellsItsMeters asks over HTTP what a node does, by itself and as one of all.
func TestANodeTellsItsMeters(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: metered-#\nroot:\n  - writeLine: hello\n")
	var v map[string]any
	polltest.Eventually(t, "commits and rates are told", func() bool {
		s.post(t, "/api/v1/definitions/metered-#/execute", "", 200)
		v = s.get(t, "/api/v1/nodes/node-1/meters").json(t)
		commands := v["commitCommands"].(map[string]any)
		return v["seconds"].(float64) > 0 && commands["count"].(float64) > 0 && commands["mean"].(float64) >= 1
	})
	if v["nodeId"] != "node-1" || len(v["commits"].([]any)) == 0 || v["bursts"].(map[string]any)["total"].(float64) < 1 || v["store"].(map[string]any)["quota"].(float64) <= 0 ||
		v["sessionSince"] == nil || v["drainsUntil"] != nil || v["etcdMembers"] == nil {
		t.Errorf("%v", v)
	}
	all := s.get(t, "/api/v1/cluster/meters").json(t)
	if items := all["items"].([]any); len(items) != 1 || items[0].(map[string]any)["nodeId"] != "node-1" || len(all["unasked"].([]any)) != 0 {
		t.Errorf("%v", all)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/nodes/nobody/meters", ""); a.status != http.StatusNotFound || a.code() != "node-not-found" {
		t.Errorf("of a node that is not there: %d %s", a.status, a.body)
	}
}
