package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Who reads the journal sees which commit did what, where, and what the variables
// were then.
func TestTheJournalTellsRoundsCommitsAndVariables(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: rounds#
variables:
  n: {type: number, default: 0}
  long: string
root:
  - for: {end: 1}
    id: loop
    body:
      - event: tick#
        id: tick
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
        id: add
  - setVariable: {variable: long, value: "`+strings.Repeat("l", 300)+`"}
`)
	s.post(t, "/api/v1/definitions/rounds#/execute", `{"instanceId": "rounds#"}`, 200)
	for range 2 {
		s.post(t, "/api/v1/events/tick#", `{}`, 200)
	}
	page := s.get(t, "/api/v1/instances/rounds#/journal").json(t)
	commits, items := page["commits"].([]any), page["items"].([]any)
	if len(commits) != 3 || page["nextCursor"] != nil {
		t.Fatalf("%d commits: %v", len(commits), page)
	}
	ticks, adds := map[any]bool{}, map[any]any{}
	for i, it := range items {
		j := it.(map[string]any)
		if j["sequence"] != float64(i+1) {
			t.Errorf("item %d is %v", i+1, j)
		}
		switch j["activityId"] {
		case "tick":
			ticks[j["execution"]] = true
		case "add":
			adds[j["commit"]] = j["execution"]
		}
	}
	if len(ticks) != 2 || len(adds) != 2 || adds[2.0] == adds[3.0] {
		t.Errorf("executions of the event %v, of the variable %v in %v", ticks, adds, items)
	}
	for i, it := range commits {
		c := it.(map[string]any)
		began, err := time.Parse(time.RFC3339Nano, fmt.Sprint(c["began"]))
		ended, err2 := time.Parse(time.RFC3339Nano, fmt.Sprint(c["ended"]))
		if c["commit"] != float64(i+1) || c["node"] != "node-1" || c["id"] == "" || len(c["commands"].([]any)) != 1 || err != nil || err2 != nil || ended.Before(began) {
			t.Errorf("commit %d is %v", i+1, c)
		}
		if fence := c["fence"].(float64); i > 0 && fence <= commits[i-1].(map[string]any)["fence"].(float64) {
			t.Errorf("the fence of commit %d is %v", i+1, fence)
		}
		said := map[any]map[string]any{}
		for _, v := range c["variables"].([]any) {
			if v := v.(map[string]any); v["execution"] == 0.0 {
				said[v["name"]] = v
			}
		}
		if n := said["n"]; n == nil || n["value"] != float64(i) || i > 0 && n["by"] != adds[c["commit"]] {
			t.Errorf("commit %d says of n %v", i+1, n)
		}
		if closed := c["closed"].([]any); i > 0 && len(closed) != 1 {
			t.Errorf("commit %d closes the scopes %v, not that of one round", i+1, closed)
		}
		if long := said["long"]; i == 2 && (long == nil || long["clipped"] != true || len(fmt.Sprint(long["value"])) > 260) {
			t.Errorf("commit %d says of the long text %v", i+1, long)
		}
	}
	if next := s.get(t, "/api/v1/instances/rounds#/journal?limit=2").json(t); len(next["commits"].([]any)) != 2 || next["nextCursor"] == nil {
		t.Errorf("a page of two commits: %v", next)
	}
}
