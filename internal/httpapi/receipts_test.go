package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// receipt is what became of the one request with a key.
func (s *server) receipt(t *testing.T, key string, headers ...string) map[string]any {
	t.Helper()
	all := s.get(t, "/api/v1/receipts/"+key, headers...).json(t)["receipts"].([]any)
	if len(all) != 1 {
		t.Fatalf("%d receipts of %s: %v", len(all), key, all)
	}
	return all[0].(map[string]any)
}

// fates are its effects in words: state, instance, and whether it has a commit.
func fates(r map[string]any) string {
	var said []string
	for _, e := range r["effects"].([]any) {
		e := e.(map[string]any)
		text := fmt.Sprintf("%v %v", e["state"], e["instanceId"])
		if c, ok := e["commit"].(map[string]any); ok {
			text += fmt.Sprintf(" %v", c["sequence"])
		}
		said = append(said, text)
	}
	return strings.Join(said, ", ")
}

// TestReceipts sends each kind of request that takes a key, and follows it to its commit.
func TestReceipts(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: asks#\nroot:\n  - event: asked#\n  - event: again#\n")
	s.publish(t, "id: works#\nroot:\n  - runTask: pack#\n")
	s.publish(t, "id: breaks#\nroot:\n  - fault: broken\n")
	s.publish(t, "id: serves#\nroot:\n  - httpEndpoint: {path: \"serves#\", supportedMethods: [POST]}\n    trigger: true\n  - writeHttpResponse: {statusCode: 201, content: made}\n")
	execute := func(def, id, correlation string) {
		t.Helper()
		s.post(t, "/api/v1/definitions/"+def+"/execute", `{"instanceId": "`+id+`", "correlationId": "`+correlation+`"}`, 200)
	}
	for _, id := range []string{"e1#", "e2#", "e3#", "b1#"} {
		execute("asks#", id, "c"+id)
	}
	execute("asks#", "m1#", "many#")
	execute("asks#", "m2#", "many#")
	execute("works#", "w1#", "")
	execute("breaks#", "f1#", "")
	task := s.get(t, "/api/v1/tasks?name="+s.own("pack#")).json(t)["items"].([]any)[0].(map[string]any)["taskId"].(string)
	bookmark := s.get(t, "/api/v1/instances/b1#").json(t)["bookmarks"].([]any)[0].(map[string]any)["bookmarkId"].(string)
	for i, tc := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/api/v1/definitions/asks#/execute", `{"instanceId": "x#"}`, 200, "applied x# 1"},
		{"/api/v1/definitions/asks#/execute", `{"instanceId": "e1#"}`, 409, "refused e1# 2"},
		{"/api/v1/definitions/asks#/dispatch", `{"instanceId": "d#"}`, 202, "applied d# 1"},
		{"/api/v1/events/asked#", `{"correlationId": "ce1#"}`, 200, "applied e1# 3"},
		{"/api/v1/events/asked#", `{"correlationId": "many#"}`, 200, "applied m1# 2, applied m2# 2"},
		{"/api/v1/events/nobody#", `{"correlationId": "c"}`, 202, "queued <nil>"},
		{"/api/v1/stimuli", `{"activityType": "Elsa.Event", "stimulus": {"eventName": "asked#"}, "instanceId": "e2#"}`, 200, "applied e2# 2"},
		{"/api/v1/bookmarks/" + bookmark + "/resume", `{"input": {"payload": 1}}`, 200, "applied b1# 2"},
		{"/api/v1/tasks/" + task + "/complete", `{"result": 1}`, 200, "applied w1# 2"},
		{"/api/v1/instances/f1#/retry", `{}`, 200, "applied f1# 2"},
		{"/api/v1/instances/e3#/alterations", `{"alterations": [{"type": "cancel"}]}`, 200, "applied e3# 2"},
		{"/workflows/serves#", `{}`, 201, "applied "},
	} {
		key := fmt.Sprintf("receipt-%d-#", i)
		s.post(t, tc.path, tc.body, tc.status, "Idempotency-Key: "+key)
		r := s.receipt(t, key)
		polltest.Eventually(t, tc.path+" is over", func() bool { r = s.receipt(t, key); return !strings.Contains(fates(r), "mailbox") })
		want := s.own(tc.want)
		if got := fates(r); got != want && !(strings.HasSuffix(want, " ") && strings.HasPrefix(got, want)) {
			t.Errorf("%s: %q, want %q", tc.path, got, want)
		}
		if r["request"] != s.own("POST "+tc.path) || r["caller"] != nil || r["open"] != strings.HasPrefix(tc.want, "queued") {
			t.Errorf("%s: %v", tc.path, r)
		}
		at, err := time.Parse(time.RFC3339Nano, r["at"].(string))
		kept, err2 := time.Parse(time.RFC3339Nano, r["keptUntil"].(string))
		if err != nil || err2 != nil || time.Since(at) > time.Hour || kept.Sub(at) < 23*time.Hour {
			t.Errorf("%s: at %v, kept until %v", tc.path, r["at"], r["keptUntil"])
		}
		s.holdsCommit(t, r)
	}
	if r := s.receipt(t, "receipt-11-#"); r["responseStatus"] != 201.0 {
		t.Errorf("%v", r)
	}
	// What met nothing meets something later.
	s.publish(t, "id: late#\nroot:\n  - event: nobody#\n")
	s.post(t, "/api/v1/definitions/late#/execute", `{"instanceId": "late#", "correlationId": "c"}`, 200)
	polltest.Eventually(t, "the queued event is applied", func() bool { return fates(s.receipt(t, "receipt-5-#")) == s.own("applied late# 2") })
	s.holdsCommit(t, s.receipt(t, "receipt-5-#"))
}

