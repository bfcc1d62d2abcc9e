package node_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// trusting is a client of a node's API that makes a connection for each request.
func trusting(t *testing.T, ca *authority, change func(*tls.Config)) *http.Client {
	t.Helper()
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	cfg.RootCAs.AddCert(ca.cert)
	if change != nil {
		change(cfg)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

func send(t *testing.T, c *http.Client, method, url, key string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.Do(req)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

func TestCertificateOfTheAPIIsReadAgain(t *testing.T) {
	t.Parallel()
	ca, logs := newAuthority(t), &syncBuffer{}
	cert, key := ca.issue(t, "first", time.Now().Add(time.Hour))
	n := start(t, node.Config{TLSCert: cert, TLSKey: key, Logger: slog.New(slog.NewJSONHandler(logs, nil))})
	client := trusting(t, ca, nil)
	served := func() string {
		resp, err := send(t, client, "GET", n.URL()+"/livez", "")
		if err != nil {
			return err.Error()
		}
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || resp.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s %s %v", resp.Proto, resp.Status, resp.Header)
		}
		return resp.TLS.PeerCertificates[0].Subject.CommonName
	}
	ends := func(file string) string {
		pair, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("\nweft_certificate_expiry_timestamp_seconds{certificate=\"api\"} %v\n", float64(pair.Leaf.NotAfter.Unix()))
	}
	shown := func() string {
		resp, err := send(t, client, "GET", n.URL()+"/metrics", "")
		if err != nil {
			return err.Error()
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return clusterLabel.ReplaceAllString(string(body), "")
	}
	if got := served(); got != "first" {
		t.Fatalf("served %q", got)
	}
	if got := shown(); !strings.Contains(got, ends(cert)) || strings.Contains(got, `certificate="etcd"`) {
		t.Errorf("metrics: %s", got)
	}
	ca.issueTo(t, "second", time.Now().Add(2*time.Hour), cert, key)
	polltest.Eventually(t, "the second certificate is served", func() bool { return served() == "second" })
	if got := shown(); !strings.Contains(got, ends(cert)) {
		t.Errorf("metrics: %s", got)
	}
	// What is not there changes nothing, and no connection asks for it.
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	const gone = "no such file"
	polltest.Eventually(t, "the missing file is in the log", func() bool { return strings.Contains(logs.String(), gone) })
	for range 3 {
		if got := served(); got != "second" {
			t.Errorf("without its key: %s", got)
		}
	}
	// Nor does what does not fit.
	_, other := ca.issue(t, "other", time.Now().Add(time.Hour))
	raw, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "the mistake is in the log", func() bool { return served() == "second" && strings.Contains(logs.String(), "does not match") })
	ca.issueTo(t, "third", time.Now().Add(-time.Minute), cert, key)
	polltest.Eventually(t, "clients refuse an expired one", func() bool { return strings.Contains(served(), "expired") })
	if n := strings.Count(logs.String(), gone); n != 1 {
		t.Errorf("the missing file is told %d times", n)
	}
	if !strings.Contains(logs.String(), "has expired") {
		t.Errorf("the log does not say so: %s", logs)
	}
	if _, err := send(t, trusting(t, ca, func(c *tls.Config) {
		c.InsecureSkipVerify = true
		c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	}), "GET", n.URL()+"/livez", ""); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
	if _, err := send(t, trusting(t, ca, func(c *tls.Config) {
		c.InsecureSkipVerify = true
		c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA}
	}), "GET", n.URL()+"/livez", ""); err == nil || !strings.Contains(err.Error(), "handshake failure") {
		t.Errorf("TLS 1.2 with CBC: %v", err)
	}
	if resp, err := send(t, trusting(t, ca, func(c *tls.Config) {
		c.InsecureSkipVerify = true
		c.MaxVersion = tls.VersionTLS12
	}), "GET", n.URL()+"/livez", ""); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("TLS 1.2: %v %v", resp, err)
	}
	if resp, err := send(t, http.DefaultClient, "GET", strings.Replace(n.URL(), "https:", "http:", 1)+"/livez", ""); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %v %v", resp, err)
	}
}

func TestWrongCertificateEndsTheStart(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, _ := ca.issue(t, "a", time.Now().Add(time.Hour))
	_, key := ca.issue(t, "b", time.Now().Add(time.Hour))
	for want, cfg := range map[string]node.Config{
		"does not match public key": {TLSCert: cert, TLSKey: key},
		"no such file":              {TLSCert: cert, TLSKey: "/does/not/exist"},
		"there is no tls-cert":      {TLSCACert: ca.file},
		"read auth-keys-file":       {AuthKeysFile: "/does/not/exist"},
	} {
		cfg.HTTPAddr, cfg.DataDir = "127.0.0.1:0", t.TempDir()
		if _, err := full.New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// What one node asks of another goes over TLS, with the credentials of whoever
// asked: the other one checks them as well.
func TestNodesAskEachOtherWithTheCallersCredentials(t *testing.T) {
	t.Parallel()
	ca, logs := newAuthority(t), &syncBuffer{}
	e := clustertest.Start(t)
	keys := map[auth.Role]string{}
	var entries []auth.KeyEntry
	for _, r := range []auth.Role{auth.Operator, auth.Admin} {
		key, entry, err := auth.NewKey(r.String(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys[r], entries = key, append(entries, entry)
	}
	writeEntries := func(entries []auth.KeyEntry) string {
		raw, err := yaml.Marshal(entries)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := writeEntries(entries)
	run := func(id string, change func(*node.Config)) *node.Node {
		cfg := node.Config{NodeID: id, EtcdEndpoints: e.Endpoints(), AuthKeysFile: file, TLSCACert: ca.file, Logger: slog.New(slog.NewJSONHandler(logs, nil))}
		cfg.TLSCert, cfg.TLSKey = ca.issue(t, id, time.Now().Add(time.Hour))
		if change != nil {
			change(&cfg)
		}
		return start(t, cfg)
	}
	first := run("first", nil)
	run("second", nil)
	run("stricter", func(c *node.Config) { c.AuthKeysFile = writeEntries(entries[:1]) })
	expired, expiredKey := ca.issue(t, "expired", time.Now().Add(-time.Minute))
	run("expired", func(c *node.Config) { c.TLSCert, c.TLSKey = expired, expiredKey })
	client := trusting(t, ca, nil)
	for _, c := range []struct {
		node, key string
		want      int
	}{
		{"second", "", 401}, {"second", keys[auth.Operator], 403}, {"second", keys[auth.Admin], 202},
		{"stricter", keys[auth.Admin], 503}, {"expired", keys[auth.Admin], 503},
	} {
		polltest.Eventually(t, "the first node knows "+c.node, func() bool {
			resp, err := send(t, client, "POST", first.URL()+"/api/v1/nodes/"+c.node+"/drain", c.key)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != http.StatusNotFound && resp.StatusCode != c.want {
				t.Errorf("drain %s: %s", c.node, resp.Status)
			}
			return resp.StatusCode != http.StatusNotFound
		})
	}
	for _, want := range []string{"it answered 401 Unauthorized", "certificate has expired"} {
		if !strings.Contains(logs.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	if strings.Contains(logs.String(), "weft_") {
		t.Error("the log has a key")
	}
}
