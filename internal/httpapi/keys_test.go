package httpapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// TestEveryChangeTakesAKey asks all that changes something twice with one Idempotency-Key: the answer is that of the
// first time, white space makes no other request, and another body is refused.
func TestEveryChangeTakesAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crm-key"), []byte("a-secret-that-signs"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ownServer(t, node.Config{NodeID: "node-1", SecretsDir: dir, Definitions: t.TempDir()})
	things := s.things(t)
	s.publish(t, "id: fails\nroot:\n  - fault: no\n")
	s.post(t, "/api/v1/definitions/fails/execute", `{"instanceId": "failed"}`, 200)
	s.post(t, "/api/v1/definitions/walked/execute", `{"instanceId": "ends"}`, 200)
	s.post(t, "/api/v1/definitions/walked/execute", `{"instanceId": "goes"}`, 200)
	for _, id := range []string{"alters", "again", "dispatched", "submitted"} {
		s.post(t, "/api/v1/definitions/fails/execute", `{"instanceId": "`+id+`"}`, 200)
	}
	s.publish(t, "id: gone\nroot:\n  - writeLine: a\n")
	s.publish(t, "id: gone\nroot:\n  - writeLine: b\n")
	s.publish(t, "id: gone\nroot:\n  - writeLine: c\n")
	due := s.get(t, "/api/v1/timers").json(t)["items"].([]any)[0].(map[string]any)["dueAt"].(string)
	hook := `{"url": "https://crm.example.com/weft", "on": ["faulted"], "secrets": ["crm-key"]}`
	s.publish(t, "id: worked\nroot:\n  - runTask: keyed\n")
	for range 3 {
		s.post(t, "/api/v1/definitions/worked/execute", `{}`, 200)
	}
	worked := s.post(t, "/api/v1/tasks/claim", `{"names": ["keyed"], "max": 3, "worker": "w"}`, 200).json(t)["items"].([]any)
	claimed := func(i int, what, more string) []string {
		task := worked[i].(map[string]any)
		return []string{"/tasks/" + task["taskId"].(string) + "/" + what, `{` + more + `"claim": "` + task["claim"].(string) + `"}`}
	}
	s.publish(t, "id: asked\nroot:\n  - userTask: {title: keyed, enableCancellationOutcome: true}\n")
	asked := func(what, body string) []string {
		s.post(t, "/api/v1/definitions/asked/execute", `{}`, 200)
		tasks := s.get(t, "/api/v1/user-tasks").json(t)["items"].([]any)
		path := "/user-tasks/" + tasks[len(tasks)-1].(map[string]any)["taskId"].(string)
		if what == "release" || what == "delegate" {
			s.post(t, "/api/v1"+path+"/claim", `{}`, 200)
		}
		return []string{path + "/" + what, body}
	}
	of := map[string][]string{ // path below /api/v1 and body
		"executeDefinition":   {"/definitions/walked/execute", `{"correlationId": "x"}`},
		"dispatchDefinition":  {"/definitions/walked/dispatch", `{"correlationId": "x"}`},
		"publishDefinition":   {"/definitions", `{"id": "made", "root": {"type": "Elsa.WriteLine", "id": "w", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "a"}}}}`},
		"publishVersion":      {"/definitions/gone/publish", `{"version": 1}`},
		"retractDefinition":   {"/definitions/gone/retract", `{}`},
		"deleteVersion":       {"/definitions/gone/versions/2", ""},
		"deleteDefinition":    {"/definitions/gone", ""},
		"refreshDefinitions":  {"/definitions/refresh", `{"definitionIds": ["walked"]}`},
		"reloadDefinitions":   {"/definitions/reload", `{}`},
		"fireSchedule":        {"/definitions/every/schedules/yearly/fire", `{}`},
		"skipSchedule":        {"/definitions/every/schedules/yearly/skip", `{"dueAt": "` + due + `"}`},
		"cancelInstance":      {"/instances/ends/cancel", `{}`},
		"deleteInstance":      {"/instances/ends", ""},
		"retryInstance":       {"/instances/failed/retry", `{"reason": "x"}`},
		"retryInstances":      {"/instances/retry", `{"definitionId": "fails"}`},
		"alterInstance":       {"/instances/goes/alterations", `{"alterations": [{"type": "cancel"}], "reason": "x"}`},
		"runAlterations":      {"/alterations/run", `{"workflowInstanceIds": ["alters"], "alterations": [{"type": "Cancel"}]}`},
		"retryWorkflows":      {"/alterations/workflows/retry", `{"workflowInstanceIds": ["again"]}`},
		"dispatchAlterations": {"/alterations/dispatch", `{"workflowInstanceIds": ["dispatched"], "alterations": [{"type": "CancelActivity", "activityId": "nothing"}]}`},
		"submitAlterations":   {"/alterations/submit", `{"filter": {"workflowInstanceIds": ["submitted"]}, "alterations": [{"type": "CancelActivity", "activityId": "nothing"}]}`},
		"importState":         {"/instances/failed/state", string(s.get(t, "/api/v1/instances/failed/state").body)},
		"sendEvent":           {"/events/go", `{"correlationId": "c"}`},
		"sendStimulus":        {"/stimuli", `{"activityType": "Elsa.Event", "stimulus": {"eventName": "nobody"}}`},
		"completeTask":        {"/tasks/" + things["/tasks/{id}"] + "/complete", `{"result": 1}`},
		"claimTasks":          {"/tasks/claim", `{"names": ["none"], "worker": "w"}`},
		"heartbeatTask":       claimed(0, "heartbeat", `"progress": 5, `),
		"failTask":            claimed(1, "fail", `"message": "no", `),
		"releaseTask":         claimed(2, "release", ""),
		"claimUserTask":       asked("claim", `{}`),
		"releaseUserTask":     asked("release", `{}`),
		"completeUserTask":    asked("complete", `{"outcome": "Complete"}`),
		"assignUserTask":      asked("assign", `{"to": "key:anna"}`),
		"delegateUserTask":    asked("delegate", `{"to": "key:anna"}`),
		"commentUserTask":     asked("comment", `{"text": "why?"}`),
		"cancelUserTask":      asked("cancel", `{"reason": "no need"}`),
		"createJob":           {"/jobs", `{"kind": "cancel", "q": "def:none"}`},
		"cancelJob":           {"/jobs/" + things["/jobs/{id}"] + "/cancel", `{}`},
		"deleteJob":           {"/jobs/" + things["/jobs/{id}"], ""},
		"sendQueueItem":       {"/queue/" + things["/queue/{id}"] + "/send", `{"name": "other"}`},
		"deleteQueueItem":     {"", ""}, // below
		"sendQueueItems":      {"/queue/send", `{"name": "none"}`},
		"deleteQueueItems":    {"/queue/delete", `{"name": "none"}`},
		"replayDeadLetters":   {"/dead-letters/replay", `{"name": "none"}`},
		"deleteDeadLetters":   {"/dead-letters/delete", `{"name": "none"}`},
		"putWebhook":          {"/webhooks/crm", hook},
		"replayWebhook":       {"/webhooks/crm/replay", `{}`},
		"forgetFailedEvents":  {"/webhooks/crm/failed", ""},
		"deleteWebhook":       {"/webhooks/crm", ""},
		"putLimit":            {"/limits/cards", `{"most": 2}`},
		"deleteLimit":         {"/limits/cards", ""},
		"pause":               {"/pause", `{}`},
		"unpause":             {"/unpause", `{}`},
		"drainNode":           {"", ""}, // it needs no record
		"resumeBookmark":      {"", ""}, // TestReceipts has them
		"replayDeadLetter":    {"", ""},
		"deleteDeadLetter":    {"", ""},
	}
	order := []string{ // what needs what another one takes away comes first
		"executeDefinition", "dispatchDefinition", "publishDefinition", "refreshDefinitions", "reloadDefinitions", "sendEvent", "sendStimulus", "completeTask", "claimTasks", "heartbeatTask", "failTask", "releaseTask", "claimUserTask", "releaseUserTask", "completeUserTask", "assignUserTask", "delegateUserTask", "commentUserTask", "cancelUserTask", "createJob",
		"sendQueueItem", "sendQueueItems", "deleteQueueItems", "replayDeadLetters", "deleteDeadLetters", "retryInstances", "retryInstance", "runAlterations", "retryWorkflows", "dispatchAlterations", "submitAlterations", "importState", "alterInstance", "cancelInstance", "deleteInstance",
		"cancelJob", "deleteJob", "fireSchedule", "skipSchedule", "publishVersion", "deleteVersion", "retractDefinition", "deleteDefinition", "putWebhook", "replayWebhook", "forgetFailedEvents", "deleteWebhook", "putLimit", "deleteLimit", "pause", "unpause",
	}
	methods := map[string]string{}
	for route, op := range s.routeDocs(t) {
		method, path, _ := strings.Cut(route, " ")
		keyed := false
		for _, p := range op.Parameters {
			keyed = keyed || p.Name == "Idempotency-Key"
		}
		looks := strings.HasPrefix(path, "/api/v1/definitions/") && !strings.Contains(path, "{") && of[op.ID] == nil // check, edit, suggest, test
		if method != http.MethodGet && !keyed && !looks && !strings.HasPrefix(path, "/links/") && !strings.HasPrefix(path, "/workflows/") {
			t.Errorf("%s %s takes no Idempotency-Key", method, path)
		}
		if keyed && of[op.ID] == nil {
			t.Errorf("%s (%s %s) is not tried", op.ID, method, path)
		}
		methods[op.ID] = method
	}
	moving := map[string]bool{"executeDefinition": true, "retryInstance": true, "alterInstance": true, "createJob": true, "cancelInstance": true} // they show what is there, which goes on
	for _, id := range order {
		method, path, body := methods[id], "/api/v1"+of[id][0], of[id][1]
		key := "Idempotency-Key: every-" + id
		typ := "Content-Type: application/json"
		if body == "" {
			typ = "X-None: 1"
		}
		first := s.do(t, method, path, body, key, typ)
		if first.status >= 300 {
			t.Errorf("%s: %d %s", id, first.status, first.body)
			continue
		}
		second := s.do(t, method, path, strings.ReplaceAll(body, `: `, " :\n\t"), key, typ)
		if second.status != first.status || !moving[id] && string(second.body) != string(first.body) || second.header.Get("Location") != first.header.Get("Location") {
			t.Errorf("%s again: %d %s, and was %d %s", id, second.status, second.body, first.status, first.body)
		}
		if at := strings.LastIndex(body, `"}`); at > 0 {
			if other := s.do(t, method, path, body[:at]+"x"+body[at:], key, typ); other.status != 422 || other.code() != "idempotency-key-reused" {
				t.Errorf("%s with another body: %d %s", id, other.status, other.body)
			}
		}
		if r := s.receipt(t, "every-"+id); r["open"] == true && r["job"] == nil && len(r["effects"].([]any)) == 0 || r["request"] != method+" "+path {
			t.Errorf("the receipt of %s: %v", id, r)
		}
	}
}

// A request that was refused leaves its key free.
func TestARefusedRequestLeavesItsKey(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.post(t, "/api/v1/definitions/refused#/retract", `{}`, 404, "Idempotency-Key: refused-#")
	s.publish(t, "id: refused#\nroot:\n  - writeLine: a\n")
	s.post(t, "/api/v1/definitions/refused#/retract", `{}`, 200, "Idempotency-Key: refused-#")
	s.publish(t, "id: refused#\nroot:\n  - writeLine: b\n")
	s.post(t, "/api/v1/definitions/refused#/retract", `{}`, 200, "Idempotency-Key: refused-#") // it was done, and is not done again
	polltest.Eventually(t, "it is published", func() bool {
		return strings.Contains(string(s.get(t, "/api/v1/definitions/refused#/versions").body), `"published":true`)
	})
	// A dry run takes nothing.
	s.post(t, "/api/v1/queue/delete?dryRun=true", `{"name": "none#"}`, 200, "Idempotency-Key: dry-#")
	if a := s.do(t, http.MethodGet, "/api/v1/receipts/dry-#", ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
