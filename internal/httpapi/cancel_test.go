package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/workflow"
)

// A request that hangs ends as its instance is cancelled, which the journal and the answer say.
func TestACancelEndsARequestThatHangs(t *testing.T) {
	t.Parallel()
	came, gone := make(chan string, 1), make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came <- r.Header.Get("Idempotency-Key")
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(hangs.Close)
	s := ownServer(t, node.Config{AllowPrivateAddresses: true, ReplyWait: time.Second})
	s.publish(t, "id: hangs\nroot:\n  - sendHttpRequest: {url: \""+hangs.URL+"\", method: POST, timeout: 10m}\n    id: call\n")
	s.post(t, "/api/v1/definitions/hangs/dispatch", `{"instanceId": "h"}`, 202)
	key := <-came
	if x := s.explanation(t, "h"); x.state != "running" || !strings.Contains(x.summary, "call (Elsa.SendHttpRequest)") {
		t.Errorf("%+v", x)
	}
	a := s.do(t, http.MethodPost, "/api/v1/instances/h/cancel", "")
	<-gone
	if in := a.json(t); a.status == 200 && (in["interrupted"] != "call" || in["subStatus"] != "Cancelled") || a.status != 200 && a.status != 202 {
		t.Errorf("%d %s", a.status, a.body)
	}
	polltest.Eventually(t, "it is cancelled", func() bool {
		return s.get(t, "/api/v1/instances/h").json(t)["subStatus"] == "Cancelled"
	})
	if journal := string(s.get(t, "/api/v1/instances/h/journal").body); !strings.Contains(journal, `"Interrupted"`) || key == "" {
		t.Errorf("key %q, %s", key, journal)
	}
}

// A cancel that has to wait says for what, and whether that was told to end.
func TestACancelSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		noEffect bool
		want     string
	}{
		"it may wait for the outside": {false, "was told, and has not returned yet"},
		"it has no effect outside":    {true, "is not interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came, letGo := make(chan struct{}), make(chan struct{})
			let := sync.OnceFunc(func() { close(letGo) })
			s := ownServer(t, node.Config{
				ReplyWait: 10 * time.Millisecond,
				Activities: func(r *engine.Registry) error {
					return engine.RegisterFunc(r, workflow.Descriptor{Type: "acme.Stubborn", NoEffect: c.noEffect}, func(context.Context, *engine.Execution, struct{}) (struct{}, error) {
						close(came)
						<-letGo // whatever its context says
						return struct{}{}, nil
					})
				},
			})
			t.Cleanup(let)
			s.publish(t, "id: stubborn\nroot:\n  - acme.Stubborn:\n    id: slow\n  - event: never\n")
			s.post(t, "/api/v1/definitions/stubborn/dispatch", `{"instanceId": "s"}`, 202)
			<-came
			in := s.post(t, "/api/v1/instances/s/cancel", "", 202).json(t)
			if text, _ := in["notYet"].(string); !strings.Contains(text, "activity slow (acme.Stubborn)") || !strings.Contains(text, c.want) {
				t.Errorf("%v", in["notYet"])
			}
			let()
			polltest.Eventually(t, "it is cancelled", func() bool {
				return s.get(t, "/api/v1/instances/s").json(t)["subStatus"] == "Cancelled"
			})
		})
	}
}

// A cancel of an instance that has done what can be undone is taken, and the instance is cancelled when that is undone.
// The picture shows what was, and a retry of one that failed asks.
func TestACancelUndoesFirst(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: saga#\nroot:\n  - writeLine: pay\n    undo: [{event: back#}, {writeLine: refund}]\n  - event: go#\n  - fault: no stock\n")
	s.post(t, "/api/v1/definitions/saga#/execute", `{"instanceId": "saga-1#"}`, 200)
	for range 2 { // a second one changes nothing
		in := s.post(t, "/api/v1/instances/saga-1#/cancel", "", 202).json(t)
		if in["subStatus"] != "Suspended" || in["notYet"] != "what it did is undone first" {
			t.Errorf("%v", in)
		}
	}
	if x := s.explanation(t, s.own("saga-1#")); !strings.Contains(x.summary, "what it did is undone, as it is to be cancelled; now: writeLine1") {
		t.Errorf("%s", x.summary)
	}
	s.post(t, "/api/v1/events/back#", `{}`, 200)
	polltest.Eventually(t, "it is cancelled", func() bool { return s.get(t, "/api/v1/instances/saga-1#").json(t)["subStatus"] == "Cancelled" })
	if got := string(s.get(t, "/api/v1/instances/saga-1#/graph?format=text").body); !strings.Contains(got, "↶ writeLine pay") || !strings.Contains(got, "✓ writeLine refund") {
		t.Errorf("%s", got)
	}

	s.post(t, "/api/v1/definitions/saga#/execute", `{"instanceId": "saga-2#"}`, 200)
	s.post(t, "/api/v1/events/go#", `{}`, 200)
	s.post(t, "/api/v1/events/back#", `{}`, 200)
	polltest.Eventually(t, "it has failed", func() bool { return s.get(t, "/api/v1/instances/saga-2#").json(t)["subStatus"] == "Faulted" })
	a := s.post(t, "/api/v1/instances/saga-2#/retry", "", 409)
	if p := a.json(t); p["code"] != "instance-undone" || !strings.Contains(p["detail"].(string), "what it did was undone (writeLine1)") {
		t.Errorf("%v", p)
	}
	s.post(t, "/api/v1/instances/saga-2#/alterations", `{"alterations": [{"type": "retry", "again": true}]}`, 200)
	if in := s.get(t, "/api/v1/instances/saga-2#").json(t); in["subStatus"] != "Suspended" {
		t.Errorf("%v", in)
	}
}
