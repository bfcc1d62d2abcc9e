package loadbalancer_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
)

// overTLS are the programs as they are put in front of strangers: with a certificate, speaking HTTP/2 to clients and HTTP/1.1 to nodes.
var overTLS = func() []kind {
	h, n := haproxy, nginx
	h.tls = " ssl crt CERTIFICATE alpn h2,http/1.1"
	h.reload = func(t *testing.T, old *exec.Cmd, config string) *exec.Cmd { // the new one takes the address along, and tells the old one to end
		t.Helper()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), old.Path, append(h.args(config), "-sf", fmt.Sprint(old.Process.Pid))...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		})
		return cmd
	}
	n.tls = " ssl http2;\n        ssl_certificate CERTIFICATE;\n        ssl_certificate_key CERTIFICATE"
	n.reload = func(t *testing.T, old *exec.Cmd, _ string) *exec.Cmd {
		t.Helper()
		if err := old.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		return old
	}
	return []kind{h, n}
}()

// certificate writes one with its key, and gives a client that believes it and speaks HTTP/2.
func certificate(t *testing.T, dir string) (file string, client *http.Client) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	made := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	file = filepath.Join(dir, "certificate.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, server.Client()
}

// Over HTTP/2 the same is repeated, up to the same sizes.
func TestOverHTTP2TheSameIsRepeated(t *testing.T) {
	t.Parallel()
	for _, k := range overTLS {
		t.Run(k.program, func(t *testing.T) {
			t.Parallel()
			tool(t, k.program)
			t.Run("what", func(t *testing.T) { testRepeats(t, k) })
			t.Run("by size", func(t *testing.T) { testRepeatsBySize(t, k) })
		})
	}
}

// A proxy that changes to a new process, for a new configuration or certificate, costs none of the requests of clients that have
// a connection of HTTP/2 with many requests at once in it: the old process answers what it has, and says that no more may come.
func TestAChangeOfTheProxyCostsNoRequestOverHTTP2(t *testing.T) {
	t.Parallel()
	for _, k := range overTLS {
		t.Run(k.program, func(t *testing.T) {
			t.Parallel()
			tool(t, k.program)
			changeTheProxy(t, k)
		})
	}
}

func changeTheProxy(t *testing.T, k kind) {
	var twice sync.Map
	var doubled atomic.Int64
	node := pretend(t, func(w http.ResponseWriter, r *http.Request) {
		if _, seen := twice.LoadOrStore(r.Header.Get("Idempotency-Key"), true); seen {
			doubled.Add(1)
		}
		w.Header().Set("Seen", r.Proto)
	})
	p := k.balance(t, [3]string{node, node, node}, false)
	p.up(t, 3)
	ctx, stop := context.WithCancel(t.Context())
	var answered atomic.Int64
	var mu sync.Mutex
	var failed []string
	var clients sync.WaitGroup
	for w := range 8 { // of one connection
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, p.api+"/api/v1/x", strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Idempotency-Key", fmt.Sprint(w, "-", n))
				resp, err := p.client.Do(req)
				what := ""
				if err != nil {
					what = err.Error()
				} else if resp.Body.Close(); resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || resp.Header.Get("Seen") != "HTTP/1.1" {
					what = fmt.Sprint(resp.Proto, " ", resp.Status, ", to the node ", resp.Header.Get("Seen"))
				}
				if answered.Add(1); what != "" {
					mu.Lock()
					failed = append(failed, what)
					mu.Unlock()
				}
				time.Sleep(time.Millisecond) // the pace of a client, not a wait for something
			}
		})
	}
	more := func() {
		from := answered.Load()
		polltest.Eventually(t, "requests are answered", func() bool { return answered.Load() >= from+200 })
	}
	more()
	for range 3 {
		p.change(t)
		more()
	}
	stop()
	clients.Wait()
	if len(failed) > 0 {
		t.Errorf("%d of %d requests failed, the first: %s", len(failed), answered.Load(), failed[0])
	}
	t.Logf("%d requests, %d came to a node twice", answered.Load(), doubled.Load())
}
