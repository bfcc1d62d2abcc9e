package page

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A browser that asks for a page and does not read it is cut off, however large the page is; one that reads slowly gets it
// all, and a stream is left alone.
func TestWhoDoesNotReadAPageIsCutOff(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	part := make([]byte, 1<<20)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &timely{ResponseWriter: w, patience: 300 * time.Millisecond, streams: r.URL.Path == "/stream"}
		out.within(longestPage)
		var err error
		for range 64 {
			if _, err = out.Write(part); err != nil {
				break
			}
		}
		ended <- err
	}))
	t.Cleanup(s.Close) // after the connections
	ask := func(path string) net.Conn {
		t.Helper()
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		return c
	}
	ask("/page")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("64 MiB went to nobody")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("who does not read is waited for")
	}
	c := ask("/stream")
	select {
	case err := <-ended:
		t.Errorf("a stream is cut off by the page's time: %v", err)
	case <-time.After(time.Second): // more than its time
	}
	c.Close()
	if err := <-ended; err == nil {
		t.Error("64 MiB went to nobody")
	}
}

// The time to read is for a part of a page: who reads a large one over a slow line is not cut off.
func TestALargePageHasTheTimeToReadForEachPart(t *testing.T) {
	t.Parallel()
	w := &timed{ResponseWriter: httptest.NewRecorder()}
	out := &timely{ResponseWriter: w, patience: time.Minute}
	for _, size := range []int{3<<20 + 5, 0, 1} {
		if n, err := out.Write(make([]byte, size)); n != size || err != nil {
			t.Errorf("%d of %d bytes: %v", n, size, err)
		}
	}
	if w.bytes != 3<<20+6 || w.longest > 1<<20 || w.late > 0 || w.writes != 6 {
		t.Errorf("%+v", w)
	}
}

// timed notes what is written with which time.
type timed struct {
	http.ResponseWriter

	writes, bytes, longest, late int // late: without a time of its own
	ready                        bool
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.ready = time.Until(at) > 0
	return nil
}

func (w *timed) Write(p []byte) (int, error) {
	w.writes++
	if w.bytes, w.longest = w.bytes+len(p), max(w.longest, len(p)); !w.ready {
		w.late++
	}
	w.ready = false
	return len(p), nil
}
