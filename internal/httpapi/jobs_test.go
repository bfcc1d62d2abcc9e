package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

func (s *server) job(t *testing.T, body string) map[string]any {
	t.Helper()
	a := s.post(t, "/api/v1/jobs", body, 202)
	path := a.header.Get("Location")
	var job map[string]any
	polltest.Eventually(t, "the job ends", func() bool {
		job = s.get(t, path).json(t)
		return job["state"] != "running"
	})
	return job
}

// quote writes a text as JSON does.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestJobs(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: jobs#\nroot:\n  - executeWorkflow: jobs-child#\n    id: call\n  - event: jobs#\n    id: wait\n")
	const hostile = "c # \\\"*<script>\u202e\n"
	for _, id := range []string{"jobs-1#", "jobs-2#", "jobs:3._-#" + strings.Repeat("x", 100)} {
		s.post(t, "/api/v1/definitions/jobs#/execute", `{"instanceId": "`+id+`", "correlationId": `+quote(hostile)+`}`, 200)
	}
	try := s.post(t, "/api/v1/jobs?dryRun=true&limit=2", `{"kind": "alter", "q": "def:jobs#", "alterations": [{"type": "skip", "activity": "wait"}]}`, 200).json(t)
	if try["matching"] != 3.0 || try["more"] != false || try["tried"] != 2.0 || try["fits"] != 0.0 || len(try["refusals"].([]any)) != 2 || try["query"] != s.own("def:jobs#") {
		t.Errorf("%v", try)
	}
	job := s.job(t, `{"kind": "alter", "reason": "done by hand", "q": "def:jobs# created<1h", "alterations": [{"type": "skip", "activity": "call"}]}`)
	if job["state"] != "done" || job["done"] != 3.0 || job["refused"] != 0.0 || job["reason"] != "done by hand" || !strings.Contains(job["query"].(string), "created>20") {
		t.Errorf("%v", job)
	}
	if job := s.job(t, `{"kind": "retry", "q": "def:jobs#"}`); job["done"] != 0.0 {
		t.Errorf("nothing is faulted: %v", job)
	}
	byCorrelation := quote(`corr:"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(hostile) + `"`)
	if job := s.job(t, `{"kind": "alter", "q": `+byCorrelation+`, "alterations": [{"type": "skip", "activity": "call"}]}`); job["refused"] != 3.0 || len(job["refusals"].([]any)) != 3 {
		t.Errorf("they do not stand there any more: %v", job)
	}
	if job := s.job(t, `{"kind": "cancel", "q": "def:jobs# version:1"}`); job["done"] != 3.0 {
		t.Errorf("%v", job)
	}
	if in := s.get(t, "/api/v1/instances/jobs-2#").json(t); in["subStatus"] != "Cancelled" {
		t.Errorf("%v", in)
	}
	job = s.job(t, `{"kind": "delete", "q": "def:jobs# status:finished"}`)
	if job["done"] != 3.0 {
		t.Errorf("%v", job)
	}
	path := "/api/v1/jobs/" + job["id"].(string)
	for range 2 { // one that has ended stays as it is
		if a := s.post(t, path+"/cancel", "", 200); a.json(t)["state"] != "done" {
			t.Errorf("%s", a.body)
		}
	}
	if a := s.do(t, http.MethodDelete, path, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodGet, path, ""); a.status != 404 || a.code() != "job-not-found" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if items := s.get(t, "/api/v1/jobs?limit=500").json(t)["items"].([]any); len(items) < 3 {
		t.Errorf("%v", items)
	}
}

