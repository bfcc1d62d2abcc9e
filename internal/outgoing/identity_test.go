package outgoing

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// pemOf is the certificate of a server of httptest, and its key. It is good as a client's too where nobody verifies it.
func pemOf(t *testing.T, srv *httptest.Server) (certificate, key string) {
	t.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// asking is a server that asks for a certificate and takes any.
func asking(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

// What was meant for one server is shown to no other, and not to itself where another one sends it back.
func TestAnIdentityIsShownToItsServerOnly(t *testing.T) {
	t.Parallel()
	saw := map[string]bool{}
	note := func(where string, r *http.Request) { saw[where] = len(r.TLS.PeerCertificates) > 0 }
	var home, other *httptest.Server
	other = asking(t, func(w http.ResponseWriter, r *http.Request) {
		note("other", r)
		http.Redirect(w, r, home.URL+"/back", http.StatusFound)
	})
	home = asking(t, func(w http.ResponseWriter, r *http.Request) {
		note(r.URL.Path, r)
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/same", http.StatusFound)
		case "/same":
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	certificate, key := pemOf(t, home)
	client := NewClient(true)
	client.Transport.(*transport).plain.TLSClientConfig = home.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	defer client.CloseIdleConnections()
	id, err := NewIdentity(certificate+key, "", certificate)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(home.URL + "/start")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(WithIdentity(t.Context(), to, id), http.MethodGet, to.String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for where, want := range map[string]bool{"/start": true, "/same": true, "other": false, "/back": false} {
		if got, there := saw[where]; got != want || !there {
			t.Errorf("%s saw a certificate: %v, asked %v", where, got, there)
		}
	}
}

// A server that the identity does not trust gets no request, and another identity has connections of its own.
func TestAnIdentityTrustsItsAuthoritiesOnly(t *testing.T) {
	t.Parallel()
	var shows []bool
	srv := asking(t, func(_ http.ResponseWriter, r *http.Request) { shows = append(shows, len(r.TLS.PeerCertificates) > 0) })
	certificate, key := pemOf(t, srv)
	client := NewClient(true)
	defer client.CloseIdleConnections()
	to, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	get := func(id *Identity) error {
		req, err := http.NewRequestWithContext(WithIdentity(t.Context(), to, id), http.MethodGet, srv.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	var unknown x509.UnknownAuthorityError
	if err := get(nil); !errors.As(err, &unknown) {
		t.Errorf("without authorities: %v", err)
	}
	plain, err := NewIdentity("", "", certificate)
	if err != nil {
		t.Fatal(err)
	}
	both, err := NewIdentity(certificate, key, certificate)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []*Identity{plain, both, plain} {
		if err := get(id); err != nil {
			t.Error(err)
		}
	}
	if len(shows) != 3 || shows[0] || !shows[1] || shows[2] {
		t.Errorf("certificates shown: %v", shows)
	}
	for range 2 * maxIdentities { // bounded
		id, err := NewIdentity("", "", certificate+strings.Repeat("\n", len(shows)))
		if err != nil {
			t.Fatal(err)
		}
		shows = append(shows, false)
		client.Transport.(*transport).of(id)
	}
	if n := client.Transport.(*transport).others.Len(); n > maxIdentities {
		t.Errorf("%d identities are kept", n)
	}
}

func TestWhatIsNoIdentity(t *testing.T) {
	t.Parallel()
	srv := asking(t, func(http.ResponseWriter, *http.Request) {})
	certificate, key := pemOf(t, srv)
	if _, err := NewIdentity("", "", "s3cret-words"); !errors.Is(err, ErrNoCertificate) {
		t.Errorf("authorities: %v", err)
	}
	for _, pair := range [][2]string{{"s3cret-words", ""}, {certificate, ""}, {certificate, "s3cret-words"}, {key, key}} {
		if _, err := NewIdentity(pair[0], pair[1], ""); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", pair, err)
		}
	}
}
