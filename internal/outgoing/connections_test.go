package outgoing

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// As many calls to one service as a definition runs at a time find the connections of the
// calls before.
func TestManyCallsToOneHostKeepTheirConnections(t *testing.T) {
	t.Parallel()
	const calls = 200
	var opened atomic.Int64
	var entered sync.WaitGroup
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered.Done()
		entered.Wait() // all are under way at the same time
		_, _ = io.WriteString(w, "done")
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	client := NewClient(true)
	defer client.CloseIdleConnections()
	for range 3 {
		entered.Add(calls)
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				resp, err := client.Get(srv.URL)
				if err != nil {
					t.Error(err)
					entered.Done()
					return
				}
				defer resp.Body.Close()
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := opened.Load(); n != calls {
		t.Errorf("%d connections for %d calls at a time", n, calls)
	}
}
