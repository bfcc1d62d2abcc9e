package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// A list of definitions tells what starts each of them, if that is asked for.
func TestAListTellsWhatStartsDefinitions(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: begun#\nroot:\n  - event: begin#\n    trigger: true\n  - httpEndpoint: {path: 'begun#/{id}', supportedMethods: [GET]}\n    trigger: true\n  - {cron: '0 0 3 * * *', trigger: true}\n"))
	of := func(query string) map[string]any {
		t.Helper()
		for _, d := range s.get(t, "/api/v1/definitions?limit=500"+query).json(t)["items"].([]any) {
			if v := d.(map[string]any); v["id"] == s.own("begun#") {
				return v
			}
		}
		t.Fatal("it is in no list")
		return nil
	}
	if v := of(""); v["starts"] != nil || v["schedules"] != nil {
		t.Errorf("nobody asked: %v", v)
	}
	v := of("&starts=true")
	var when []string
	for _, one := range v["starts"].([]any) {
		when = append(when, one.(map[string]any)["when"].(string))
	}
	if got, want := strings.Join(when, ", "), s.own("0 0 3 * * *, begin#, GET /workflows/begun#/{id}"); got != want || v["schedules"] != true || v["moreStarts"] != nil {
		t.Errorf("%q, want %q: %v", got, want, v)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/definitions?starts=maybe", ""); a.status != 422 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestDefinitionsLifeCycle(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	source := s.own(fmt.Sprintf(waitingYAML, "cycle#", "cycle#"))
	const path = "/api/v1/definitions/cycle#"

	if a := s.do(t, http.MethodPost, "/api/v1/definitions?dryRun=true", source); a.status != 200 {
		t.Errorf("dry run: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodGet, path, ""); a.status != 404 || a.code() != "definition-not-found" {
		t.Errorf("after a dry run it is there: %d", a.status)
	}
	if a := s.do(t, http.MethodPost, "/api/v1/definitions?publish=false", source); a.status != 201 || a.json(t)["published"] != false {
		t.Errorf("draft: %d %s", a.status, a.body)
	}
	if a := s.post(t, path+"/execute", `{}`, 404); a.code() != "definition-not-found" {
		t.Errorf("a draft was executed: %s", a.body)
	}
	if v := s.post(t, path+"/publish", ``, 200).json(t); v["published"] != true || v["version"] != 1.0 {
		t.Errorf("published: %v", v)
	}
	a := s.get(t, path)
	if string(a.body) != source || a.header.Get("Content-Type") != "application/yaml" || a.header.Get("ETag") != `"1"` {
		t.Errorf("the source came back as %s %s:\n%s", a.header.Get("Content-Type"), a.header.Get("ETag"), a.body)
	}
	a = s.get(t, path+"?version=1", "Accept: application/json")
	if !json.Valid(a.body) || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("as JSON: %s", a.body)
	}
	if a := s.do(t, http.MethodGet, path, "", "Accept: image/png"); a.status != 406 {
		t.Errorf("as a picture: %d", a.status)
	}
	if a := s.do(t, http.MethodGet, path+"?version=7", ""); a.status != 404 {
		t.Errorf("version 7: %d %s", a.status, a.body)
	}
	found := false
	for _, d := range s.get(t, "/api/v1/definitions?limit=500").json(t)["items"].([]any) {
		v := d.(map[string]any)
		found = found || v["id"] == s.own("cycle#") && v["published"] == true && v["version"] == 1.0
	}
	if !found {
		t.Error("it is in no list")
	}

	for _, d := range s.get(t, "/api/v1/definitions?limit=500&starts=true").json(t)["items"].([]any) {
		if v := d.(map[string]any); v["id"] == s.own("cycle#") && v["starts"] != nil {
			t.Errorf("nothing starts it: %v", v)
		}
	}

	s.post(t, path+"/execute", `{"instanceId": "cycle-1#"}`, 200)
	if a := s.do(t, http.MethodDelete, path, ""); a.status != 409 || a.code() != "definition-in-use" {
		t.Errorf("delete while one runs: %d %s", a.status, a.body)
	}
	if v := s.post(t, path+"/retract", ``, 200).json(t); v["published"] != false {
		t.Errorf("retracted: %v", v)
	}
	if a := s.do(t, http.MethodDelete, path+"?force=true", ""); a.status != 204 {
		t.Errorf("forced delete: %d %s", a.status, a.body)
	}
}

func TestClusterShowsItself(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	nodes := s.get(t, "/api/v1/nodes").json(t)["items"].([]any)
	polltest.Eventually(t, "a node that is alone is as right as its own clock", func() bool {
		return s.get(t, "/api/v1/nodes").json(t)["items"].([]any)[0].(map[string]any)["clockSkewSeconds"] == 0.0
	})
	if len(nodes) != 1 {
		t.Fatalf("nodes: %v", nodes)
	}
	n := nodes[0].(map[string]any)
	if n["nodeId"] != "node-1" || n["self"] != true || n["coordination"] != "distributed" || "http://"+n["address"].(string) != s.base {
		t.Errorf("node: %v", n)
	}
	for _, path := range []string{"/locks", "/locks?scope=instance", "/queue", "/timers", "/dead-letters", "/tasks", "/tasks?name=x"} {
		s.get(t, "/api/v1"+path)
	}
	if a := s.post(t, "/api/v1/nodes/nobody/drain", "", 404); a.code() != "node-not-found" {
		t.Errorf("drain of an unknown node: %s", a.body)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if a := s.get(t, path); a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, a.header)
		}
	}
	metrics := string(s.get(t, "/metrics").body)
	for _, want := range []string{"weft_node_info{", "weft_http_requests_total{", `etcd_server_has_leader{cluster="default"} 1`, "go_goroutines"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics does not have %s", want)
		}
	}
	if strings.Contains(metrics, "look:") {
		t.Error("/metrics has an instance id")
	}
}

func TestPauseStopsNewWork(t *testing.T) {
	t.Parallel()
	n := nodetest.Start(t, node.Config{})
	s := serverOf(t, n)
	s.publish(t, fmt.Sprintf(helloYAML, "hello"))
	if v := s.post(t, "/api/v1/pause", "", 200).json(t); v["paused"] != true {
		t.Errorf("pause: %v", v)
	}
	if a := s.post(t, "/api/v1/definitions/hello/execute", `{"input": {"name": "x"}}`, 503); a.code() != "paused" || a.header.Get("Retry-After") == "" {
		t.Errorf("execute while paused: %s", a.body)
	}
	s.get(t, "/readyz")
	s.post(t, "/api/v1/unpause", "", 200)
	s.post(t, "/api/v1/definitions/hello/execute", `{"input": {"name": "x"}}`, 200)
}
