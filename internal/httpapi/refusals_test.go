package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// What would have no effect, or the wrong one, is refused with what to do, and
// nothing is lost by it.
func TestWhatWouldDoNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(waitingYAML, "refusing#", "refusing#"))
	s.publish(t, "id: failing#\nroot:\n  - fault: no\n")
	in := s.post(t, "/api/v1/definitions/refusing#/execute", `{"instanceId": "refusing-1#"}`, 200).json(t)
	mark := "/api/v1/bookmarks/" + in["bookmarks"].([]any)[0].(map[string]any)["bookmarkId"].(string) + "/resume"
	s.post(t, "/api/v1/definitions/failing#/execute", `{"instanceId": "failing-1#"}`, 200)
	exported := string(s.get(t, "/api/v1/instances/refusing-1#/state").body)
	changed := func(old, now string) string {
		t.Helper()
		if !strings.Contains(exported, old) {
			t.Fatalf("there is no %s in %s", old, exported)
		}
		return strings.Replace(exported, old, now, 1)
	}
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code                     string
		says                     []string
	}{
		{"cancel of a faulted one", "POST", "/api/v1/instances/failing-1#/cancel", "", 409, "instance-finished", []string{"Faulted", "retry it, or delete it"}},
		{"retry of one that waits", "POST", "/api/v1/instances/refusing-1#/retry", "", 409, "instance-not-faulted", []string{"nothing to retry"}},
		{"an input that an event does not know", "POST", mark, `{"input": {"payloat": 1}}`, 422, "invalid-request", []string{"payloat", "did you mean payload?", "it takes payload"}},
		{"the same as a stimulus", "POST", "/api/v1/stimuli", `{"activityType": "Elsa.Event", "stimulus": {"eventName": "refusing#"}, "input": {"foo": 1}}`, 422, "invalid-request", []string{"foo", "it takes payload"}},
		{"a type that there is not", "POST", "/api/v1/stimuli", `{"activityType": "Elsa.Evnt", "stimulus": {"eventName": "refusing#"}}`, 422, "invalid-request",
			[]string{"Elsa.Evnt", "did you mean Elsa.Event?", "Elsa.HttpEndpoint"}},
		{"a type in another case", "POST", "/api/v1/stimuli", `{"activityType": "elsa.event", "stimulus": {"eventName": "refusing#"}}`, 422, "invalid-request", []string{"did you mean Elsa.Event?"}},
		{"import into another sub-status", "PUT", "/api/v1/instances/refusing-1#/state", changed(`"Suspended"`, `"Sleeping"`), 422, "invalid-request", []string{`"Sleeping"`, "refused to import"}},
		{"import of another version", "PUT", "/api/v1/instances/refusing-1#/state", changed(`"version":1`, `"version":7`), 404, "definition-not-found", []string{"refused to import", "version 7"}},
		{"import of a bookmark of another instance", "PUT", "/api/v1/instances/refusing-1#/state", changed(s.own(`"bookmarkId":"refusing-1#~`), `"bookmarkId":"other-1#~`), 422, "invalid-request", []string{"other-1#~", "no bookmark of instance"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.do(t, c.method, c.path, c.body)
			if a.status != c.status || a.code() != c.code {
				t.Fatalf("%d %s", a.status, a.body)
			}
			detail, _ := a.json(t)["detail"].(string)
			for _, want := range c.says {
				if !strings.Contains(detail, s.own(want)) {
					t.Errorf("it does not say %s: %s", s.own(want), detail)
				}
			}
		})
	}
	if got := s.get(t, "/api/v1/instances/failing-1#").json(t)["subStatus"]; got != "Faulted" {
		t.Errorf("the faulted one is %v", got)
	}
	s.post(t, "/api/v1/instances/failing-1#/retry", "", 200)
	s.do(t, http.MethodDelete, "/api/v1/instances/failing-1#", "")
	if a := s.do(t, http.MethodGet, "/api/v1/instances/failing-1#", ""); a.status != 404 {
		t.Errorf("after the delete: %d %s", a.status, a.body)
	}
	s.post(t, mark, `{"input": {"payload": {"what": "it"}}}`, 200)
	if got := s.get(t, "/api/v1/instances/refusing-1#", "Prefer: wait=10").json(t)["subStatus"]; got != "Finished" {
		t.Errorf("it is %v", got)
	}
}
