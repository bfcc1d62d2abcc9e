package node

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/certificate"
	"github.com/weft-run/weft/pkg/metrics"
)

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
	c, err := certificate.Open(ctx, "tls-cert and tls-key", n.cfg.TLSCert, n.cfg.TLSKey, n.log, n.unread(metrics.FileTLSCert))
	if err != nil {
		return nil, err
	}
	n.part("certificate of the API", c.Run)
	n.showExpiry(metrics.CertificateAPI, func() (*tls.Certificate, error) { return c.Get(nil) })
	return &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites, GetCertificate: c.Get}, nil
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
	roots, err := certificate.Authorities("tls-cacert", n.cfg.TLSCACert)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute}
	n.undo.Add("connections to other nodes", func(context.Context) error {
		transport.CloseIdleConnections()
		return nil
	})
	return &http.Client{
		Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
