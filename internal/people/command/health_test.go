package command

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// command runs a subcommand with an environment and gives what it printed.
func command(t *testing.T, environ []string, args ...string) (string, error) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := newCommand(&out, &log, func() []string { return environ })
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// answering is a node that answers both health routes in its own way.
func answering(ready int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"live"}`)) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(ready)
		if ready == http.StatusOK {
			_, _ = w.Write([]byte(`{"status":"ready"}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":503,"detail":"not ready: draining"}`))
	})
	return mux
}

func TestHealthSaysWhatTheNodeSays(t *testing.T) {
	t.Parallel()
	ok, not := httptest.NewServer(answering(200)), httptest.NewServer(answering(503))
	t.Cleanup(ok.Close)
	t.Cleanup(not.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	port := func(s *httptest.Server) string { return s.Listener.Addr().String()[len("127.0.0.1:"):] }
	tests := []struct {
		name, addr, out, err string
		args                 []string
	}{
		{name: "ready", addr: "127.0.0.1:" + port(ok), out: "ready\n"},
		{name: "listening everywhere", addr: "0.0.0.0:" + port(ok), out: "ready\n"},
		{name: "no host", addr: ":" + port(ok), out: "ready\n"},
		{name: "not ready", addr: "127.0.0.1:" + port(not), err: "not ready: draining"},
		{name: "not ready but live", addr: "127.0.0.1:" + port(not), args: []string{"--live"}, out: "live\n"},
		{name: "nobody there", addr: "127.0.0.1:" + port(gone), err: "does not answer"},
		{name: "a port that nobody knows", addr: "127.0.0.1:0", err: "port 0"},
		{name: "no address", addr: "here", err: "http-addr"},
		{name: "not ready for long", addr: "127.0.0.1:" + port(not), args: []string{"--wait", "300ms"}, err: "not ready: draining"},
		{name: "ready at once", addr: "127.0.0.1:" + port(ok), args: []string{"--wait", "1h"}, out: "ready\n"},
		{name: "a wait that is none", addr: "127.0.0.1:" + port(ok), args: []string{"--wait", "long"}, err: "--wait"},
		{name: "an argument", addr: "127.0.0.1:1", args: []string{"now"}, err: "unknown command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := command(t, []string{"WEFT_HTTP_ADDR=" + tt.addr}, append([]string{"health"}, tt.args...)...)
			if out != tt.out {
				t.Errorf("it printed %q, want %q", out, tt.out)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("the error is %v, want %q", err, tt.err)
			}
		})
	}
}

// A script that starts a node waits for it with one command.
func TestHealthWaitsForTheNode(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := 503
		if asked.Add(1) > 2 {
			status = 200
		}
		answering(status).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	out, err := command(t, []string{"WEFT_HTTP_ADDR=" + server.Listener.Addr().String()}, "health", "--wait", "1m")
	if out != "ready\n" || err != nil || asked.Load() != 3 {
		t.Errorf("it printed %q, %v, after %d", out, err, asked.Load())
	}
}

func TestHealthOverTLSTrustsOneCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(answering(200))
	t.Cleanup(server.Close)
	cert := filepath.Join(t.TempDir(), "cert.pem")
	pair := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(cert, pair, 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"WEFT_HTTP_ADDR=" + server.Listener.Addr().String(), "WEFT_TLS_CERT=" + cert, "WEFT_TLS_KEY=unused"}
	if out, err := command(t, environ, "health"); err != nil || out != "ready\n" {
		t.Errorf("got %q, %v", out, err)
	}
	foreign := append([]byte("x"), server.Certificate().Raw...)
	wrong := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: foreign})
	if err := os.WriteFile(cert, wrong, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, environ, "health"); err == nil || !strings.Contains(err.Error(), "another certificate") {
		t.Errorf("a foreign certificate: %v", err)
	}
	if err := os.WriteFile(cert, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, environ, "health"); err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("an empty file: %v", err)
	}
}

func TestSecretIsShownOnDemand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := newSecretCommand(&out)
	cmd.SetArgs([]string{"--show", file})
	if err := cmd.ExecuteContext(t.Context()); err != nil || out.String() != "hunter2\n" {
		t.Errorf("%q %v", out.String(), err)
	}
	cmd.SetArgs([]string{"--show", file + "x"})
	if err := cmd.ExecuteContext(t.Context()); err == nil {
		t.Error("a secret that is not there is shown")
	}
	if _, err := os.Stat(file + "x"); err == nil {
		t.Error("showing made one")
	}
}

func TestSecretsAreRandomAndKept(t *testing.T) {
	t.Parallel()
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	out, err := command(t, nil, "secret", a, b)
	if err != nil || out != "wrote "+a+"\nwrote "+b+"\n" {
		t.Fatalf("got %q, %v", out, err)
	}
	first, second := read(t, a), read(t, b)
	if len(first) < 43 || first == second {
		t.Errorf("secrets %d bytes long, equal: %v", len(first), first == second)
	}
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o440 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if out, err := command(t, nil, "secret", a); err != nil || out != "kept "+a+"\n" || read(t, a) != first {
		t.Errorf("the second time: %q, %v", out, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(a)); len(left) != 1 {
		t.Errorf("%d files in the directory", len(left))
	}
	if _, err := command(t, nil, "secret", filepath.Join(a, "no")); err == nil {
		t.Error("a directory that is not there: no error")
	}
	if _, err := command(t, nil, "secret"); err == nil {
		t.Error("no file: no error")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
