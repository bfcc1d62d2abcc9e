package outgoing

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// resolver is a name server that answers each question for an A record with the
// next of addrs, the last one for ever. It counts those questions.
func resolver(t *testing.T, addrs ...string) (*net.Resolver, *atomic.Int64) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := new(atomic.Int64)
	var served sync.WaitGroup
	served.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				addr := netip.MustParseAddr(addrs[min(int(asked.Add(1)), len(addrs))-1])
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: addr.As4()},
				}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	})
	t.Cleanup(func() {
		conn.Close()
		served.Wait()
	})
	dial := net.Dialer{}
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, asked
}

// DNS rebinding: the owner of a name lets it mean a public address while it is
// checked, and a private one when it is called.
func TestARebindingNameGainsNothing(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(inside.Close)
	u, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	dialer := guardedDialer(false)
	resolves, asked := resolver(t, "8.8.8.8", "127.0.0.1")
	dialer.Resolver = resolves
	// Nothing is sent to the public address: what the guard lets pass ends here.
	errPassed := errors.New("the guard let it pass")
	var passed []string
	guard := dialer.Control
	dialer.Control = func(network, address string, c syscall.RawConn) error {
		if guard != nil {
			if err := guard(network, address, c); err != nil {
				return err
			}
		}
		passed = append(passed, address)
		return errPassed
	}
	client := clientOver(dialer)
	client.Timeout = 30 * time.Second
	for _, want := range []error{errPassed, ErrPrivateAddress, ErrPrivateAddress} {
		resp, err := client.Get("http://rebind.test:" + u.Port() + "/")
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if want := []string{"8.8.8.8:" + u.Port()}; !slices.Equal(passed, want) {
		t.Errorf("the guard let pass %v, want %v", passed, want)
	}
	if asked.Load() != 3 || hits.Load() != 0 {
		t.Errorf("the name was asked for %d times, and the private server %d times", asked.Load(), hits.Load())
	}
}

// A proxy would make the connection that the guard does not see.
func TestTheProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	var proxied, direct atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	t.Cleanup(proxy.Close)
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { direct.Add(1) }))
	t.Cleanup(target.Close)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	u, err := url.Parse(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	// By name: net/http never sends loopback addresses to a proxy.
	dialer := guardedDialer(true)
	dialer.Resolver, _ = resolver(t, "127.0.0.1")
	client := clientOver(dialer)
	t.Cleanup(client.CloseIdleConnections)
	resp, err := client.Get("http://direct.test:" + u.Port() + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if proxied.Load() != 0 || direct.Load() != 1 {
		t.Errorf("%d requests went by the proxy, %d directly", proxied.Load(), direct.Load())
	}
}
