package chaos

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// outside is the server that activities call: what they do to it cannot be taken
// back. An instance makes one call, or one for each event that it may be resumed
// by; it is repeated with its key when the node that made it is lost. Only the
// first takes its time, unless all are to.
type outside struct {
	addr string

	mu    sync.Mutex
	keys  map[string][]string      // Idempotency-Keys of the calls, by instance; guarded by mu
	said  map[string][]string      // their bodies; guarded by mu
	holds map[string]chan struct{} // first calls that wait for this; guarded by mu
	came  map[string]chan struct{} // closed at the first call; guarded by mu
}

func newOutside(tb testing.TB, host string) *outside {
	tb.Helper()
	o := &outside{keys: map[string][]string{}, said: map[string][]string{}, holds: map[string]chan struct{}{}, came: map[string]chan struct{}{}}
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		tb.Fatal(err)
	}
	o.addr = l.Addr().String()
	s := &http.Server{Handler: o, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return o
}

// url is what an instance calls, and how long that takes the first time.
func (o *outside) url(id string, takes time.Duration) string {
	return fmt.Sprintf("http://%s/%s?takes=%d", o.addr, id, takes.Milliseconds())
}

func (o *outside) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.Path, "/")
	if by := r.URL.Query().Get("by"); by != "" {
		id += " by " + by
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was cut off on its way
	}
	o.mu.Lock()
	o.said[id] = append(o.said[id], string(body))
	o.keys[id] = append(o.keys[id], r.Header.Get("Idempotency-Key"))
	first := len(o.keys[id]) == 1
	hold := o.holds[id]
	if first && hold != nil {
		close(o.came[id])
	}
	o.mu.Unlock()
	if !first && r.URL.Query().Get("always") == "" {
		return
	}
	takes, _ := strconv.Atoi(r.URL.Query().Get("takes"))
	done := time.NewTimer(time.Duration(takes) * time.Millisecond)
	defer done.Stop()
	select {
	case <-done.C:
	case <-r.Context().Done():
	}
	if first && hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
}

// hold makes an instance's first call wait until release; came is closed when it
// is there.
func (o *outside) hold(id string) (came <-chan struct{}, release func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	hold, arrived := make(chan struct{}), make(chan struct{})
	o.holds[id], o.came[id] = hold, arrived
	return arrived, sync.OnceFunc(func() { close(hold) })
}

// check: all calls of one instance are one call to whoever goes by the key, and say the same.
func (o *outside) check(e *evidence) (repeated int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, keys := range o.keys {
		repeated += int64(len(keys) - 1)
		if slices.Contains(keys, "") || len(slices.Compact(slices.Clone(keys))) != 1 {
			e.record.violate("outside-keys", "%s called with the keys %q", id, keys)
		}
		if said := o.said[id]; said[0] == "" || len(slices.Compact(slices.Clone(said))) != 1 {
			e.record.violate("outside-bodies", "%s said %q with one key", id, said)
		}
	}
	return repeated
}
