package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/follow"
	"github.com/weft-run/weft/pkg/metrics"
)

// certificate is one of the node's own: the API's, followed on disk, or the one that it shows to etcd,
// which is looked at for each connection. A renewed one counts without a restart; while the files
// cannot be taken, because they are empty, cut or do not fit, the one from before counts.
type certificate struct {
	what              string // the settings
	certFile, keyFile string
	log               *slog.Logger

	mu        sync.Mutex
	unread    func(bool) // is told whether the files cannot be taken; may be nil; guarded by mu
	cert, key []byte     // what pair was made of; guarded by mu
	pair      atomic.Pointer[tls.Certificate]
	told      string // the last complaint of fresh; guarded by mu
}

// openCertificate reads the files; what is wrong with them ends the start. One
// that has expired does not: clients say so themselves, and health does not mind.
func openCertificate(ctx context.Context, what, certFile, keyFile string, log *slog.Logger, unread func(bool)) (*certificate, error) {
	c := &certificate{what: what, certFile: certFile, keyFile: keyFile, log: log, unread: unread}
	if err := c.read(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return c, nil
}

// get is for [tls.Config].GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil }

// fresh looks at the files and gives the certificate that counts.
func (c *certificate) fresh(ctx context.Context) *tls.Certificate {
	err := c.read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != c.told {
		c.told = text
		c.tell(ctx, err)
	}
	return c.pair.Load()
}

// telling tells unread from now on.
func (c *certificate) telling(unread func(bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = unread
	unread(c.told != "")
}

// run follows changes until ctx ends. Cert and key are two files: between their
// changes they do not fit, and the next look finds that they do.
func (c *certificate) run(ctx context.Context) error {
	return follow.Run(ctx, c.read, func(ctx context.Context, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tell(ctx, err)
	})
}

// tell says what became of a look. The caller holds mu.
func (c *certificate) tell(ctx context.Context, err error) {
	if c.unread != nil {
		c.unread(err != nil)
	}
	if err == nil {
		c.log.InfoContext(ctx, "the files of a certificate are well again", slog.String("settings", c.what))
		return
	}
	c.log.ErrorContext(ctx, "certificate not read again; the one from before counts on", slog.String("settings", c.what), slog.Any("error", err))
}

// read takes over what the files have, if that is something new.
func (c *certificate) read(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	if err := wholePEM(cert); err != nil {
		return fmt.Errorf("%s: %w", c.certFile, err)
	}
	if follow.Cut(c.cert, cert) {
		return fmt.Errorf("%s is the beginning of what it was; if that is meant, restart the node", c.certFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	c.cert, c.key = cert, key
	c.pair.Store(&pair)
	attrs := []any{slog.String("settings", c.what), slog.String("subject", pair.Leaf.Subject.String()), slog.Time("notAfter", pair.Leaf.NotAfter)}
	if time.Now().After(pair.Leaf.NotAfter) {
		c.log.ErrorContext(ctx, "the certificate has expired; the other side refuses it", attrs...)
	} else {
		c.log.InfoContext(ctx, "certificate read", attrs...)
	}
	return nil
}

// wholePEM finds a block that ends within itself, which all who read PEM pass over: of a chain they
// take what is before.
func wholePEM(src []byte) error {
	begun, whole := bytes.Count(src, []byte("-----BEGIN ")), 0
	for rest := src; ; whole++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
	}
	if begun != whole {
		return fmt.Errorf("%d blocks of PEM begin in it, and %d are whole", begun, whole)
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
	c, err := openCertificate(ctx, "tls-cert and tls-key", n.cfg.TLSCert, n.cfg.TLSKey, n.log, n.unread(metrics.FileTLSCert))
	if err != nil {
		return nil, err
	}
	n.part("certificate of the API", c.run)
	n.showExpiry(metrics.CertificateAPI, func() (*tls.Certificate, error) { return c.get(nil) })
	return &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites, GetCertificate: c.get}, nil
}

// unread shows whether a file that the node follows cannot be taken as it is.
func (n *Node) unread(file metrics.File) func(bool) {
	return func(bad bool) { n.metrics.Condition.SetFileUnread(file, bad) }
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
