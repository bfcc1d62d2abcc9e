package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/follow"
	"github.com/weft-run/weft/pkg/metrics"
)

// certificate is the API's own, followed on disk: renewed certificates count
// without a restart, and no connection waits for the disk.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	cert, key []byte // what pair was made of; only openCertificate and run use them
	pair      atomic.Pointer[tls.Certificate]
}

// openCertificate reads the files; what is wrong with them ends the start. One
// that has expired does not: clients say so themselves, and health does not mind.
func openCertificate(ctx context.Context, certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.read(ctx); err != nil {
		return nil, fmt.Errorf("read tls-cert and tls-key: %w", err)
	}
	return c, nil
}

// get is for [tls.Config].GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil }

// run follows changes until ctx ends. Cert and key are two files: between their
// changes they do not fit, and the next look finds that they do.
func (c *certificate) run(ctx context.Context) error {
	return follow.Run(ctx, c.read, func(ctx context.Context, err error) {
		c.log.ErrorContext(ctx, "certificate not read again; the one from before counts on", slog.Any("error", err))
	})
}

// read takes over what the files have, if that is something new.
func (c *certificate) read(ctx context.Context) error {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return err
	}
	if bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	c.cert, c.key = cert, key
	c.pair.Store(&pair)
	attrs := []any{slog.String("subject", pair.Leaf.Subject.String()), slog.Time("notAfter", pair.Leaf.NotAfter)}
	if time.Now().After(pair.Leaf.NotAfter) {
		c.log.ErrorContext(ctx, "the API's certificate has expired; clients refuse it", attrs...)
	} else {
		c.log.InfoContext(ctx, "certificate of the API read", attrs...)
	}
	return nil
}

// suites are those of Go's choice for TLS 1.2 that authenticate what they encrypt,
// which its own list has CBC beside. TLS 1.3 has no others.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// serverTLS is how the API listens; nil without a certificate. What is not said
// is Go's choice, which moves with the state of the art.
func (n *Node) serverTLS(ctx context.Context) (*tls.Config, error) {
	if n.cfg.TLSCert == "" {
		return nil, nil
	}
	c, err := openCertificate(ctx, n.cfg.TLSCert, n.cfg.TLSKey, n.log)
	if err != nil {
		return nil, err
	}
	n.part("certificate of the API", c.run)
	n.showExpiry(metrics.CertificateAPI, func() (*tls.Certificate, error) { return c.get(nil) })
	return &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites, GetCertificate: c.get}, nil
}

// showExpiry shows when the certificate ends that read gives for the next connection.
func (n *Node) showExpiry(which metrics.Certificate, read func() (*tls.Certificate, error)) {
	n.metrics.CertificateExpiry(which, func() (time.Time, error) {
		pair, err := read()
		if err != nil {
			return time.Time{}, err
		}
		return pair.Leaf.NotAfter, nil
	})
}

// peers reaches the API of other nodes, with the credentials of the caller.
// It trusts what the system trusts, or the authorities in tls-cacert, and no
// redirect: that could carry the credentials elsewhere.
func (n *Node) peers() (*http.Client, error) {
	roots, err := authorities("tls-cacert", n.cfg.TLSCACert)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute}
	n.undo.add("connections to other nodes", func(context.Context) error {
		transport.CloseIdleConnections()
		return nil
	})
	return &http.Client{
		Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
