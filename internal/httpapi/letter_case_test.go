package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// The name of a field counts letter by letter: one in other case is no field, and is refused. The exact name is known
// however JSON writes it. So what is given empty in either way is never taken for all.
func TestNamesOfFieldsCountLetterByLetter(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: cased#\nroot:\n  - event: case#\n")
	s.post(t, "/api/v1/definitions/cased#/execute", `{"instanceId": "cased#", "correlationId": "one"}`, 200)
	before := string(s.get(t, "/api/v1/instances/cased#/journal").body)
	for route, c := range map[string]struct{ fields, with string }{
		"/api/v1/events/case#":        {"correlationId instanceId", ""},
		"/api/v1/stimuli":             {"correlationId", `, "activityType": "Elsa.Event", "input": {"name": "case#"}`},
		"/api/v1/queue/send":          {"correlationId name instanceId activityType", `, "all": true, "edit": {}`},
		"/api/v1/queue/delete":        {"correlationId name instanceId activityType", `, "name": "no-such"`},
		"/api/v1/dead-letters/replay": {"correlationId reason name", `, "reason": "expired", "edit": {}`},
		"/api/v1/dead-letters/delete": {"correlationId reason name", `, "reason": "expired"`},
		"/api/v1/instances/retry":     {"definitionId correlationId", ""},
		"/api/v1/jobs":                {"q", `, "kind": "cancel"`},
	} {
		for field := range strings.FieldsSeq(c.fields) {
			for _, name := range []string{strings.ToUpper(field), strings.ToLower(field[:1]) + strings.ToUpper(field[1:]), strings.ToUpper(field[:1]) + field[1:], strings.Replace(field, "Id", "ID", 1), strings.ToLower(field)} {
				if name == field {
					continue
				}
				for _, value := range []string{`""`, `"x"`, `null`} {
					body := fmt.Sprintf(`{%q: %s%s}`, name, value, c.with)
					if a := s.post(t, route, body, 422); !strings.Contains(string(a.body), "unknown-field") {
						t.Errorf("%s %s: %s", route, body, a.body)
					}
				}
			}
		}
	}
	for _, name := range []string{`correlation\u0049d`, `\u0063orrelationId`} {
		for route, with := range map[string]string{"/api/v1/events/case#": "", "/api/v1/stimuli": `, "activityType": "Elsa.Event", "input": {"name": "case#"}`, "/api/v1/queue/delete": `, "name": "no-such"`} {
			body := `{"` + name + `" : ""` + with + `}`
			if a := s.post(t, route, body, 422); !strings.Contains(string(a.body), "is empty") {
				t.Errorf("%s %s: %s", route, body, a.body)
			}
		}
	}
	if after := string(s.get(t, "/api/v1/instances/cased#/journal").body); asOf.ReplaceAllString(after, "") != asOf.ReplaceAllString(before, "") {
		t.Errorf("something came to the instance:\n%s\n%s", before, after)
	}
}
