package httpapi_test

import (
	"net/http"
	"testing"
)

// A parent's bookmark names its child, and the child its parent's bookmark.
func TestLineageOfARunningFamily(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: kid#\nroot:\n  - event: kid#\n")
	s.publish(t, "id: mother#\nroot:\n  - executeWorkflow: {workflowDefinitionId: kid#, correlationId: kid#, waitForCompletion: true}\n")
	s.post(t, "/api/v1/definitions/mother#/execute", `{"instanceId": "mother#"}`, 200)
	v := s.get(t, "/api/v1/instances/mother#/lineage").json(t)
	items := v["items"].([]any)
	if len(items) != 2 || v["whole"] != true {
		t.Fatalf("%v", v)
	}
	kid := items[1].(map[string]any)
	waits := s.get(t, "/api/v1/instances/mother#").json(t)["bookmarks"].([]any)[0].(map[string]any)
	if waits["childInstanceId"] != kid["instanceId"] || kid["awaitedAt"] != waits["bookmarkId"] || kid["parentInstanceId"] != s.own("mother#") || kid["definitionId"] != s.own("kid#") {
		t.Errorf("the parent has %v, the child is %v", waits, kid)
	}
	v = s.get(t, "/api/v1/instances/"+kid["instanceId"].(string)+"/lineage?depth=1&descendants=1").json(t)
	if items = v["items"].([]any); len(items) != 2 || items[0].(map[string]any)["depth"] != -1.0 || items[0].(map[string]any)["instanceId"] != s.own("mother#") {
		t.Errorf("%v", v)
	}
	for path, status := range map[string]int{
		"mother#/lineage?depth=0": 422, "mother#/lineage?depth=11": 422, "mother#/lineage?depth=x": 422, "mother#/lineage?descendants=501": 422, "mother#/lineage?limit=1": 422,
		"nobody#/lineage": 404, "no%20id/lineage": 422,
	} {
		if a := s.do(t, http.MethodGet, "/api/v1/instances/"+path, ""); a.status != status {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}
