// Package outgoing makes the requests that workflows send to other servers.
//
// It guarantees that no connection is opened to an address that is not public,
// unless that is allowed: also if a name resolves to such an address or an answer
// redirects to one; and that what was meant for one server is sent to no other. What it says
// of a failure has nothing of the network that the node is in. It does not limit a
// request as a whole, nor an answer's body: its caller does.
package outgoing

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// UserAgent is what requests say in the header User-Agent.
const UserAgent = "weft"

// ErrPrivateAddress is why a call to a loopback, private, link-local or
// metadata address was refused.
var ErrPrivateAddress = errors.New("the address is private")

// NewClient makes the client for calls that activities make. Unless
// allowPrivate is set it refuses to connect to addresses that are not public,
// with [ErrPrivateAddress]. The check is made on the resolved address as the
// connection is opened, so a redirect or a name that resolves differently the
// second time gains nothing. A redirect from https to http is refused; one to
// another origin (scheme, host and port) gets no header of the first request, and
// is refused if it would get its body. It uses no proxy. Every phase has a time limit; a
// call as a whole is limited by its context.
func NewClient(allowPrivate bool) *http.Client {
	return clientOver(guardedDialer(allowPrivate))
}

func guardedDialer(allowPrivate bool) *net.Dialer {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !allowPrivate {
		dialer.Control = refusePrivate
	}
	return dialer
}

// idlePerHost is how many connections to one host are kept for the next call. A definition runs
// 200 bursts at a time, which may all call one service: those beyond the limit would be opened
// for each call, and their ports are gone for a minute after it. One that is idle takes some
// 20 KB, and goes after [http.Transport.IdleConnTimeout].
const idlePerHost = 256

func clientOver(dialer *net.Dialer) *http.Client {
	return &http.Client{
		Transport: newTransport(&http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           2 * idlePerHost,
			MaxIdleConnsPerHost:    idlePerHost,
			IdleConnTimeout:        60 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		}),
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect lets a request be sent on. What was meant for the first server is
// for no other: where a redirect has once led to another origin, the next request
// has none of the headers that it began with, no body, and no [Identity].
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
	at := Origin(via[0].URL)
	if !slices.ContainsFunc(append(via[1:], req), func(r *http.Request) bool { return Origin(r.URL) != at }) {
		return nil
	}
	if req.Body != nil && req.Body != http.NoBody {
		return fmt.Errorf("redirect of a request with a body to another server, %s; name that server in the url if it is to have the body", Origin(req.URL))
	}
	req.Header = http.Header{"User-Agent": {UserAgent}}
	anonymous(req)
	return nil
}

// Origin is the scheme, host and port of a URL.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