// A job of instances that are named is for these, and tells who refused.
func TestAJobOfNamedInstances(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: named#\nroot:\n  - event: named#\n")
	for _, id := range []string{"named-1#", "named-2#", "named-3#"} {
		s.post(t, "/api/v1/definitions/named#/execute", `{"instanceId": "`+id+`"}`, 200)
	}
	named := quote(s.own("id:named-2#,named-1#,nothing#"))
	for _, kind := range []string{"retry", "cancel"} {
		try := s.post(t, "/api/v1/jobs?dryRun=true", `{"kind": "`+kind+`", "q": `+named+`}`, 200).json(t)
		if fits := map[string]float64{"retry": 0, "cancel": 2}[kind]; try["matching"] != 2.0 || try["fits"] != fits {
			t.Errorf("%s: %v", kind, try)
		}
	}
	if job := s.job(t, `{"kind": "retry", "q": `+named+`}`); job["done"] != 0.0 || job["refused"] != 2.0 {
		t.Errorf("none of them is faulted: %v", job)
	}
	if job := s.job(t, `{"kind": "cancel", "q": `+named+`}`); job["done"] != 2.0 || job["refused"] != 0.0 {
		t.Errorf("%v", job)
	}
	for id, want := range map[string]string{"named-1#": "Cancelled", "named-2#": "Cancelled", "named-3#": "Suspended"} {
		if in := s.get(t, "/api/v1/instances/"+id).json(t); in["subStatus"] != want {
			t.Errorf("%s is %v, want %s", id, in["subStatus"], want)
		}
	}
	page := s.get(t, "/api/v1/instances?view=summary&q="+url.QueryEscape(s.own("id:named-3#,named-1# status:running"))).json(t)
	if items := page["items"].([]any); len(items) != 1 || page["query"] != s.own("id:named-1#,named-3# status:running") {
		t.Errorf("%v", page)
	}
}

