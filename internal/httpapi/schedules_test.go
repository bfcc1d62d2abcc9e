package httpapi_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
)

// occurrence is when the schedule of a definition is due next, "" if there is none.
func (s *server) occurrence(t *testing.T, definition string) string {
	t.Helper()
	for path := "/api/v1/timers?kind=schedules&limit=500"; ; {
		page := s.get(t, path).json(t)
		for _, item := range page["items"].([]any) {
			if item := item.(map[string]any); item["definitionId"] == s.own(definition) && item["instanceId"] == nil {
				return item["dueAt"].(string)
			}
		}
		next, more := page["nextCursor"].(string)
		if !more {
			return ""
		}
		path = "/api/v1/timers?kind=schedules&limit=500&cursor=" + next
	}
}

// A schedule is fired beside its time, once for a key, and an occurrence is dropped once, and no
// other, however often it is asked for.
func TestSchedulesAreFiredAndSkipped(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: yearly\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n  - writeLine: Happy\n")
	at := "/api/v1/definitions/yearly/schedules/newyear/"
	due := s.occurrence(t, "yearly")
	fire := func(key string) string {
		a := s.do(t, "POST", at+"fire", "", "Idempotency-Key: "+key)
		if a.status != 202 {
			t.Fatalf("fire: %d %s", a.status, a.body)
		}
		return a.json(t)["instanceId"].(string)
	}
	first := fire("fire-1")
	if again := fire("fire-1"); again != first {
		t.Errorf("the same key started %s and %s", first, again)
	}
	if other := fire("fire-2"); other == first {
		t.Error("another key started nothing")
	}
	polltest.Eventually(t, "what was fired has ended", func() bool {
		return s.get(t, "/api/v1/instances/"+first).json(t)["subStatus"] == "Finished"
	})
	if now := s.occurrence(t, "yearly"); now != due || !strings.HasSuffix(due, "-01-01T00:00:00Z") {
		t.Errorf("the occurrence moved from %s to %s", due, now)
	}
	for i, want := range []bool{true, false, false} {
		a := s.do(t, "POST", at+"skip", `{"dueAt": "`+due+`"}`)
		answer := a.json(t)
		if next := s.occurrence(t, "yearly"); a.status != 200 || answer["skipped"] != want || answer["next"] != next || next == due {
			t.Errorf("skip %d: %d %s, and the next is %s", i, a.status, a.body, next)
		}
	}

	s.publish(t, "id: once\nroot:\n  - startAt: 2285-01-01T00:00:00Z\n    id: then\n    trigger: true\n")
	if a := s.do(t, "POST", "/api/v1/definitions/once/schedules/then/skip", `{"dueAt": "2285-01-01T00:00:00Z"}`); a.status != 422 || !strings.Contains(string(a.body), "publish the definition without it") {
		t.Errorf("the only occurrence: %d %s", a.status, a.body)
	}
	for _, c := range []struct {
		path, body, code string
		status           int
	}{
		{"yearly/schedules/other/fire", "", "schedule-not-found", 404},
		{"yearly/schedules/other/skip", `{"dueAt": "2999-01-01T00:00:00Z"}`, "schedule-not-found", 404},
		{"none-such/schedules/a/fire", "", "definition-not-found", 404},
		{"yearly/schedules/newyear/skip", "", "invalid-request", 422},
		{"yearly/schedules/newyear/skip", `{"dueAt": "soon"}`, "invalid-request", 422},
		{"yearly/schedules/newyear/skip", `{"due": "2999-01-01T00:00:00Z"}`, "invalid-request", 422},
		{"yearly/schedules/newyear/fire", `{"x": 1}`, "invalid-request", 422},
	} {
		if a := s.do(t, "POST", "/api/v1/definitions/"+c.path, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.status, a.body)
		}
	}
}

// The audit log says which schedule was fired, and which occurrence of it was asked to be dropped.
func TestTheAuditNamesTheOccurrence(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	if a := g.do(t, "POST", "/api/v1/definitions", "id: yearly\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n", g.keys[auth.Designer]); a.status != 201 {
		t.Fatalf("publish: %d %s", a.status, a.body)
	}
	at := "/api/v1/definitions/yearly/schedules/newyear/"
	if a := g.do(t, "POST", at+"fire", "", g.keys[auth.Operator]); a.status != 202 {
		t.Fatalf("fire: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", at+"skip", `{"dueAt": "2999-01-01T00:00:00Z"}`, g.keys[auth.Operator]); a.status != 200 || a.json(t)["skipped"] != false {
		t.Fatalf("skip: %d %s", a.status, a.body)
	}
	log := g.log.String()
	for _, target := range []string{"yearly activity newyear", "yearly activity newyear due 2999-01-01T00:00:00Z"} {
		if !strings.Contains(log, `"target":"`+target+`"`) {
			t.Errorf("no line of %q in %s", target, log)
		}
	}
}
