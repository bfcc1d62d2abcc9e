package outgoing

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"
)

func TestFailuresSayWhy(t *testing.T) {
	t.Parallel()
	at := func(a string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(a), Port: 443} }
	in := func(err error) error { return &url.Error{Op: "Get", URL: "https://inside.example/?token=1", Err: err} }
	for want, err := range map[string]error{
		"no server is known by this name":                                 in(&net.OpError{Op: "dial", Err: &net.DNSError{Name: "x", Server: "10.0.0.2:53", Err: "no such host", IsNotFound: true}}),
		"the server's name was not resolved in time":                      in(&net.OpError{Op: "dial", Err: &net.DNSError{Name: "x", Err: "read udp 10.0.0.1:4->10.0.0.2:53: i/o timeout", IsTimeout: true}}),
		"the server's name could not be resolved":                         in(&net.DNSError{Name: "x", Err: "server misbehaving", Server: "10.0.0.2:53"}),
		"dial: connection refused":                                        in(&net.OpError{Op: "dial", Net: "tcp", Addr: at("10.0.0.5"), Err: syscall.ECONNREFUSED}),
		"read: connection reset by peer":                                  &net.OpError{Op: "read", Net: "tcp", Source: at("10.0.0.1"), Addr: at("10.0.0.5"), Err: syscall.ECONNRESET},
		"redirect from https to http":                                     in(errors.New("redirect from https to http")),
		"the answer is larger than 1 bytes":                               fmt.Errorf("the answer is larger than %d bytes", 1),
		"the address is private; allow it with --allow-private-addresses": in(&net.OpError{Op: "dial", Addr: at("10.0.0.5"), Err: refusePrivate("tcp", "10.0.0.5:443", nil)}),
	} {
		if got := Explain(err).Error(); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		if !errors.Is(Explain(err), err) {
			t.Errorf("%v is not found any more", err)
		}
	}
}
