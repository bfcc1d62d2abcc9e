package activities

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrPrivateAddress is why a call to a loopback, private, link-local or
// metadata address was refused.
var ErrPrivateAddress = errors.New("the address is private")

// NewHTTPClient makes the client for calls that activities make. Unless
// allowPrivate is set it refuses to connect to addresses that are not public,
// with [ErrPrivateAddress]. The check is made on the resolved address as the
// connection is opened, so a redirect or a name that resolves differently the
// second time gains nothing. A redirect from https to http is refused; one to
// another origin (scheme, host and port) gets no header of the first request, and
// is refused if it would get its body. It uses no proxy. Every phase has a time limit; a
// call as a whole is limited by its context.
func NewHTTPClient(allowPrivate bool) *http.Client {
	return clientOver(guardedDialer(allowPrivate))
}

func guardedDialer(allowPrivate bool) *net.Dialer {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !allowPrivate {
		dialer.Control = refusePrivate
	}
	return dialer
}

func clientOver(dialer *net.Dialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           100,
			MaxIdleConnsPerHost:    10,
			IdleConnTimeout:        60 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect lets a request be sent on. What was meant for the first server is
// for no other: where a redirect has once led to another origin, the next request
// has none of the headers that it began with, and no body.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	switch s := req.URL.Scheme; {
	case s != "http" && s != "https":
		return fmt.Errorf("redirect to the scheme %q", s)
	case s == "http" && via[len(via)-1].URL.Scheme == "https":
		return errors.New("redirect from https to http, which anybody on the way can read")
	}
	at := origin(via[0].URL)
	if !slices.ContainsFunc(append(via[1:], req), func(r *http.Request) bool { return origin(r.URL) != at }) {
		return nil
	}
	if req.Body != nil && req.Body != http.NoBody {
		return fmt.Errorf("redirect of a request with a body to another server, %s; name that server in the url if it is to have the body", origin(req.URL))
	}
	req.Header = http.Header{"User-Agent": {userAgent}}
	return nil
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// failure is why a request was not answered, as instances keep it. It says nothing
// of the network that the node is in, neither addresses nor who resolves names: who
// reads instances need not know. The node's log has all of it.
type failure struct{ cause error }

func (f *failure) Unwrap() error { return f.cause }

func (f *failure) Error() string {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(f.cause, ErrPrivateAddress):
		return ErrPrivateAddress.Error() + "; allow it with --allow-private-addresses"
	case errors.As(f.cause, &name) && name.IsNotFound:
		return "no server is known by this name"
	case errors.As(f.cause, &name) && name.IsTimeout:
		return "the server's name was not resolved in time"
	case errors.As(f.cause, &name):
		return "the server's name could not be resolved"
	case errors.As(f.cause, &op):
		return fmt.Sprintf("%s: %v", op.Op, op.Err) // the rest of it are addresses
	}
	return withoutURL(f.cause).Error()
}

// withoutURL is a failure without what was asked for, which may be another server's
// URL, behind a redirect, and may have in it what is not for every reader.
func withoutURL(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}

// refusePrivate runs after the name was resolved and before the connection is
// opened.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %s: %w", address, ErrPrivateAddress)
	}
	if !isPublic(ap.Addr()) {
		return fmt.Errorf("%w (%s); allow it with --allow-private-addresses", ErrPrivateAddress, ap.Addr())
	}
	return nil
}

// reserved are ranges that are not public and that [netip.Addr] has no question
// for.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),    // shared by carriers; Alibaba's metadata
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's host
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments; Oracle's metadata
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("100:0:0:1::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"), // for documentation
	netip.MustParsePrefix("5f00::/16"), // segments of routes within a network
	netip.MustParsePrefix("fec0::/10"),
}

var (
	nat64        = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4       = netip.MustParsePrefix("2002::/16")
	v4Compatible = netip.MustParsePrefix("::/96")
	v4Translated = netip.MustParsePrefix("::ffff:0:0:0/96") // SIIT
)

func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() { // addresses that carry another inside
		b := a.As16()
		switch {
		case nat64.Contains(a), v4Compatible.Contains(a), v4Translated.Contains(a):
			return isPublic(netip.AddrFrom4([4]byte(b[12:16])))
		case sixTo4.Contains(a):
			return isPublic(netip.AddrFrom4([4]byte(b[2:6])))
		}
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
