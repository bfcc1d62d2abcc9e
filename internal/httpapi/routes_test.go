package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

const helloYAML = `
id: %s
inputs:
  name: {type: string}
outputs:
  greeting: ${{ "Hello, " + inputs.name }}
root:
  - writeLine: Hello, ${{ inputs.name }}
`

const waitingYAML = `
id: %s
variables:
  got: {type: object}
root:
  - event: %s
    result: got
  - writeLine: got ${{ variables.got.what }}
`

func TestPublishExecuteAndLook(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	a := s.do(t, http.MethodPost, "/api/v1/definitions", fmt.Sprintf(helloYAML, "look-hello#"), "Content-Type: application/yaml")
	if a.status != http.StatusCreated || a.header.Get("Location") != s.own("/api/v1/definitions/look-hello#") {
		t.Fatalf("publish: %d %s %s", a.status, a.header.Get("Location"), a.body)
	}
	if v := a.json(t); v["id"] != s.own("look-hello#") || v["version"] != 1.0 || v["published"] != true {
		t.Errorf("published: %v", v)
	}
	// The same content again, as curl sends it by default, is no new version.
	a = s.do(t, http.MethodPost, "/api/v1/definitions", fmt.Sprintf(helloYAML, "look-hello#"), "Content-Type: application/x-www-form-urlencoded")
	if a.status != http.StatusOK || a.json(t)["version"] != 1.0 {
		t.Errorf("published again: %d %s", a.status, a.body)
	}

	a = s.post(t, "/api/v1/definitions/look-hello#/execute", `{"input": {"name": "Ada"}, "instanceId": "look:1#", "name": "first", "correlationId": "c/1 ü"}`, 200)
	in := a.json(t)
	for field, want := range map[string]any{
		"instanceId": s.own("look:1#"), "definitionId": s.own("look-hello#"), "version": 1.0, "status": "Finished", "subStatus": "Finished",
		"name": "first", "correlationId": "c/1 ü", "parentInstanceId": nil,
	} {
		if in[field] != want {
			t.Errorf("%s is %v, want %v", field, in[field], want)
		}
	}
	if got := in["output"].(map[string]any)["greeting"]; got != "Hello, Ada" {
		t.Errorf("greeting is %v", got)
	}
	if in["finishedAt"] == nil || len(in["incidents"].([]any)) != 0 || len(in["bookmarks"].([]any)) != 0 {
		t.Errorf("instance: %v", in)
	}

	if got := s.get(t, "/api/v1/instances/look:1#").json(t); fmt.Sprint(got) != fmt.Sprint(in) {
		t.Errorf("read again it is\n%v\nnot\n%v", got, in)
	}
	lines := 0
	for _, item := range s.get(t, "/api/v1/instances/look:1#/journal").json(t)["items"].([]any) {
		if j := item.(map[string]any); j["event"] == "WriteLine" {
			lines++
			if j["text"] != "Hello, Ada" || j["activityType"] != "Elsa.WriteLine" || j["burst"] == "" {
				t.Errorf("journal item: %v", j)
			}
		}
	}
	if lines != 1 {
		t.Errorf("%d lines in the journal", lines)
	}
	list := s.get(t, "/api/v1/instances?definitionId=look-hello#&status=Finished&subStatus=Finished").json(t)
	if items := list["items"].([]any); len(items) != 1 || list["nextCursor"] != nil {
		t.Errorf("list: %v", list)
	}
}

