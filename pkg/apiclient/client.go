package apiclient

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says whom to ask, and how.
type Config struct {
	// Server is the address of a node or of what stands before the cluster, such as
	// https://weft.example. A path in it comes before that of the API.
	Server string
	// Token is an API key or a token of an OpenID Connect provider; "": none.
	Token string
	// HTTP sends the requests; nil: a client of its own. It follows no redirect.
	HTTP *http.Client
	// Timeout bounds one attempt, without the time that [WaitUpTo] asks for; 0: 60 s.
	Timeout time.Duration
	// Attempts is how often a request is sent at most; 0: 4.
	Attempts int
	// UserAgent names the program in the server's logs.
	UserAgent string
	// OnRepeat is told before a request is sent again, why and after which pause; nil: nobody.
	OnRepeat func(why error, pause time.Duration)
}

// Client calls one cluster. Make it with [New].
type Client struct {
	cfg  Config
	base *url.URL
	http http.Client
}

// New checks the configuration. It sends nothing.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.Server)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's address: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("the server's address is %q; it must be a URL such as https://weft.example:8080", cfg.Server)
	case base.RawQuery != "" || base.Fragment != "" || base.User != nil:
		return nil, fmt.Errorf("the server's address is %q; it must have no query and no user", base.Redacted())
	case strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("the token has characters that no token has, such as a space or the end of a line")
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	cfg.Timeout = cmp.Or(cfg.Timeout, time.Minute)
	cfg.Attempts = cmp.Or(cfg.Attempts, 4)
	c := &Client{cfg: cfg, base: base}
	if cfg.HTTP != nil {
		c.http = *cfg.HTTP
	}
	// A redirect would take the token along, or lose the body of a POST.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Server is the address that the client asks.
func (c *Client) Server() string { return c.base.String() }

// options are those of one call.
type options struct {
	key     string
	wait    time.Duration
	headers http.Header
}

// Option changes one call.
type Option func(*options)

// Key sets the Idempotency-Key of a POST: 1 to 255 printable characters. The same key
// with the same request has one effect. Without it each call has a new one.
func Key(key string) Option { return func(o *options) { o.key = key } }

// WaitUpTo lets an execute, or the reading of an instance, wait up to d for the end of the
// instance; whole seconds, 300 at most.
func WaitUpTo(d time.Duration) Option { return func(o *options) { o.wait = d } }

// Accept asks for a media type, such as application/json for a definition in Elsa's JSON.
func Accept(mediaType string) Option {
	return func(o *options) { o.headers.Set("Accept", mediaType) }
}

// ContentType says what the body of [Client.PublishDefinition] is: application/yaml or
// application/json. Without it the server looks.
func ContentType(mediaType string) Option {
	return func(o *options) { o.headers.Set("Content-Type", mediaType) }
}

// IfMatch lets a change happen only to what has this ETag: an import only if the instance has
// not moved since the export, a publication or a deletion only of that version.
func IfMatch(etag string) Option { return func(o *options) { o.headers.Set("If-Match", etag) } }
