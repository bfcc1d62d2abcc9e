package e2e

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// outside is a server that activities call. Each path counts for itself: the
// first calls of a path can be held back.
type outside struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string][]string      // Idempotency-Keys by path, in order; guarded by mu
	holds map[string]chan struct{} // the first call of a path waits for this; guarded by mu
	came  chan struct{}            // replaced at each call; guarded by mu
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{calls: map[string][]string{}, holds: map[string]chan struct{}{}, came: make(chan struct{})}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(func() {
		o.mu.Lock()
		for path, hold := range o.holds {
			close(hold)
			delete(o.holds, path)
		}
		o.mu.Unlock()
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

func (o *outside) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	first := len(o.calls[r.URL.Path]) == 0
	o.calls[r.URL.Path] = append(o.calls[r.URL.Path], r.Header.Get("Idempotency-Key"))
	hold := o.holds[r.URL.Path]
	close(o.came)
	o.came = make(chan struct{})
	o.mu.Unlock()
	if first && hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
}

// hold makes the first call of a path wait until it is released.
func (o *outside) hold(path string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds[path] = make(chan struct{})
	return o.URL + path
}

// release lets the first call of a path go on.
func (o *outside) release(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if hold, ok := o.holds[path]; ok {
		close(hold)
		delete(o.holds, path)
	}
}

// keys are the Idempotency-Keys of the calls to a path.
func (o *outside) keys(path string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.calls[path]...)
}

// wait waits until a path was called n times.
func (o *outside) wait(t *testing.T, path string, n int) {
	t.Helper()
	over := time.After(patience)
	for {
		o.mu.Lock()
		got, came := len(o.calls[path]), o.came
		o.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-came:
		case <-over:
			t.Fatalf("%s was called %d times within %v, want %d", path, got, patience, n)
		}
	}
}
