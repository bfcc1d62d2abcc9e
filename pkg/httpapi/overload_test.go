package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/node"
)

// Overload sheds new work before work that exists: with two places, one may be
// a start.
func TestStartsAreShedFirst(t *testing.T) {
	t.Parallel()
	inside, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-release
	}))
	t.Cleanup(slow.Close)
	n, err := node.New(t.Context(), node.Config{
		HTTPAddr: "127.0.0.1:0", DataDir: t.TempDir(), MaxInFlight: 2, AllowPrivateAddresses: true, DrainTimeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := serverOf(t, n)
	s.publish(t, "id: slow\nroot:\n  - sendHttpRequest: {url: \""+slow.URL+"\"}\n  - writeLine: done\n")
	first := make(chan answer, 1)
	go func() { // waits for the end, and so keeps its place
		first <- s.do(t, http.MethodPost, "/api/v1/definitions/slow/execute", `{"instanceId": "slow"}`, "Prefer: wait=30")
	}()
	<-inside
	a := s.post(t, "/api/v1/definitions/slow/execute", `{}`, 503)
	if a.code() != "busy" || a.header.Get("Retry-After") != "1" {
		t.Errorf("a second start: %s", a.body)
	}
	s.get(t, "/api/v1/nodes")
	close(release)
	if a := <-first; a.status != 200 || !strings.Contains(string(a.body), `"status":"Finished"`) || a.header.Get("Preference-Applied") != "wait=30" {
		t.Errorf("the first start: %d %s", a.status, a.body)
	}
}
