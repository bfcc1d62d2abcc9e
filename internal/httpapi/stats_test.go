package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// counted reads a number of the answer, with + if there may be more.
func counted(v any) string {
	n := v.(map[string]any)
	if n["exact"] == true {
		return fmt.Sprint(n["count"])
	}
	return fmt.Sprint(n["count"], "+")
}

func TestStats(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{})
	if v := s.get(t, "/api/v1/stats").json(t); counted(v["instances"]) != "0" || len(v["items"].([]any)) != 0 || v["more"] != false || v["revision"] == 0.0 {
		t.Errorf("of nothing: %v", v)
	}
	for range 2 { // two versions
		s.publish(t, "id: waits\nroot:\n  - event: go\n")
		s.post(t, "/api/v1/definitions/waits/execute", `{}`, 200)
		s.publish(t, "id: waits\nroot:\n  - event: went\n")
		s.post(t, "/api/v1/definitions/waits/execute", `{}`, 200)
	}
	s.publish(t, "id: breaks\nroot:\n  - fault: broken\n")
	s.post(t, "/api/v1/definitions/breaks/execute", `{}`, 200)
	s.publish(t, "id: idle\nroot:\n  - writeLine: x\n")
	var v map[string]any
	polltest.Eventually(t, "all are counted", func() bool {
		v = s.get(t, "/api/v1/stats").json(t)
		return counted(v["instances"]) == "5"
	})
	by := v["bySubStatus"].(map[string]any)
	if counted(by["suspended"]) != "4" || counted(by["faulted"]) != "1" || counted(by["finished"]) != "0" {
		t.Errorf("%v", by)
	}
	items := v["items"].([]any)
	if len(items) != 2 || items[0].(map[string]any)["definitionId"] != "breaks" || counted(items[1].(map[string]any)["instances"]) != "4" || items[1].(map[string]any)["version"] != nil {
		t.Errorf("%v", items)
	}
	v = s.get(t, "/api/v1/stats?definitionId=waits").json(t)
	sum := 0.0
	for _, i := range v["items"].([]any) {
		i := i.(map[string]any)
		sum += i["instances"].(map[string]any)["count"].(float64)
		if i["definitionId"] != "waits" || i["version"] == nil {
			t.Errorf("%v", i)
		}
	}
	if counted(v["instances"]) != "4" || sum != 4 || len(v["items"].([]any)) < 2 {
		t.Errorf("%v", v)
	}
	v = s.get(t, "/api/v1/stats?by=version").json(t)
	versions := map[string]bool{}
	for _, i := range v["items"].([]any) {
		i := i.(map[string]any)
		versions[fmt.Sprint(i["definitionId"], " ", i["version"], " ", counted(i["instances"]))] = true
	}
	if counted(v["instances"]) != "5" || len(versions) != len(v["items"].([]any)) || !versions["breaks 1 1"] || len(versions) < 3 {
		t.Errorf("by version: %v", versions)
	}
	if v := s.get(t, "/api/v1/stats?by=total").json(t); counted(v["instances"]) != "5" || counted(v["bySubStatus"].(map[string]any)["faulted"]) != "1" || len(v["items"].([]any)) != 0 {
		t.Errorf("in all: %v", v)
	}
	if v := s.get(t, "/api/v1/stats?definitionId=none").json(t); counted(v["instances"]) != "0" || len(v["items"].([]any)) != 0 {
		t.Errorf("%v", v)
	}
	for _, query := range []string{"?definitionId=", "?definitionId=a%20b", "?definition=x", "?by=state"} {
		if a := s.do(t, http.MethodGet, "/api/v1/stats"+query, ""); a.status != 422 {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}

// Who asks often costs etcd nothing: what was counted is told again, with when that was.
func TestStatsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{})
	first := s.get(t, "/api/v1/stats").json(t)
	began := time.Now()
	for range 20 {
		if v := s.get(t, "/api/v1/stats").json(t); v["at"] != first["at"] && time.Since(began) < time.Second {
			t.Fatalf("counted again: %v and %v", first["at"], v["at"])
		}
	}
}
