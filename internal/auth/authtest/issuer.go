// Package authtest has an OpenID Connect provider for tests: a discovery
// document, keys and tokens, over HTTP on loopback. It signs what a test
// asks for, right or wrong.
package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Audience is that of the tokens, unless a test says otherwise.
const Audience = "weft"

// Issuer is a provider. Make it with [NewIssuer].
type Issuer struct {
	URL  string
	Stop func() // ends it before the test does

	tb   testing.TB
	mu   sync.Mutex
	keys []signingKey // the last one signs
	down bool
	asks int // for the keys
	made int

	person  map[string]any    // the claims of who signs in
	codes   map[string]asking // by the code that was given for it
	answers func(id, access string) map[string]any
}

type signingKey struct {
	id  string
	key crypto.Signer
}

// NewIssuer starts a provider with one key; it ends with the test.
func NewIssuer(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{tb: tb}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.serve(func() any {
		return map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize?tenant=t", "token_endpoint": i.URL + "/token"}
	}))
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /keys", i.serve(i.published))
	s := httptest.NewServer(mux)
	tb.Cleanup(s.Close)
	i.URL, i.Stop = s.URL, s.Close
	return i
}

func (i *Issuer) serve(what func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(what()) // the reader tells
	}
}

// published has, beside the keys that sign, one that must not count.
func (i *Issuer) published() any {
	i.asks++
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: []byte("a symmetric key that is no secret"), KeyID: "shared", Algorithm: "HS256"}}}
	for _, k := range i.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.key.Public(), KeyID: k.id, Use: "sig"})
	}
	return set
}

// Rotate makes a new key and withdraws those from before. The kinds alternate:
// RSA, elliptic curve.
func (i *Issuer) Rotate() {
	i.tb.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.made++
	var key crypto.Signer
	var err error
	if i.made%2 == 1 {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		i.tb.Fatal(err)
	}
	i.keys = []signingKey{{fmt.Sprint("key-", i.made), key}}
}

// Down makes the provider answer with errors, or answer again.
func (i *Issuer) Down(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// Asked is how often the keys were asked for.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asks
}

// Token signs a token that is good for an hour; claims replaces claims, and nil
// takes one away.
func (i *Issuer) Token(claims map[string]any) string {
	i.tb.Helper()
	i.mu.Lock()
	k := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	alg := jose.RS256
	if _, ok := k.key.(*ecdsa.PrivateKey); ok {
		alg = jose.ES256
	}
	return i.sign(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: k.key, KeyID: k.id}}, "JWT", claims)
}

// TokenOfType is Token with another type in its header.
func (i *Issuer) TokenOfType(typ string, claims map[string]any) string {
	i.tb.Helper()
	i.mu.Lock()
	k := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	return i.sign(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: k.key, KeyID: k.id}}, jose.ContentType(typ), claims)
}

// ForgedToken is signed with HS256, by the text of the public key: a check that takes
// the algorithm from the token accepts it.
func (i *Issuer) ForgedToken(claims map[string]any) string {
	i.tb.Helper()
	i.mu.Lock()
	k := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	der, err := x509.MarshalPKIXPublicKey(k.key.Public())
	if err != nil {
		i.tb.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return i.sign(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: k.id}}, "JWT", claims)
}

// SharedToken is signed with HS256, by the symmetric key that the provider
// published by mistake.
func (i *Issuer) SharedToken(claims map[string]any) string {
	i.tb.Helper()
	return i.sign(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: []byte("a symmetric key that is no secret"), KeyID: "shared"}}, "JWT", claims)
}

// StrangersToken is signed by a key that the provider does not have; kid is what
// its header says.
func (i *Issuer) StrangersToken(kid string, claims map[string]any) string {
	i.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.tb.Fatal(err)
	}
	return i.sign(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, "JWT", claims)
}

func (i *Issuer) sign(key jose.SigningKey, typ jose.ContentType, claims map[string]any) string {
	i.tb.Helper()
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(typ))
	if err != nil {
		i.tb.Fatal(err)
	}
	now := time.Now()
	all := map[string]any{
		"iss": i.URL, "aud": []string{Audience, "other"}, "sub": "ada", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "roles": []string{"viewer"},
	}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	if err != nil {
		i.tb.Fatal(err)
	}
	return text
}
