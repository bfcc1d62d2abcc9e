package outgoing

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	lru "github.com/hashicorp/golang-lru/v2"
)

// ErrNoCertificate is why authorities are none.
var ErrNoCertificate = errors.New("there is no certificate in it that can be read, as PEM")

// Identity is who a client says it is, and whose servers it trusts, in place of the system's.
type Identity struct {
	key  [sha256.Size]byte // of what it was made of
	pair *tls.Certificate  // nil: it shows none
	pool *x509.CertPool    // nil: the system's
}

// NewIdentity reads a certificate with its chain, its key and the certificates of authorities, all
// as PEM. Without a key it stands beside the certificate; without a certificate none is shown;
// without authorities the system's are trusted. It returns [ErrNoCertificate] for authorities that
// are none, and another error for a certificate or a key that cannot be read. Errors say nothing of what they read.
func NewIdentity(certificate, key, authorities string) (*Identity, error) {
	id := &Identity{key: sha256.Sum256(fmt.Appendf(nil, "%d %d %s%s%s", len(certificate), len(key), certificate, key, authorities))}
	if authorities != "" {
		id.pool = x509.NewCertPool()
		if !id.pool.AppendCertsFromPEM([]byte(authorities)) {
			return nil, ErrNoCertificate
		}
	}
	if certificate == "" {
		return id, nil
	}
	if key == "" {
		key = certificate
	}
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		return nil, fmt.Errorf("it is no certificate with its key, as PEM: %w", err)
	}
	id.pair = &pair
	return id, nil
}

type identityKey struct{}

// shown is an identity, and to whom it is shown.
type shown struct {
	*Identity
	origin string
}

// WithIdentity gives a context whose requests to the origin of to, by a client of [NewClient], have the
// identity. Requests to other servers, behind a redirect, have none, nor do those that come back. A nil
// one changes nothing.
func WithIdentity(ctx context.Context, to *url.URL, id *Identity) context.Context {
	if id == nil {
		return ctx
	}
	return context.WithValue(ctx, identityKey{}, shown{id, Origin(to)})
}

// anonymous takes the identity from what comes behind a redirect elsewhere.
func anonymous(req *http.Request) {
	if _, ok := req.Context().Value(identityKey{}).(shown); ok {
		*req = *req.WithContext(context.WithValue(req.Context(), identityKey{}, shown{}))
	}
}

// maxIdentities bounds those whose connections are kept.
const maxIdentities = 64

// transport keeps the connections of each identity apart.
type transport struct {
	plain  *http.Transport
	others *lru.Cache[[sha256.Size]byte, *http.Transport]
}

func newTransport(plain *http.Transport) *transport {
	others, err := lru.NewWithEvict(maxIdentities, func(_ [sha256.Size]byte, t *http.Transport) { t.CloseIdleConnections() })
	if err != nil {
		panic(err) // its size is positive
	}
	return &transport{plain, others}
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	s, _ := req.Context().Value(identityKey{}).(shown)
	if s.Identity == nil || s.origin != Origin(req.URL) {
		return t.plain.RoundTrip(req)
	}
	return t.of(s.Identity).RoundTrip(req)
}

// of is the transport of an identity. Two that are made at once are equal, and the connections of
// the one that is not kept go when they are idle.
func (t *transport) of(id *Identity) *http.Transport {
	if own, ok := t.others.Get(id.key); ok {
		return own
	}
	own := t.plain.Clone()
	own.TLSClientConfig = &tls.Config{RootCAs: id.pool, MinVersion: tls.VersionTLS12}
	if id.pair != nil {
		own.TLSClientConfig.Certificates = []tls.Certificate{*id.pair}
	}
	if before, ok, _ := t.others.PeekOrAdd(id.key, own); ok {
		return before
	}
	return own
}

// CloseIdleConnections is asked for by [http.Client].
func (t *transport) CloseIdleConnections() {
	t.plain.CloseIdleConnections()
	for _, own := range t.others.Values() {
		own.CloseIdleConnections()
	}
}
