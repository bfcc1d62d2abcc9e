package node_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// Who connects and says nothing, stops in the middle of a handshake or of a head, or drips it byte by byte, is cut off
// soon, with TLS and without, and costs others nothing.
func TestWhoDoesNotFinishAHandshakeOrAHeadIsCutOff(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue(t, "node", time.Now().Add(time.Hour))
	trusted := trusting(t, ca, nil)
	for name, c := range map[string]struct {
		cfg    node.Config
		client *http.Client
		begins []string
	}{
		"plain": {node.Config{}, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, []string{"", "G", "GET /readyz HTTP/1.1\r\nHost: ", "PRI * HTTP/2.0\r\n\r\n"}},
		// The head of a ClientHello of 508 bytes, and what is no TLS at all.
		"TLS": {node.Config{TLSCert: cert, TLSKey: key}, trusted, []string{"", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x16"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, c.cfg)
			const soon = 25 * time.Second // for 10 s, on a busy machine
			began := time.Now()
			var all sync.WaitGroup
			for _, begin := range c.begins {
				for i := range 20 {
					var d net.Dialer
					conn, err := d.DialContext(t.Context(), "tcp", n.HTTPAddr())
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { conn.Close() })
					if _, err := io.WriteString(conn, begin); err != nil {
						t.Fatal(err)
					}
					if i%2 == 1 && strings.HasPrefix(begin, "GET") {
						all.Go(func() { // it drips
							for time.Since(began) < soon {
								if _, err := conn.Write([]byte("x")); err != nil {
									return
								}
								time.Sleep(500 * time.Millisecond)
							}
						})
					}
					all.Go(func() {
						_ = conn.SetReadDeadline(began.Add(soon))
						if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
							t.Errorf("after %q it is waited for", begin)
						}
					})
				}
			}
			for range 10 {
				asked := time.Now()
				resp, err := send(t, c.client, "GET", n.URL()+"/readyz", "")
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("another caller: %v, %v", resp, err)
				}
				if took := time.Since(asked); took > 5*time.Second {
					t.Errorf("another caller waited for %v", took)
				}
			}
			all.Wait()
		})
	}
}

// A caller of HTTP/2 that opens as many requests as it may and sends no body of any costs its own connection only.
func TestSilentRequestsOfHTTP2CostTheirConnectionOnly(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue(t, "node", time.Now().Add(time.Hour))
	n := start(t, node.Config{TLSCert: cert, TLSKey: key, MaxInFlight: 4})
	if resp, err := send(t, trusting(t, ca, nil), "GET", n.URL()+"/readyz", ""); err != nil || resp.ProtoMajor != 2 {
		t.Fatalf("%v, %v", resp, err)
	}
	silent := trusting(t, ca, nil)
	silent.Transport.(*http.Transport).DisableKeepAlives = false //nolint:forcetypeassert // it is made so
	defer silent.CloseIdleConnections()
	never, end := io.Pipe()
	defer end.Close()
	var all sync.WaitGroup
	for _, path := range []string{"/api/v1/events/e", "/workflows/x", "/links/x", "/metrics", "/console/sign-in"} {
		for range 8 {
			all.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL()+path, never)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				if resp, err := silent.Do(req); err == nil {
					resp.Body.Close()
				}
			})
		}
	}
	other := trusting(t, ca, func(c *tls.Config) { c.NextProtos = []string{"h2"} })
	for range 10 {
		polltest.Eventually(t, "another caller is answered", func() bool { // for a moment each silent one may have a place
			resp, err := send(t, other, "GET", n.URL()+"/api/v1/nodes", "")
			return err == nil && resp.StatusCode == http.StatusOK
		})
	}
	end.Close()
	all.Wait()
}
