package outgoing

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	for addr, public := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "64:ff9b::808:808": true,
		"127.0.0.1": false, "127.8.9.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.100.100.200": false, "0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false,
		"168.63.129.16": false, "192.0.0.192": false, "198.18.0.1": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fd00:ec2::254": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::127.0.0.1": false, "fec0::1": false,
		"3fff::1": false, "3fff:fff::1": false, "5f00::1": false, "100:0:0:1::1": false, "::ffff:0:10.0.0.1": false, "::ffff:0:127.0.0.1": false, "::ffff:0:8.8.8.8": true, "4000::1": true,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != public {
			t.Errorf("isPublic(%s) = %v", addr, got)
		}
	}
}

func TestTheClientRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}
	}))
	defer srv.Close()
	get := func(c *http.Client, url string) error {
		resp, err := c.Get(url)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := get(NewClient(false), srv.URL); !errors.Is(err, ErrPrivateAddress) {
		t.Errorf("direct: %v", err)
	}
	// A name that resolves to a loopback address is no way around.
	if err := get(NewClient(false), "http://localhost:1/"); !errors.Is(err, ErrPrivateAddress) {
		t.Errorf("by name: %v", err)
	}
	if err := get(NewClient(true), srv.URL); err != nil {
		t.Errorf("allowed: %v", err)
	}
	// The check is at connect, so a redirect from an allowed address is checked
	// like any other: the guarded transport behind a first hop that is let pass.
	guarded := NewClient(false)
	first := NewClient(true)
	guarded.Transport = hop{first.Transport, guarded.Transport}
	if err := get(guarded, srv.URL+"/away"); !errors.Is(err, ErrPrivateAddress) {
		t.Errorf("redirect: %v", err)
	}
}

// hop sends the first request, to /away, by another way.
type hop struct{ first, rest http.RoundTripper }

func (h hop) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/away" {
		return h.first.RoundTrip(r)
	}
	return h.rest.RoundTrip(r)
}