func TestInstancesAreFoundByWhatTheyHave(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	const child = "id: found#\ninputs: {customer: string}\nlabels:\n  team: team#\n  customer: ${{ inputs.customer }}\nroot:\n  - event: never#\n  - writeLine: %s\n"
	s.publish(t, fmt.Sprintf(child, "one"))
	s.publish(t, "id: found-parent#\nroot:\n  - executeWorkflow: {workflowDefinitionId: found#, input: {customer: acme & sons}}\n")
	s.post(t, "/api/v1/definitions/found#/execute", `{"instanceId": "found-1#", "input": {"customer": "other"}}`, 200)
	s.publish(t, fmt.Sprintf(child, "two"))
	in := s.post(t, "/api/v1/definitions/found#/execute", `{"instanceId": "found-2#", "input": {"customer": "acme & sons"}}`, 200).json(t)
	if got := fmt.Sprint(in["labels"]); got != s.own("map[customer:acme & sons team:team#]") {
		t.Errorf("labels %s", got)
	}
	parent := s.post(t, "/api/v1/definitions/found-parent#/execute", `{"instanceId": "found-0#"}`, 200).json(t)
	if got := fmt.Sprint(parent["labels"]); got != "map[]" {
		t.Errorf("labels of one without: %s", got)
	}
	kid := ""
	polltest.Eventually(t, "the child waits", func() bool {
		items := s.get(t, "/api/v1/instances?parent=found-0#&subStatus=Suspended").json(t)["items"].([]any)
		for _, item := range items {
			kid = item.(map[string]any)["instanceId"].(string)
		}
		return len(items) == 1
	})
	for query, want := range map[string][]string{
		"definitionId=found#": {kid, "found-2#", "found-1#"}, "definitionId=found#&version=1": {"found-1#"}, "definitionId=found#&version=2": {kid, "found-2#"}, "definitionId=found#&version=3": nil,
		"parent=found-0#": {kid}, "parent=found-1#": nil,
		"label.team=team#": {kid, "found-2#", "found-1#"}, "label.team=team#&label.customer=acme+%26+sons": {kid, "found-2#"}, "label.team=team#&label.customer=nobody": nil,
		"label.team=team#&definitionId=found#&version=1": {"found-1#"}, "label.team=team#&subStatus=Faulted": nil, "label.team=team#&limit=1": {kid},
	} {
		var got []string
		for _, item := range s.get(t, "/api/v1/instances?"+query).json(t)["items"].([]any) {
			got = append(got, item.(map[string]any)["instanceId"].(string))
		}
		for i := range want {
			want[i] = s.own(want[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func TestStartsHaveOneEffectPerKey(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(helloYAML, "key-hello#"))
	const path = "/api/v1/definitions/key-hello#/execute"
	body := `{"input": {"name": "Ada"}}`
	first := s.post(t, path, body, 200, "Idempotency-Key: k1#").json(t)
	again := s.post(t, path, body, 200, "Idempotency-Key: k1#").json(t)
	if first["instanceId"] != again["instanceId"] || fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("the same key gave\n%v\nand then\n%v", first, again)
	}
	if a := s.post(t, path, `{"input": {"name": "Grace"}}`, 422, "Idempotency-Key: k1#"); a.code() != "idempotency-key-reused" {
		t.Errorf("another body: %s", a.body)
	}
	other := s.post(t, path, body, 200, "Idempotency-Key: k2#").json(t)
	if other["instanceId"] == first["instanceId"] {
		t.Error("another key gave the same instance")
	}
	// The scope is the route: the same key elsewhere is another one.
	d := s.post(t, "/api/v1/definitions/key-hello#/dispatch", body, 202, "Idempotency-Key: k1#")
	if d.json(t)["instanceId"] == first["instanceId"] {
		t.Error("the same key on another route gave the same instance")
	}
	if loc := d.header.Get("Location"); loc != "/api/v1/instances/"+d.json(t)["instanceId"].(string) {
		t.Errorf("Location is %q", loc)
	}
	if a := s.post(t, path, `{"instanceId": "`+first["instanceId"].(string)+`", "input": {"name": "x"}}`, 409); a.code() != "instance-exists" {
		t.Errorf("an id that is taken: %s", a.body)
	}
}

func TestEventsReachTheirCorrelation(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(waitingYAML, "event-wait#", "event/with a slash #"))
	const event = "/api/v1/events/event%2Fwith%20a%20slash%20#"
	in := s.post(t, "/api/v1/definitions/event-wait#/execute", `{"correlationId": "c1", "instanceId": "event-1#"}`, 200).json(t)
	marks := in["bookmarks"].([]any)
	if in["subStatus"] != "Suspended" || len(marks) != 1 {
		t.Fatalf("it does not wait: %v", in)
	}
	mark := marks[0].(map[string]any)
	if mark["activityType"] != "Elsa.Event" || mark["name"] != s.own("event/with a slash #") || mark["activityId"] == "" {
		t.Errorf("bookmark: %v", mark)
	}
	// Another correlation waits for somebody else.
	a := s.post(t, event, `{"correlationId": "c2", "payload": {"what": "no"}}`, 202)
	if a.json(t)["queued"] == "" || a.header.Get("Location") == "" {
		t.Errorf("queued: %s", a.body)
	}
	if n := len(s.get(t, "/api/v1/queue").json(t)["items"].([]any)); n == 0 {
		t.Error("the queue is empty")
	}
	a = s.post(t, event, `{"correlationId": "c1", "payload": {"what": "yes"}}`, 200)
	o := a.json(t)["outcomes"].([]any)
	if len(o) != 1 || o[0].(map[string]any)["instanceId"] != s.own("event-1#") || o[0].(map[string]any)["outcome"] != "resumed" {
		t.Errorf("outcomes: %v", o)
	}
	if got := s.get(t, "/api/v1/instances/event-1#", "Prefer: wait=10").json(t)["status"]; got != "Finished" {
		t.Errorf("it is %v", got)
	}
	// Addressed ones do not wait for what cannot come.
	if a := s.post(t, event, `{"instanceId": "event-1#"}`, 409); a.code() != "instance-finished" {
		t.Errorf("finished: %s", a.body)
	}
	if a := s.post(t, event, `{"instanceId": "nobody"}`, 404); a.code() != "instance-not-found" {
		t.Errorf("unknown: %s", a.body)
	}
}

func TestBookmarksAreResumedById(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(waitingYAML, "mark-wait#", "mark#"))
	in := s.post(t, "/api/v1/definitions/mark-wait#/execute", `{}`, 200).json(t)
	id := in["bookmarks"].([]any)[0].(map[string]any)["bookmarkId"].(string)
	a := s.post(t, "/api/v1/bookmarks/"+id+"/resume", `{"input": {"payload": {"what": "it"}}}`, 200)
	if o := a.json(t)["outcomes"].([]any); len(o) != 1 || o[0].(map[string]any)["outcome"] != "resumed" {
		t.Errorf("outcomes: %v", o)
	}
	a = s.do(t, http.MethodPost, "/api/v1/bookmarks/"+id+"/resume", "")
	if a.status != 404 && a.status != 409 {
		t.Errorf("a burned bookmark: %d %s", a.status, a.body)
	}
	if a := s.post(t, "/api/v1/bookmarks/no-such/resume", `{}`, 404); a.code() != "bookmark-not-found" {
		t.Errorf("no bookmark: %s", a.body)
	}
}

func TestCancelDeleteExportImport(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(waitingYAML, "life-wait#", "life#"))
	s.post(t, "/api/v1/definitions/life-wait#/execute", `{"instanceId": "life-1#"}`, 200)

	exported := s.get(t, "/api/v1/instances/life-1#/state")
	tag := exported.header.Get("ETag")
	if tag != fmt.Sprintf("%q", fmt.Sprint(exported.json(t)["sequence"])) {
		t.Errorf("ETag is %s, sequence %v", tag, exported.json(t)["sequence"])
	}
	a := s.do(t, http.MethodPut, "/api/v1/instances/life-1#/state", string(exported.body), "If-Match: \"999\"")
	if a.status != 412 || a.code() != "instance-moved" {
		t.Errorf("another ETag: %d %s", a.status, a.body)
	}
	if now := s.get(t, "/api/v1/instances/life-1#/state").header.Get("ETag"); now != tag {
		t.Errorf("the refused import moved the ETag from %s to %s", tag, now)
	}
	a = s.do(t, http.MethodPut, "/api/v1/instances/life-1#/state", string(exported.body), "If-Match: "+tag)
	if a.status != 200 || a.header.Get("ETag") == "" {
		t.Errorf("import: %d %s", a.status, a.body)
	}
	a = s.do(t, http.MethodPut, "/api/v1/instances/life-2#/state", string(exported.body))
	if a.status != 422 {
		t.Errorf("import of another instance's state: %d %s", a.status, a.body)
	}

	with := func(labels string) string {
		return strings.Replace(string(exported.body), `"version":1`, `"version":1,"labels":`+labels, 1)
	}
	a = s.do(t, http.MethodPut, "/api/v1/instances/life-1#/state", with(`{"a/b": "x"}`))
	if a.status != 422 || !strings.Contains(string(a.body), "label") {
		t.Errorf("import of a label that is none: %d %s", a.status, a.body)
	}
	a = s.do(t, http.MethodPut, "/api/v1/instances/life-1#/state", with(`{"life": "1#"}`))
	if items := s.get(t, "/api/v1/instances?label.life=1#").json(t)["items"].([]any); a.status != 200 || len(items) != 1 {
		t.Errorf("import of a label: %d %s, found %v", a.status, a.body, items)
	}

	in := s.post(t, "/api/v1/instances/life-1#/cancel", "", 200).json(t)
	if in["status"] != "Finished" || in["subStatus"] != "Cancelled" {
		t.Errorf("cancelled it is %v/%v", in["status"], in["subStatus"])
	}
	if a := s.do(t, http.MethodDelete, "/api/v1/instances/life-1#", ""); a.status != 204 {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/instances/life-1#", ""); a.status != 404 || a.code() != "instance-not-found" {
		t.Errorf("deleted it is there: %d %s", a.status, a.body)
	}
	if items := s.get(t, "/api/v1/instances?label.life=1#").json(t)["items"].([]any); len(items) != 0 {
		t.Errorf("deleted it is listed: %v", items)
	}
}