// One key makes one job, whoever of the nodes is asked how often; and no other one.
func TestAKeyMakesOneJob(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	body, key := `{"kind": "cancel", "q": "def:nobody#"}`, "Idempotency-Key: jobs-#"
	first := s.do(t, http.MethodPost, "/api/v1/jobs", body, key)
	again := s.do(t, http.MethodPost, "/api/v1/jobs", body, key)
	if first.status != 202 || again.status != 202 || first.json(t)["id"] != again.json(t)["id"] {
		t.Errorf("%d %s, and then %d %s", first.status, first.body, again.status, again.body)
	}
	r := s.receipt(t, "jobs-#")
	made := r["job"].(map[string]any)
	if r["request"] != "POST /api/v1/jobs" || made["id"] != first.json(t)["id"] || made["state"] == "gone" || len(r["effects"].([]any)) != 0 {
		t.Errorf("%v", r)
	}
	path := "/api/v1/jobs/" + made["id"].(string)
	polltest.Eventually(t, "it ends", func() bool { return s.get(t, path).json(t)["state"] == "done" })
	if r := s.receipt(t, "jobs-#"); r["open"] != false || r["job"].(map[string]any)["state"] != "done" {
		t.Errorf("%v", r)
	}
	if a := s.do(t, http.MethodDelete, path, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if r := s.receipt(t, "jobs-#"); r["job"].(map[string]any)["state"] != "gone" {
		t.Errorf("%v", r)
	}
	if a := s.do(t, http.MethodPost, "/api/v1/jobs", body, key); a.code() != "idempotency-key-reused" {
		t.Errorf("the key of a job that was deleted: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodPost, "/api/v1/jobs", `{"kind": "delete", "q": "def:nobody#"}`, key); a.code() != "idempotency-key-reused" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestJobsThatAreNoJobs(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for _, tt := range []struct {
		body   string
		places []string // code and pointer of each problem
	}{
		{`{}`, []string{"unknown-kind /kind", "missing-filter /q"}},
		{`{"kind": "cancel"`, []string{"malformed-json"}},
		{`[]`, []string{"wrong-type"}},
		{`{"kind": "cancel"}`, []string{"missing-filter /q"}},
		{`{"kind": "cancel", "q": "  "}`, []string{"missing-filter /q"}},
		{`{"kind": "cansel", "all": true, "alterations": [{"type": "retry"}]}`, []string{"unknown-kind /kind", "unknown-field /alterations"}},
		{`{"kind": "cancel", "filter": {"definitionId": "x"}, "q": "def:x"}`, []string{"unknown-field /filter"}},
		{`{"kind": "cancel", "all": true, "q": "def:x"}`, []string{"two-filters /all"}},
		{`{"kind": "cancel", "q": "def:x", "reason": "y"}`, []string{"unknown-field /reason"}},
		{`{"kind": "cancel", "q": "def:\"a b\" status:asleep versoin:2 created<soon"}`, []string{"bad-value /q", "bad-value /q", "unknown-word /q", "bad-value /q"}},
		{`{"kind": "cancel", "q": "version:2 corr:c"}`, []string{"missing-word /q"}},
		{`{"kind": "cancel", "q": "label.a b"}`, []string{"missing-value /q", "unknown-word /q"}},
		{`{"kind": "cancel", "q": "` + strings.Repeat("x", 9000) + `"}`, []string{"query-too-long /q"}},
		{`{"kind": "cancel", "q": 7}`, []string{"wrong-type /q"}},
		{`{"kind": "cancel", "all": true, "alterations": [{"type": "retry"}]}`, []string{"unknown-field /alterations"}},
		{`{"kind": "alter", "all": true, "alterations": [{"type": "migrate", "version": 1}]}`, []string{"missing-filter /q"}},
		{`{"kind": "alter", "all": true, "alterations": [{"type": "skip", "activity": "a", "execution": 3}, {"type": "reschedule", "bookmark": "b", "dueAt": "2030-01-01T00:00:00Z"}]}`,
			[]string{"one-instance-only /alterations/0/execution", "one-instance-only /alterations/1/bookmark"}},
		{`{"kind": "alter", "all": true}`, []string{"missing-field /alterations"}},
		{`{"kind": "alter", "all": true, "alterations": [{"type": "skip"}, {"type": "skipp"}]}`, []string{"missing-field /alterations/0/activity", "unknown-alteration /alterations/1/type"}},
		{`{"kind": "alter", "q": "def:nobody#", "alterations": [{"type": "migrate", "version": 4}, {"type": "migrate"}]}`, []string{"bad-version /alterations/1/version", "unknown-version /alterations/0/version"}},
	} {
		for _, path := range []string{"/api/v1/jobs", "/api/v1/jobs?dryRun=true"} {
			a := s.do(t, http.MethodPost, path, tt.body)
			if a.status != 422 && a.status != 400 {
				t.Errorf("%.100s: %d %s", tt.body, a.status, a.body)
				continue
			}
			var said []string
			for _, e := range a.json(t)["errors"].([]any) {
				e := e.(map[string]any)
				said = append(said, fmt.Sprint(e["code"], " ", e["pointer"]))
			}
			for i, want := range tt.places {
				if len(said) != len(tt.places) || !strings.Contains(said[i], want) {
					t.Errorf("%.100s: %q, want %q", tt.body, said, tt.places)
					break
				}
			}
		}
	}
	for path, want := range map[string]string{
		"/api/v1/jobs?limit=3": "bad-parameter", "/api/v1/jobs?dryRun=true&limit=501": "bad-limit", "/api/v1/jobs?dryRun=perhaps": "bad-parameter", "/api/v1/jobs?all=true": "unknown-parameter",
	} {
		if a := s.do(t, http.MethodPost, path, `{"kind": "cancel", "q": "def:nobody#"}`); a.status != 422 && a.status != 400 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for _, id := range []string{"nobody", "..%2F..%2Finstance", "%00", strings.Repeat("x", 600), "%E2%80%AE"} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if a := s.do(t, method, "/api/v1/jobs/"+id, ""); a.status != 404 && a.status != 400 {
				t.Errorf("%s %s: %d %s", method, id, a.status, a.body)
			}
		}
	}
	if a := s.do(t, http.MethodDelete, "/api/v1/jobs/nobody", ""); a.code() != "job-not-found" {
		t.Errorf("%d %s", a.status, a.body)
	}
}
