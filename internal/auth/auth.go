package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// ErrMissing says that the request has no credentials.
var ErrMissing = errors.New("this needs credentials: send Authorization: Bearer with an API key or a token")

// RefusedError says that the credentials do not count. Reason is meant for the
// caller.
type RefusedError struct {
	Reason string
}

func (e *RefusedError) Error() string { return "credentials refused: " + e.Reason }

func refused(reason string) error { return &RefusedError{Reason: reason} }

// UnavailableError says that it cannot be told now whether the credentials
// count, since the provider does not answer.
type UnavailableError struct {
	RetryAfter time.Duration
	Err        error // nil: nobody knows yet
}

func (e *UnavailableError) Error() string {
	if e.Err == nil {
		return "the keys of the identity provider are not known yet"
	}
	return "the keys of the identity provider are not known: " + e.Err.Error()
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Authenticator checks credentials. Each part may be nil.
type Authenticator struct {
	Keys *Keys
	OIDC *OIDC

	// Passed gives the caller of what [Pass] made, without its prefix; nil: none counts. It is
	// set before the first request.
	Passed func(sealed string) (*Principal, error)
}

// maxToken is more than any provider issues; the header as a whole is bounded by
// the server.
const maxToken = 16 << 10

// Authenticate gives the caller of a request by its Authorization header, or as
// [WithCaller] says. It returns [ErrMissing], a [RefusedError] or an [UnavailableError].
func (a *Authenticator) Authenticate(ctx context.Context, h http.Header) (*Principal, error) {
	if find, ok := ctx.Value(callerKey{}).(func() (*Principal, error)); ok {
		return find()
	}
	values := h["Authorization"]
	if len(values) == 0 {
		return nil, ErrMissing
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	switch {
	case len(values) > 1:
		return nil, refused("there is more than one Authorization header")
	case !strings.EqualFold(scheme, "Bearer"):
		return nil, refused("the scheme of Authorization must be Bearer")
	case token == "" || len(token) > maxToken:
		return nil, refused("the token is empty or too long")
	case strings.HasPrefix(token, passPrefix):
		if a.Passed == nil {
			return nil, refused("this node has no console, and takes no requests of one")
		}
		return a.Passed(strings.TrimPrefix(token, passPrefix))
	case strings.HasPrefix(token, keyPrefix):
		if a.Keys == nil {
			return nil, refused("this node takes no API keys")
		}
		return a.Keys.find(token)
	case a.OIDC == nil:
		return nil, refused("this is no API key, and this node takes no other tokens")
	}
	return a.OIDC.verify(ctx, token)
}
