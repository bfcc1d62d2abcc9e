package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/node"
)

// slowServer is a server whose requests wait until end is called, at the latest when
// the test is over; inside tells of each that has come.
func slowServer(t *testing.T) (url string, inside <-chan struct{}, end func()) {
	t.Helper()
	came, release := make(chan struct{}, 16), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-release
	}))
	t.Cleanup(slow.Close)
	end = sync.OnceFunc(func() { close(release) })
	t.Cleanup(end) // before the server's
	return slow.URL, came, end
}

// Overload sheds new work before work that exists: with two places, one may be
// a start.
func TestStartsAreShedFirst(t *testing.T) {
	t.Parallel()
	slow, inside, end := slowServer(t)
	s := ownServer(t, node.Config{MaxInFlight: 2, AllowPrivateAddresses: true})
	s.publish(t, "id: slow\nroot:\n  - sendHttpRequest: {url: \""+slow+"\"}\n  - writeLine: done\n")
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
	end()
	if a := <-first; a.status != 200 || !strings.Contains(string(a.body), `"status":"Finished"`) || a.header.Get("Preference-Applied") != "wait=30" {
		t.Errorf("the first start: %d %s", a.status, a.body)
	}
}

// Requests to an endpoint that answers late, which anybody may send, leave places
// for starts: of four places two may be starts, and one of these an endpoint's.
func TestSlowEndpointsLeavePlacesForStarts(t *testing.T) {
	t.Parallel()
	slow, inside, end := slowServer(t)
	s := ownServer(t, node.Config{MaxInFlight: 4, AllowPrivateAddresses: true})
	s.publish(t, "id: slow\nroot:\n  - httpEndpoint: {path: slow, supportedMethods: [POST]}\n    trigger: true\n  - sendHttpRequest: {url: \""+slow+"\"}\n  - writeHttpResponse: {content: late}\n")
	s.publish(t, "id: new\nroot:\n  - writeLine: new\n")
	answers := make(chan answer, 2)
	ask := func() { answers <- s.do(t, http.MethodPost, "/workflows/slow", "") }
	go ask()
	<-inside
	go ask()
	select {
	case a := <-answers:
		if a.code() != "busy" || a.status != 503 {
			t.Errorf("the second request to the endpoint: %d %s", a.status, a.body)
		}
	case <-inside:
		t.Error("requests to endpoints take all places for starts")
		defer func() { <-answers }()
	}
	if a := s.do(t, http.MethodPost, "/api/v1/definitions/new/execute", `{}`); a.status != 200 {
		t.Errorf("a start beside them: %d %s", a.status, a.body)
	}
	end()
	if a := <-answers; a.status != 200 || string(a.body) != "late" {
		t.Errorf("the first request: %d %s", a.status, a.body)
	}
}

// A flood of starts takes no place from what exists, nor the session.
func TestAFloodOfStartsLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	s := serverOf(t, nodetest.Start(t, node.Config{MaxInFlight: 4, DrainTimeout: 20 * time.Second}))
	s.publish(t, "id: new\nroot:\n  - writeLine: new\n")
	s.publish(t, "id: waits\nroot:\n  - event: go\n  - writeLine: went\n")
	waiting := testsize.Of(40, 10)
	for i := range waiting {
		s.post(t, "/api/v1/definitions/waits/execute", fmt.Sprintf(`{"correlationId": "c%d"}`, i), 200)
	}
	session := func() any {
		items := s.get(t, "/api/v1/nodes").json(t)["items"].([]any)
		return items[0].(map[string]any)["epoch"]
	}
	before := session()

	var taken, shed atomic.Int64
	var flood sync.WaitGroup
	ctx, dry := context.WithCancel(t.Context())
	defer dry()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	defer client.CloseIdleConnections()
	for range 32 {
		flood.Go(func() {
			for ctx.Err() == nil {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/api/v1/definitions/new/dispatch", strings.NewReader("{}"))
				if err != nil {
					return
				}
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				if err != nil {
					continue // the flood is over
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				switch {
				case resp.StatusCode == http.StatusAccepted:
					taken.Add(1)
				case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
					shed.Add(1)
				default:
					t.Errorf("a start: %d", resp.StatusCode)
				}
			}
		})
	}
	for i := range waiting {
		s.post(t, "/api/v1/events/go", fmt.Sprintf(`{"correlationId": "c%d"}`, i), 200)
		s.get(t, "/api/v1/instances?definitionId=waits&limit=1")
	}
	polltest.Eventually(t, "some are taken and some refused", func() bool { return taken.Load() > 0 && shed.Load() > 0 })
	dry()
	flood.Wait()
	if now := session(); now != before {
		t.Errorf("the session is %v, was %v", now, before)
	}
	if m := string(s.get(t, "/metrics").body); !strings.Contains(m, `weft_shed_total{cluster="default",reason="in_flight",wanted="start"} `) {
		t.Errorf("the metrics show no start that was shed: %s", m)
	}
	t.Logf("%d starts were taken, %d shed", taken.Load(), shed.Load())
}
