package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// claimed claims tasks, and gives those that came.
func (s *server) claimed(t *testing.T, body string) (items []map[string]any) {
	t.Helper()
	var got struct{ Items []map[string]any }
	if err := json.Unmarshal(s.post(t, "/api/v1/tasks/claim", body, 200).body, &got); err != nil {
		t.Fatal(err)
	}
	return got.Items
}

// about is the path below which a claimed task is reported, and its claim as a member of a body.
func about(task map[string]any) (path, claim string) {
	return "/api/v1/tasks/" + task["taskId"].(string), `"claim": "` + task["claim"].(string) + `"`
}

// Each worker gets another task, with what it is for; what it says is shown; its result goes on; who is late is told by
// whom it was done.
func TestWorkersShareTasks(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: pack#\nroot:\n  - runTask: {taskName: 'pack#', payload: {order: \"${{ inputs.order }}\"}}\n"))
	for _, n := range []string{"1", "2"} {
		s.post(t, s.own("/api/v1/definitions/pack#/execute"), s.own(`{"instanceId": "p#`+n+`", "input": {"order": "no `+n+`"}}`), 200)
	}
	one := s.claimed(t, s.own(`{"names": ["pack#"], "worker": "one"}`))
	two := s.claimed(t, s.own(`{"names": ["other#", "pack#"], "worker": "two", "max": 5, "lease": "10m"}`))
	if len(one) != 1 || len(two) != 1 || one[0]["taskId"] == two[0]["taskId"] {
		t.Fatalf("%v and %v", one, two)
	}
	if one[0]["instanceId"] != s.own("p#1") || one[0]["payload"].(map[string]any)["order"] != "no 1" || one[0]["attempt"] != 1.0 || one[0]["definitionId"] != s.own("pack#") {
		t.Errorf("%v", one[0])
	}
	if none := s.claimed(t, s.own(`{"names": ["pack#"], "worker": "three"}`)); len(none) != 0 {
		t.Errorf("a third got %v", none)
	}

	path, claim := about(one[0])
	if a := s.post(t, path+"/heartbeat", `{`+claim+`, "progress": 40, "text": "wrapping"}`, 200).json(t); a["stop"] != false || a["leaseUntil"] == nil {
		t.Errorf("%v", a)
	}
	list := string(s.get(t, s.own("/api/v1/tasks?name=pack#")).body)
	for _, says := range []string{`"worker":"one"`, `"progress":40`, `"text":"wrapping"`, `"worker":"two"`, `"since":`, `"until":`} {
		if !strings.Contains(list, says) {
			t.Errorf("no %s in %s", says, list)
		}
	}
	s.post(t, path+"/complete", `{`+claim+`, "result": {"boxes": 2}}`, 200)
	if s.subStatus(t, s.own("p#1")) != "Finished" {
		t.Errorf("%v", s.subStatus(t, s.own("p#1")))
	}
	for _, what := range []string{"/complete", "/fail", "/release"} {
		if a := s.do(t, "POST", path+what, `{`+claim+map[string]string{"/fail": `, "message": "no"`}[what]+`}`); a.status != 404 || a.code() != "task-not-found" || !strings.Contains(string(a.body), "worker one completed it at ") {
			t.Errorf("%s again: %d %s", what, a.status, a.body)
		}
	}
	if a := s.post(t, path+"/heartbeat", `{`+claim+`}`, 200).json(t); a["stop"] != true || !strings.Contains(fmt.Sprint(a["reason"]), "worker one completed it at ") {
		t.Errorf("%v", a)
	}

	// An instance that is cancelled stops its worker.
	path, claim = about(two[0])
	s.post(t, s.own("/api/v1/instances/p#2/cancel"), `{}`, 200)
	if a := s.post(t, path+"/heartbeat", `{`+claim+`}`, 200).json(t); a["stop"] != true || !strings.Contains(fmt.Sprint(a["reason"]), "cancelled") {
		t.Errorf("%v", a)
	}
}

