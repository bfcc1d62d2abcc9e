package console

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
)

// sending sends the head of a request and the beginning of its body, and no more.
func (s *site) sending(method, path, begin string, more ...string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n%s\r\n%s", method, path, strings.Join(more, ""), begin)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Whose body does not come is sent away soon, on every route, and keeps out nobody who brings a
// key that counts.
func TestWhoIsSilentKeepsNobodyFromSigningIn(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	const soon = 15 * time.Second // for both of strangerTimeout and linger, on a busy machine
	var wg sync.WaitGroup
	began := time.Now()
	for _, path := range []string{"sign-in", "sign-out", "do/sendEvent", "amend", "tell/listEvents", "theme", "zone", "columns", "nothing", "static/console.css", "callback"} {
		for i, begin := range []string{"", "apikey=", strings.Repeat("x", 5000)} {
			for range 10 {
				c := s.sending("POST", "/console/"+path, begin)
				if i == 1 { // it drips
					wg.Go(func() {
						for range 10 {
							if _, err := c.Write([]byte("x")); err != nil {
								return
							}
							time.Sleep(500 * time.Millisecond)
						}
					})
				}
				wg.Go(func() {
					_ = c.SetReadDeadline(began.Add(soon))
					r := bufio.NewReader(c)
					if resp, err := http.ReadResponse(r, nil); err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					if _, err := r.ReadByte(); err == nil || strings.Contains(err.Error(), "timeout") {
						t.Errorf("/console/%s holds a silent body: %v", path, err)
					}
				})
			}
		}
	}
	for range 5 {
		s.as(auth.Viewer).check("/console/me", http.StatusOK)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Logf("it took %v to sign in", took)
	}
	wg.Wait()
}