// holdsCommit looks whether the journal says what a receipt says.
func (s *server) holdsCommit(t *testing.T, r map[string]any) {
	t.Helper()
	for _, e := range r["effects"].([]any) {
		e := e.(map[string]any)
		if c, ok := e["commit"].(map[string]any); ok {
			seq := int(c["sequence"].(float64))
			commits := s.get(t, fmt.Sprintf("/api/v1/instances/%s/journal?after=%d&limit=1", e["instanceId"], seq-1)).json(t)["commits"].([]any)
			if got := commits[0].(map[string]any); got["node"] != c["nodeId"] || got["fence"] != c["fence"] || !strings.Contains(fmt.Sprint(got["commands"]), e["commandId"].(string)) {
				t.Errorf("%v: the journal has %v", e, got)
			}
		}
	}
}

func TestReceiptOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for path, code := range map[string]string{
		"never-#": "receipt-not-found", "a%20b%2Fc%3F": "receipt-not-found", strings.Repeat("k", 255): "receipt-not-found",
		strings.Repeat("k", 256): "invalid-request", "%C3%A9": "invalid-request", "%00": "invalid-request", "never-#?more=1": "invalid-request",
	} {
		if a := s.do(t, http.MethodGet, "/api/v1/receipts/"+path, ""); a.code() != code {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.body, code)
		}
	}
}

// One key of several routes has a receipt for each.
func TestReceiptsOfOneKey(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for i := range 12 {
		s.post(t, fmt.Sprintf("/api/v1/events/many-receipts-#-%d", i), `{}`, 202, "Idempotency-Key: many /?%-#")
	}
	all := s.get(t, "/api/v1/receipts/many%20%2F%3F%25-#").json(t)
	if len(all["receipts"].([]any)) != 10 || all["more"] != true || all["key"] != s.own("many /?%-#") {
		t.Errorf("%v", all)
	}
}

// A receipt leads to the mailbox, to a dead letter, and on to what became of that.
func TestReceiptsOfWhatWaits(t *testing.T) {
	t.Parallel()
	slow, inside, end := slowServer(t)
	s := ownServer(t, node.Config{QueueTTL: time.Second, ReplyWait: time.Second, AllowPrivateAddresses: true})
	s.publish(t, "id: slow\nroot:\n  - parallel:\n      - event: go\n      - - event: call\n        - sendHttpRequest: {url: \""+slow+"\"}\n")
	s.post(t, "/api/v1/definitions/slow/execute", `{"instanceId": "s", "correlationId": "c"}`, 200)
	called := make(chan answer, 1)
	go func() { called <- s.do(t, http.MethodPost, "/api/v1/events/call", `{}`) }()
	<-inside
	s.post(t, "/api/v1/events/go", `{"correlationId": "c"}`, 202, "Idempotency-Key: waits")
	if r := s.receipt(t, "waits"); fates(r) != "mailbox s" || r["open"] != true {
		t.Errorf("%v", r)
	}
	end()
	<-called
	polltest.Eventually(t, "it is applied", func() bool { return strings.HasPrefix(fates(s.receipt(t, "waits")), "applied s ") })

	s.post(t, "/api/v1/events/lost", `{}`, 202, "Idempotency-Key: lost")
	polltest.Eventually(t, "it is a dead letter", func() bool { return fates(s.receipt(t, "lost")) == "dead-letter <nil>" })
	letter := s.receipt(t, "lost")["effects"].([]any)[0].(map[string]any)["deadLetter"].(string)
	s.get(t, "/api/v1/dead-letters/"+letter)
	s.publish(t, "id: found\nroot:\n  - event: lost\n    trigger: true\n")
	s.post(t, "/api/v1/dead-letters/"+letter+"/replay", `{}`, 202, "Idempotency-Key: replay")
	polltest.Eventually(t, "the replay is applied", func() bool { return strings.HasPrefix(fates(s.receipt(t, "replay")), "applied ") })
	s.holdsCommit(t, s.receipt(t, "replay"))
	if a := s.post(t, "/api/v1/dead-letters/"+letter+"/replay", `{}`, 202, "Idempotency-Key: replay"); !strings.Contains(string(a.body), `"queued":"replay-`) {
		t.Errorf("the repeat of the replay: %s", a.body)
	}
	if r := s.receipt(t, "lost"); fates(r) != "dead-letter <nil>" || r["open"] != false || r["effects"].([]any)[0].(map[string]any)["deadLetterGone"] != true {
		t.Errorf("%v", r)
	}
}

// A viewer is not told who sent a request; secrets and links in it are hidden as everywhere.
func TestReceiptsByRole(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	if a := g.do(t, "POST", "/api/v1/events/role", `{}`, g.keys[auth.Operator], "Idempotency-Key: role"); a.status != 202 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := g.do(t, "GET", "/api/v1/receipts/role", "", g.keys[auth.Operator]); a.status != 200 || !strings.Contains(string(a.body), `"caller":"key:operator"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := g.do(t, "GET", "/api/v1/receipts/role", "", g.keys[auth.Viewer]); a.status != 200 || !strings.Contains(string(a.body), `"caller":null`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := g.do(t, "GET", "/api/v1/receipts/role", ""); a.status != 401 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