// What a worker gives back, or fails to be tried again, another gets, who is told so; a claim of before is refused
// everywhere, with who has the task.
func TestATaskComesBack(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: back#\nroot:\n  - runTask: 'back#'\n"))
	s.post(t, s.own("/api/v1/definitions/back#/execute"), s.own(`{"instanceId": "b#"}`), 200)
	ask := func(worker string) string {
		return s.own(`{"names": ["back#"], "worker": "` + worker + `", "wait": "20s"}`)
	}
	path, first := about(s.claimed(t, ask("one"))[0])
	s.post(t, path+"/release", `{`+first+`}`, 200)
	two := s.claimed(t, ask("two"))[0]
	_, second := about(two)
	if two["attempt"] != 1.0 {
		t.Errorf("what was given back counts: %v", two)
	}
	for what, more := range map[string]string{"/complete": `, "result": 1`, "/fail": `, "message": "no"`, "/release": "", "/heartbeat": ""} {
		if a := s.do(t, "POST", path+what, `{`+first+more+`}`); a.status != 409 || a.code() != "task-claim-lost" || !strings.Contains(string(a.body), "worker two has it since ") {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	if a := s.post(t, path+"/fail", `{`+second+`, "kind": "paper", "message": "jam", "retry": true}`, 200).json(t); a["free"] != true {
		t.Errorf("%v", a)
	}
	if a := s.do(t, "POST", path+"/complete", `{`+second+`}`); a.status != 409 || !strings.Contains(string(a.body), "the task is free") {
		t.Errorf("%d %s", a.status, a.body)
	}
	three := s.claimed(t, ask("three"))[0]
	if three["attempt"] != 2.0 {
		t.Errorf("%v", three)
	}
	_, third := about(three)
	if a := s.post(t, path+"/fail", `{`+third+`, "kind": "paper", "message": "none left"}`, 200).json(t); a["free"] != false {
		t.Errorf("%v", a)
	}
	if in := string(s.get(t, s.own("/api/v1/instances/b#")).body); !strings.Contains(in, "paper: none left") {
		t.Errorf("%s", in)
	}
}

// The retry of a task's activity counts what its workers fail and leave, with its pauses between; after the last attempt
// the incident has what the worker said.
func TestTheRetryOfATaskDecides(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: tries#\nroot:\n  - runTask: 'tries#'\n    retry: {attempts: 3, delay: 50ms}\n"))
	s.post(t, s.own("/api/v1/definitions/tries#/execute"), s.own(`{"instanceId": "t#"}`), 200)
	ask := func(worker, lease string) map[string]any {
		t.Helper()
		got := s.claimed(t, s.own(`{"names": ["tries#"], "wait": "60s", "worker": "`+worker+`", "lease": "`+lease+`"}`))
		if len(got) != 1 || got[0]["retried"] != true {
			t.Fatalf("%s got %v", worker, got)
		}
		return got[0]
	}
	one := ask("one", "1s")
	two := ask("two", "10m") // when the lease has ended, and the pause
	if one["attempt"] != 1.0 || two["attempt"] != 2.0 || one["taskId"] == two["taskId"] {
		t.Errorf("%v, then %v", one, two)
	}
	path, claim := about(one)
	for what, more := range map[string]string{"/complete": `, "result": 1`, "/fail": `, "message": "no"`, "/release": ""} {
		if a := s.do(t, "POST", path+what, `{`+claim+more+`}`); a.status != 404 || !strings.Contains(string(a.body), "the lease of worker one ended, at ") {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	path, claim = about(two)
	if a := s.post(t, path+"/fail", `{`+claim+`, "kind": "paper", "message": "jam", "retry": true}`, 200).json(t); a["free"] != false {
		t.Errorf("%v", a)
	}
	three := ask("three", "10m")
	if list := string(s.get(t, s.own("/api/v1/tasks?name=tries#")).body); three["attempt"] != 3.0 || !strings.Contains(list, `"attempts":3`) {
		t.Errorf("%v in %s", three, list)
	}
	path, claim = about(three)
	s.post(t, path+"/fail", `{`+claim+`, "kind": "paper", "message": "none left", "retry": true}`, 200)
	if in := string(s.get(t, s.own("/api/v1/instances/t#")).body); !strings.Contains(in, "paper: none left (attempt 3 of 3; it was the last one)") {
		t.Errorf("%s", in)
	}
}

// A task that nobody claims in time, and one that is not done in time, fail with what happened; a retry makes others of them.
func TestATaskIsLate(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: late#\nroot:\n  - runTask: {taskName: 'late#', claimWithin: 100ms}\n"))
	s.publish(t, s.own("id: slow#\nroot:\n  - runTask: {taskName: 'slow#', doneWithin: 1s}\n    retry: {attempts: 2, delay: 50ms}\n"))
	s.post(t, s.own("/api/v1/definitions/slow#/execute"), s.own(`{"instanceId": "s#"}`), 200)
	var path, claim string
	for _, worker := range []string{"one", "two"} {
		path, claim = about(s.claimed(t, s.own(`{"names": ["slow#"], "wait": "60s", "lease": "10m", "worker": "`+worker+`"}`))[0])
	}
	polltest.Eventually(t, "both were late", func() bool { return s.subStatus(t, s.own("s#")) == "Faulted" })
	if in := string(s.get(t, s.own("/api/v1/instances/s#")).body); !strings.Contains(in, "overdue: it was not done within 1s of its first claim; worker two had it since") || !strings.Contains(in, "(attempt 2 of 2; it was the last one)") {
		t.Errorf("%s", in)
	}
	if a := s.post(t, path+"/heartbeat", `{`+claim+`}`, 200).json(t); a["stop"] != true || !strings.Contains(fmt.Sprint(a["reason"]), "the time for the task ended while worker two had it") {
		t.Errorf("%v", a)
	}
	s.post(t, s.own("/api/v1/definitions/late#/execute"), s.own(`{"instanceId": "l#"}`), 200)
	polltest.Eventually(t, "nobody claimed it", func() bool { return s.subStatus(t, s.own("l#")) == "Faulted" })
	if in := string(s.get(t, s.own("/api/v1/instances/l#")).body); !strings.Contains(in, "unclaimed: no worker claimed it within 100ms") {
		t.Errorf("%s", in)
	}
	if none := s.claimed(t, s.own(`{"names": ["late#"], "worker": "late"}`)); len(none) != 0 {
		t.Errorf("%v", none)
	}
}

// A worker that waits is woken by the task that comes, and one whose lease has ended leaves it to the next.
func TestAWorkerWaits(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: waits#\nroot:\n  - runTask: 'waits#'\n"))
	got := make(chan []map[string]any)
	go func() {
		got <- s.claimed(t, s.own(`{"names": ["waits#"], "worker": "one", "wait": "60s", "lease": "1s"}`))
	}()
	s.post(t, s.own("/api/v1/definitions/waits#/execute"), s.own(`{"instanceId": "w#"}`), 200)
	one := <-got
	if len(one) != 1 {
		t.Fatalf("%v", one)
	}
	two := s.claimed(t, s.own(`{"names": ["waits#"], "worker": "two", "wait": "60s"}`))
	if len(two) != 1 || two[0]["taskId"] != one[0]["taskId"] || two[0]["attempt"] != 2.0 {
		t.Fatalf("%v", two)
	}
	path, _ := about(two[0])
	s.post(t, path+"/complete", `{"result": 1}`, 200) // without a claim it counts whoever has it
	polltest.Eventually(t, "it has ended", func() bool { return s.subStatus(t, s.own("w#")) == "Finished" })
}

// What a worker may ask for has bounds, and what is outside of them is told with its place.
func TestWhatWorkersMayAskFor(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ body, at, says string }{
		{`{"worker": "w"}`, "/names", "name 1 to 20 tasks"},
		{`{"names": [], "worker": "w"}`, "/names", "name 1 to 20"},
		{`{"names": ["a"` + strings.Repeat(`, "a"`, 20) + `], "worker": "w"}`, "/names", "has 21"},
		{`{"names": ["a", ""], "worker": "w"}`, "/names/1", "empty"},
		{`{"names": ["` + long + `"], "worker": "w"}`, "/names/0", "up to 256 bytes"},
		{`{"names": ["a"]}`, "/worker", "worker is required"},
		{`{"names": ["a"], "worker": "` + long + `"}`, "/worker", "up to 256 bytes"},
		{`{"names": ["a"], "worker": "w", "max": 0}`, "/max", "1 to 100"},
		{`{"names": ["a"], "worker": "w", "max": 101}`, "/max", "1 to 100"},
		{`{"names": ["a"], "worker": "w", "lease": "8760h"}`, "/lease", "1s to 24h"},
		{`{"names": ["a"], "worker": "w", "lease": "0.5s"}`, "/lease", "1s to 24h"},
		{`{"names": ["a"], "worker": "w", "lease": "-1s"}`, "/lease", "1s to 24h"},
		{`{"names": ["a"], "worker": "w", "lease": "a year"}`, "/lease", "no duration"},
		{`{"names": ["a"], "worker": "w", "wait": "61s"}`, "/wait", "1m"},
		{`{"names": ["a"], "worker": "w", "wait": "-1s"}`, "/wait", "from 0s"},
		{`{"names": ["a"], "worker": "w", "leese": "1m"}`, "/leese", "there are: lease, max"},
	} {
		if a := s.do(t, "POST", "/api/v1/tasks/claim", c.body); a.status != 422 || !strings.Contains(string(a.body), `"pointer":"`+c.at+`"`) || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%.80s: %d %s", c.body, a.status, a.body)
		}
	}
	for _, c := range []struct{ what, body, at, says string }{
		{"heartbeat", `{}`, "/claim", "claim is required"},
		{"fail", `{}`, "/claim", "claim is required"},
		{"release", `{}`, "/claim", "claim is required"},
		{"heartbeat", `{"claim": "x"}`, "/claim", "send that as it is"},
		{"complete", `{"claim": "x"}`, "/claim", "send that as it is"},
		{"heartbeat", `{"claim": "` + strings.Repeat("A", 5000) + `"}`, "/claim", "send that as it is"},
		{"heartbeat", `{` + none + `, "progress": 101}`, "/progress", "0 to 100"},
		{"heartbeat", `{` + none + `, "progress": -1}`, "/progress", "0 to 100"},
		{"heartbeat", `{` + none + `, "text": "` + strings.Repeat("x", 1025) + `"}`, "/text", "up to 1024"},
		{"fail", `{` + none + `}`, "/message", "message is required"},
		{"fail", `{` + none + `, "message": "m", "kind": "` + long + `"}`, "/kind", "up to 256"},
	} {
		if a := s.do(t, "POST", "/api/v1/tasks/i~1/"+c.what, c.body); a.status != 422 || !strings.Contains(string(a.body), `"pointer":"`+c.at+`"`) || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s %.80s: %d %s", c.what, c.body, a.status, a.body)
		}
	}
	for _, what := range []string{"complete", "fail", "release"} {
		if a := s.do(t, "POST", "/api/v1/tasks/i~1/"+what, `{`+none+map[string]string{"fail": `, "message": "m"`}[what]+`}`); a.status != 404 || a.code() != "task-not-found" {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	s.post(t, "/api/v1/tasks/i~1/complete", `{"result": "`+strings.Repeat("x", 2<<20)+`"}`, 413)
}

// What a worker says of a task that it does not have, or says too much of, changes nothing, and tells what is wrong; the
// task is still its worker's.
func TestWhatIsNotTakenLeavesTheTask(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, s.own("id: keeps#\nvariables: {r: object}\nroot:\n  - runTask: 'keeps#'\n    result: r\n"))
	for _, n := range []string{"1", "2"} {
		s.post(t, s.own("/api/v1/definitions/keeps#/execute"), s.own(`{"instanceId": "k#`+n+`"}`), 200)
	}
	both := s.claimed(t, s.own(`{"names": ["keeps#"], "worker": "one", "max": 2, "lease": "10m", "wait": "20s"}`))
	if len(both) != 2 {
		t.Fatalf("%v", both)
	}
	first, claim := about(both[0])
	second, _ := about(both[1])
	for what, more := range map[string]string{"/complete": `, "result": 1`, "/fail": `, "message": "no", "retry": true`, "/release": "", "/heartbeat": `, "text": "mine"`} {
		a := s.do(t, "POST", second+what, `{`+claim+more+`}`)
		if a.status != 422 || !strings.Contains(string(a.body), `"pointer":"/claim"`) || !strings.Contains(string(a.body), "is of task "+both[0]["taskId"].(string)+", and not of "+both[1]["taskId"].(string)) {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	if a := s.do(t, "POST", first+"/complete", `{`+claim+`, "result": "`+strings.Repeat("x", 2<<20)+`"}`); a.status != 413 || !strings.Contains(string(a.body), "the body has more than") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if list := string(s.get(t, s.own("/api/v1/tasks?name=keeps#")).body); strings.Count(list, `"worker":"one"`) != 2 || strings.Contains(list, "mine") {
		t.Errorf("%s", list)
	}
	s.post(t, first+"/complete", `{`+claim+`, "result": 1}`, 200)
}

// none is a claim that no task has: {"i":"x","n":"a","c":1,"r":1,"u":1,"w":"w"}.
const none = `"claim": "eyJpIjoieCIsIm4iOiJhIiwiYyI6MSwiciI6MSwidSI6MSwidyI6IncifQ"`
