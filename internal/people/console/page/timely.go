package page

import (
	"net/http"
	"time"
)

const (
	// readTimeout is how long a browser may take to read a part of an answer, which is pagePart long at most: who reads a
	// large one over a slow line is not cut off.
	readTimeout = 30 * time.Second
	pagePart    = 1 << 20
	// longestPage is more than an answer may take that waits for an instance.
	longestPage = 6 * time.Minute
)

// timely ends the connection of a browser that does not read: else each page of it would keep a goroutine, and what the
// page has, for as long as it likes.
type timely struct {
	http.ResponseWriter

	patience time.Duration // for each part
	streams  bool          // the stream of events sets deadlines of its own
}

// within bounds what is written from now on.
func (t *timely) within(d time.Duration) {
	if !t.streams {
		_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(time.Now().Add(d)) // tests' writers have none
	}
}

func (t *timely) Write(p []byte) (n int, err error) {
	for {
		part := p[:min(len(p), pagePart)]
		t.within(t.patience)
		m, err := t.ResponseWriter.Write(part)
		n += m
		if p = p[len(part):]; err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (t *timely) Unwrap() http.ResponseWriter { return t.ResponseWriter }
