package browser

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const client, clientSecret = "weft-console", "a secret"

// provide starts an OpenID Connect provider at which ada, an operator, signs in with one button. It
// gives its address, and how often it was asked for a sign-in.
func provide(t *testing.T) (address string, asked *atomic.Int32) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the reader tells
	}
	asked = new(atomic.Int32)
	nonces := make(chan [2]string, 1) // nonce and challenge of the sign-in that is under way
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"issuer": server.URL, "jwks_uri": server.URL + "/keys", "authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"keys": []map[string]string{{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes())}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("client_id") != client || q.Get("code_challenge_method") != "S256" {
			http.Error(w, "no such client", http.StatusBadRequest)
			return
		}
		asked.Add(1)
		nonces <- [2]string{q.Get("nonce"), q.Get("code_challenge")}
		back := q.Get("redirect_uri") + "?" + url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode()
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Provider</title><link rel="icon" href="data:,"><a id="ada" href="` + strings.ReplaceAll(back, "&", "&amp;") + `">Go on as ada</a>`))
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		asking := <-nonces
		proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if _, secret, _ := r.BasicAuth(); encode(proof[:]) != asking[1] || secret != url.QueryEscape(clientSecret) {
			http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
			return
		}
		claims, err := json.Marshal(map[string]any{"iss": server.URL, "aud": client, "sub": "ada", "roles": []string{"operator"}, "nonce": asking[0], "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()})
		if err != nil {
			t.Error(err)
		}
		signed := encode([]byte(`{"alg":"RS256","kid":"one"}`)) + "." + encode(claims)
		sum := sha256.Sum256([]byte(signed))
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		if err != nil {
			t.Error(err)
		}
		answer(w, map[string]string{"id_token": signed + "." + encode(signature), "access_token": "opaque", "token_type": "Bearer"})
	})
	return server.URL, asked
}

// TestSigningInAtAProvider goes to the provider and back, to the page that was asked for, and is
// asked again when the sessions of the person are ended elsewhere.
func TestSigningInAtAProvider(t *testing.T) {
	provider, asked := provide(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(clientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, "", "--auth-oidc-issuer", provider, "--auth-oidc-audience", "weft", "--auth-oidc-client-id", client, "--auth-oidc-client-secret-file", secret)
	base := "http://" + strings.Replace(n.addr, "127.0.0.1", "localhost", 1)
	signIn := func(b *tab) {
		t.Helper()
		b.open("/console/cluster")
		b.until("the way to the provider", "document.querySelector('a[href^=\"/console/login\"]') !== null")
		b.do(chromedp.Click("a[href^='/console/login']"))
		b.until("the provider asks", "document.getElementById('ada') !== null")
		b.do(chromedp.Click("#ada"))
		b.until("it came back to the page that was asked for", "location.pathname === '/console/cluster' && document.querySelector('.me')?.innerText.includes('oidc:ada')")
	}
	b, other := browse(t, base), browse(t, base)
	signIn(b)
	b.says("this needs the role admin")
	if eval[bool](b, "document.cookie !== ''") {
		t.Error("a script reads the session")
	}
	signIn(other)
	if asked.Load() != 2 {
		t.Errorf("the provider was asked %d times", asked.Load())
	}
	other.open("/console/me")
	other.do(chromedp.Click("form:has(input[name=everywhere]) button"))
	b.until("asked again", "fetch('/console/me').then(r => r.status === 401)")
	b.open("/console/cluster")
	b.until("the way to the provider", "document.querySelector('a[href^=\"/console/login\"]') !== null")
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		if !strings.HasPrefix(w, "asks "+provider) {
			t.Errorf("a page %s", w)
		}
	}
}
