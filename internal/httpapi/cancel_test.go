package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
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
