package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aPair is a certificate chain of two and its key, in PEM.
func aPair(t *testing.T) (chain, key []byte) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pair := s.TLS.Certificates[0]
	one := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Repeat(one, 2), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// Wherever a chain or a key is cut, the certificate from before counts, whole: without its second certificate
// callers would not trust it.
func TestACutCertificateIsNotTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	put := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	chain, key := aPair(t)
	put(certFile, chain)
	put(keyFile, key)
	var log bytes.Buffer
	unread := false
	c, err := Open(t.Context(), "tls-cert and tls-key", certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)), func(is bool) { unread = is })
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(chain)-1; n += 7 {
		put(certFile, chain[:n])
		if got := c.Fresh(t.Context()); len(got.Certificate) != 2 || !unread {
			t.Fatalf("of %d bytes of the chain %d certificates count, told: %v", n, len(got.Certificate), unread)
		}
	}
	if !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the log says %s", &log)
	}
	put(certFile, chain)
	if c.Fresh(t.Context()); unread {
		t.Error("the whole chain is not taken")
	}
	put(keyFile, nil)
	if got := c.Fresh(t.Context()); len(got.Certificate) != 2 || !unread {
		t.Error("an empty key is taken")
	}
	if _, err := Open(t.Context(), "tls-cert and tls-key", certFile, keyFile, slog.New(slog.DiscardHandler), nil); err == nil {
		t.Error("a node begins with it")
	}
	put(certFile, chain[:len(chain)-20])
	if _, err := Authorities("tls-cacert", certFile); err == nil || !strings.Contains(err.Error(), "2 blocks of PEM begin in it, and 1 are whole") {
		t.Errorf("as authorities: %v", err)
	}
}