func TestDeleteVersion(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for i := range 4 {
		s.publish(t, fmt.Sprintf(waitingYAML, "version-waits#", "version-go#")+fmt.Sprintf("  - writeLine: v%d\n", i+1))
		if i == 1 {
			s.post(t, "/api/v1/definitions/version-waits#/execute", `{"instanceId": "version-i#"}`, 200)
		}
	}
	const path = "/api/v1/definitions/version-waits#/versions/"
	for _, c := range []struct {
		version string
		status  int
		says    string
	}{
		{"1", 204, ""},
		{"1", 404, "has no version 1"},
		{"2", 409, s.own("instance version-i#")},
		{"4", 409, "published"},
		{"5", 404, "has no version 5"},
		{"0", 422, "from 1"},
		{"-1", 422, "from 1"},
		{"9999999999999999999999", 422, "from 1"},
		{"x", 422, "from 1"},
	} {
		a := s.do(t, http.MethodDelete, path+c.version, "")
		if a.status != c.status || !strings.Contains(string(a.body), c.says) {
			t.Errorf("version %s: %d %s, want %d and %q", c.version, a.status, a.body, c.status, c.says)
		}
	}
	if a := s.do(t, http.MethodGet, "/api/v1/definitions/version-waits#?version=1", ""); a.status != 404 {
		t.Errorf("its source: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodPost, "/api/v1/definitions/version-waits#/execute", `{"version": 1}`); a.status != 404 {
		t.Errorf("a start of it: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodDelete, "/api/v1/definitions/none#/versions/1", ""); a.status != 404 {
		t.Errorf("of no definition: %d %s", a.status, a.body)
	}
	s.post(t, "/api/v1/definitions/version-waits#/retract", "{}", 200)
	if a := s.do(t, http.MethodDelete, path+"4", ""); a.status != 409 || !strings.Contains(string(a.body), "latest") {
		t.Errorf("the latest: %d %s", a.status, a.body)
	}
}
