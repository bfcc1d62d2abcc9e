package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What is done to many is tried first, by ids and by filter, does nothing then, and tells why something refuses.
func TestMigrateByQuery(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("a.yaml", fmt.Sprintf(waiting, "bulk")))
	for i := range 3 {
		u.wants(0, "*", "run", "bulk", "--id", fmt.Sprintf("bulk-%d", i), "-i", "n=1")
	}
	u.wants(0, "*", "apply", u.file("b.yaml", fmt.Sprintf(waiting, "bulk")+"  - writeLine: more\n"))
	u.refuses(2, "say with --to", "instances", "migrate", "bulk-0")
	u.refuses(2, "give ids, or --query", "instances", "migrate", "--to", "2")
	if got := u.wants(0, "*", "instances", "migrate", "--query", "def:bulk", "--to", "2", "--dry-run"); !strings.HasPrefix(got.out, "would migrate 3 instances of ") {
		t.Errorf("by query: %+v", got)
	}
	if got := u.wants(0, "*", "instances", "migrate", "bulk-0", "--to", "2", "--dry-run"); !strings.Contains(got.out, "would: ") {
		t.Errorf("of one: %+v", got)
	}
	u.wants(0, "1\n", "instances", "get", "bulk-0", "--jq", ".definitionVersion // .version")
	u.wants(0, "bulk-0  migrated\n", "instances", "migrate", "bulk-0", "--to", "2")
	u.wants(0, "migrate  2 took it (waiting 2)\n", "instances", "migrate", "--query", "def:bulk version:1", "--to", "2", "--yes")
	u.wants(0, "cancel  3 took it (cancelled 3)\n", "instances", "cancel", "--query", "def:bulk", "--yes")
}

func TestTheQueueByFilter(t *testing.T) {
	t.Parallel()
	u := at(t)
	for range 3 {
		u.wants(0, "*", "events", "send", "bulk-event", "-d", "1")
	}
	u.refuses(2, "give ids, or a filter", "queue", "delete")
	u.refuses(2, "it must be a duration", "queue", "delete", "--older", "soon", "--yes")
	u.wants(0, "would delete 3 of 3 queue items, 0 would be refused\n", "queue", "delete", "--event", "bulk-event", "--dry-run")
	u.wants(0, "would delete 0 of 0 queue items, 0 would be refused\n", "queue", "delete", "--event", "bulk-event", "--older", "1h", "--dry-run")
	if got := u.weft("queue", "send", "--event", "bulk-event", "--instance", "nobody-1", "--dry-run"); got.code != 1 ||
		got.out != "would send 0 of 3 queue items, 3 would be refused (instance-not-found 3)\n" || strings.Count(got.err, "nobody-1") != 3 {
		t.Errorf("to an instance that is not there: %+v", got)
	}
	u.refuses(2, "say --yes", "queue", "delete", "--event", "bulk-event")
	ids := strings.Fields(u.wants(0, "*", "queue", "list", "--all", "--jq", `.items[] | select(.name == "bulk-event") | .id`).out)
	if len(ids) != 3 {
		t.Fatalf("there are %v", ids)
	}
	u.wants(0, "nothing waits for it: it would wait in the queue\n", "queue", "send", ids[0], "--name", "bulk-other", "--dry-run")
	if got := u.wants(0, "*", "queue", "send", ids[1], "--name", "bulk-other"); !strings.HasPrefix(got.out, "sent again  replay-") {
		t.Errorf("it may meet somebody yet: %s", got.out)
	}
	u.wants(0, ids[0]+"  would be deleted\n", "queue", "delete", ids[0], "--dry-run")
	u.wants(0, "send  2 done, 0 refused\n", "queue", "send", "--event", "bulk-event", "--name", "bulk-other", "--yes")
	u.wants(0, "delete  0 done, 0 refused\n", "queue", "delete", "--event", "bulk-event", "--yes")
	u.wants(0, "would replay 0 of 0 dead letters, 0 would be refused\n", "dead-letters", "replay", "--event", "bulk-none", "--dry-run")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	hook := `{"name": "cli-hook", "url": "https://hooks.example.com/x", "waiting": 3, "failed": 200, "paused": true, "next": {"attempts": 2, "last": "it answered 500"}}`
	asked := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := map[string]string{
			"GET /api/v1/webhooks": `{"items": [` + hook + `]}`, "GET /api/v1/webhooks/cli-hook": hook,
			"GET /api/v1/webhooks/cli-hook/failed":  `{"items": [{"id": "l1", "attempts": 30, "last": "it answered 500", "events": [{"id": "e1"}, {"id": "e2"}]}]}`,
			"POST /api/v1/webhooks/cli-hook/replay": `{"events": 200}`, "DELETE /api/v1/webhooks/cli-hook/failed": `{"events": 200}`, "DELETE /api/v1/webhooks/cli-hook": ``,
		}[r.Method+" "+r.URL.Path]
		asked[r.Method+" "+r.URL.Path] = answer
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
			answer = `{"code": "webhook-not-found", "status": 404, "detail": "there is no such webhook"}`
		case answer == "":
			w.WriteHeader(http.StatusNoContent)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	u := newUser(t, "WEFT_SERVER="+server.URL)
	u.wants(0, "cli-hook 3 true\n", "webhooks", "list", "--jq", `.items[] | "\(.name) \(.waiting) \(.paused)"`)
	if got := u.wants(0, "*", "webhooks", "list"); !strings.Contains(got.out, "cli-hook") || !strings.Contains(got.out, "WAITING") {
		t.Errorf("%s", got.out)
	}
	if got := u.wants(0, "*", "webhooks", "show", "cli-hook"); !strings.Contains(got.out, "hooks.example.com") {
		t.Errorf("%s", got.out)
	}
	if got := u.wants(0, "*", "webhooks", "failed", "cli-hook"); !strings.Contains(got.out, "30        it answered 500  2\n") {
		t.Errorf("%+v", got)
	}
	u.wants(0, "cli-hook  200 events tried again\n", "webhooks", "replay", "cli-hook")
	u.refuses(2, "say --yes", "webhooks", "forget", "cli-hook")
	u.wants(0, "cli-hook  200 events forgotten\n", "webhooks", "forget", "cli-hook", "--yes")
	u.wants(0, "cli-hook  deleted\n", "webhooks", "delete", "cli-hook", "--yes")
	if _, deleted := asked["DELETE /api/v1/webhooks/cli-hook"]; !deleted {
		t.Errorf("asked was %v", asked)
	}
}
