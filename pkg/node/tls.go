package node

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/metrics"
)

// certificate is the API's own, read again when its files change: renewed
// certificates count without a restart. It looks when somebody connects, at most
// every second, and so needs no loop.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	seen   [2]os.FileInfo // of the files that pair was read from
	looked time.Time
	told   string // the last complaint
}

const lookEvery = time.Second

// openCertificate reads the files; what is wrong with them ends the start. One
// that has expired does not: clients say so themselves, and health does not mind.
func openCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("read tls-cert and tls-key: %w", err)
	}
	return c, nil
}

// get is for [tls.Config].GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery || !c.moved() {
		return c.pair, nil
	}
	c.looked = time.Now()
	// Cert and key are two files: between their changes they do not fit, and the
	// next look finds that they do.
	if err := c.read(); err != nil && err.Error() != c.told {
		c.told = err.Error()
		c.log.ErrorContext(context.Background(), "certificate not read again; the one from before counts on", slog.Any("error", err))
	}
	return c.pair, nil
}

func (c *certificate) moved() bool {
	for i, name := range []string{c.certFile, c.keyFile} {
		now, err := os.Stat(name)
		if err != nil || !os.SameFile(now, c.seen[i]) || !now.ModTime().Equal(c.seen[i].ModTime()) || now.Size() != c.seen[i].Size() {
			return true
		}
	}
	return false
}

func (c *certificate) read() error {
	var seen [2]os.FileInfo
	for i, name := range []string{c.certFile, c.keyFile} { // before they are read: a later change is seen next time
		var err error
		if seen[i], err = os.Stat(name); err != nil {
			return err
		}
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.pair, c.seen, c.told = &pair, seen, ""
	attrs := []any{slog.String("subject", pair.Leaf.Subject.String()), slog.Time("notAfter", pair.Leaf.NotAfter)}
	if time.Now().After(pair.Leaf.NotAfter) {
		c.log.ErrorContext(context.Background(), "the API's certificate has expired; clients refuse it", attrs...)
	} else {
		c.log.InfoContext(context.Background(), "certificate of the API read", attrs...)
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
func (n *Node) serverTLS() (*tls.Config, error) {
	if n.cfg.TLSCert == "" {
		return nil, nil
	}
	c, err := openCertificate(n.cfg.TLSCert, n.cfg.TLSKey, n.log)
	if err != nil {
		return nil, err
	}
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
