package loadbalancer_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A stream comes through line by line, for longer than its node may be silent, and ends
// when the node is.
func TestStreamsComeThrough(t *testing.T) {
	t.Parallel()
	each(t, testStream)
}

func testStream(t *testing.T, k kind) {
	t.Parallel()
	const silence = 2 * time.Second
	k.instead = map[string]string{"45s": "2s"}
	lines, over := make(chan string), make(chan struct{})
	defer close(over)
	stream := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case line := <-lines:
				_, _ = io.WriteString(w, line+"\n\n")
				_ = http.NewResponseController(w).Flush()
			case <-over:
				return
			}
		}
	}
	addr := pretend(t, stream)
	p := k.balance(t, [3]string{addr, addr, addr}, true)
	p.up(t, 3)
	go func() { lines <- "data: first" }() // the answer begins with it
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.api+"/api/v1/stream?topics=cluster", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := bufio.NewReader(resp.Body)
	next := func() string {
		line, err := got.ReadString('\n')
		_, _ = got.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	if line := next(); line != "data: first" {
		t.Errorf("got %q", line)
	}
	comments := time.NewTicker(silence / 4)
	defer comments.Stop()
	// Each line has to be here before the next one is written.
	for began := time.Now(); time.Since(began) < 2*silence; {
		lines <- ":"
		if line := next(); line != ":" {
			t.Errorf("got %q", line)
		}
		<-comments.C
	}
	silent := time.Now()
	rest, _ := io.ReadAll(got) // HAProxy ends it as an error, nginx with what there is
	if took := time.Since(silent); len(rest) > 0 || took > 10*silence {
		t.Errorf("after a silence of %v it ended with %q", took, rest)
	}
}
