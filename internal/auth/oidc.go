package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/weft-run/weft/internal/pace"
)

// OIDCConfig says whose tokens count. Issuer and Audience are required.
type OIDCConfig struct {
	Issuer   string // as in the tokens; its discovery document says where its keys are
	Audience string // that a token must be for

	// RoleClaim is the claim that has a token's roles, a text or a list of texts:
	// its name, or a path with dots into objects. Default "roles".
	RoleClaim string
	// Roles says which value of the claim gives which role, as "role=value"; the
	// highest counts. Default: the names of the roles themselves.
	Roles []string

	// ClientID is what the provider calls this cluster where people sign in with a browser;
	// "": they cannot. ClientSecret proves it, if the provider wants that; it is read each time.
	ClientID     string
	ClientSecret func() (string, error)
	Scope        string // asked for then; default "openid profile"

	Client  *http.Client  // reaches the provider; default: one with a time limit
	Leeway  time.Duration // between clocks; default 1 min
	Refresh time.Duration // of the provider's keys; default 5 min
	Log     *slog.Logger
}

const (
	// tooOld is how long keys count when the provider does not answer.
	tooOld = 24 * time.Hour
	// unknownEvery is how often a token with an unknown key may make the node ask
	// the provider: else strangers could make it ask all the time.
	unknownEvery = 10 * time.Second
	// maxWaiting bounds the requests that wait for the answer to that.
	maxWaiting = 64
	// fetchTimeout bounds one look at the provider.
	fetchTimeout = 5 * time.Second
	// maxDocument and maxKeys bound what the provider may send.
	maxDocument, maxKeys = 1 << 20, 100
)

// OIDC checks JWTs of one provider. Make it with [NewOIDC].
type OIDC struct {
	cfg    OIDCConfig
	roles  map[string]Role // by value of the claim
	set    atomic.Pointer[keySet]
	logins atomic.Pointer[endpoints] // nil: not known, or people cannot sign in with a browser
	seen   atomic.Int64              // when the provider last answered, Unix seconds

	turn    chan struct{} // capacity 1: held by who asks the provider
	tried   time.Time     // when that began; guarded by turn
	waiting chan struct{} // places of requests that wait for their turn

	exchanges chan struct{} // places of those who sign in with a browser
	used      usedLogins

	mu  sync.Mutex
	err error // of the last try; guarded by mu
}

// NewOIDC checks the configuration. It asks nobody: [OIDC.Run] does.
func NewOIDC(cfg OIDCConfig) (*OIDC, error) {
	cfg.RoleClaim = cmp.Or(cfg.RoleClaim, "roles")
	cfg.Scope = cmp.Or(cfg.Scope, "openid profile")
	cfg.Leeway = cmp.Or(cfg.Leeway, time.Minute)
	cfg.Refresh = cmp.Or(cfg.Refresh, 5*time.Minute)
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	client := *cfg.Client
	client.CheckRedirect = checkHop
	cfg.Client = &client
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var errs []error
	if err := checkProviderURL(cfg.Issuer); err != nil {
		errs = append(errs, fmt.Errorf("auth-oidc-issuer: %w", err))
	}
	if cfg.Audience == "" {
		errs = append(errs, errors.New("auth-oidc-issuer needs auth-oidc-audience: without it, tokens for any other application would count here"))
	}
	roles := map[string]Role{}
	for _, pair := range cfg.Roles {
		name, value, ok := strings.Cut(pair, "=")
		role, err := ParseRole(strings.TrimSpace(name))
		if !ok || value == "" || err != nil {
			errs = append(errs, fmt.Errorf("auth-oidc-roles: %q must be role=value, such as admin=weft-admins", pair))
			continue
		}
		roles[value] = max(roles[value], role)
	}
	if len(cfg.Roles) == 0 {
		for r := Business; r <= Admin; r++ {
			roles[r.String()] = r
		}
	}
	return &OIDC{cfg: cfg, roles: roles, turn: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting), exchanges: make(chan struct{}, MaxExchanges)}, errors.Join(errs...)
}

// checkProviderURL wants https, but on this machine.
func checkProviderURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q is no URL of a provider", raw)
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()):
		return nil
	}
	return fmt.Errorf("%q must start with https://: anyone who can change its answers can make tokens", raw)
}

// Run keeps the provider's keys until ctx ends. While the provider does not
// answer, those from before count, for a day.
func (o *OIDC) Run(ctx context.Context) error {
	waits := patience()
	for {
		next := o.cfg.Refresh
		_, err := o.ask(ctx, 0)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // told to stop: what the provider said is of no interest
		}
		switch {
		case err != nil:
			next, _ = waits.Next()
			o.cfg.Log.WarnContext(ctx, "identity provider did not give its keys", slog.String("issuer", o.cfg.Issuer),
				slog.Any("error", err), slog.Duration("nextTry", next))
		default:
			waits = patience()
		}
		if !pace.Pause(ctx, next) {
			return nil
		}
	}
}

// patience is how long to wait for a provider that does not answer.
func patience() pace.Waits { return pace.Doubling(time.Second).UpTo(time.Minute) }

// ask asks the provider when it is its turn, unless it was asked within the time
// before: then rest is how long that is still so.
func (o *OIDC) ask(ctx context.Context, unless time.Duration) (rest time.Duration, err error) {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if since := time.Since(o.tried); since < unless {
		return unless - since, nil
	}
	o.tried = time.Now()
	err = o.fetch(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	return 0, err
}

// fetch asks the provider where its keys are, and for them.
func (o *OIDC) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	var about struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`

		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
	}
	raw, err := o.get(ctx, strings.TrimSuffix(o.cfg.Issuer, "/")+"/.well-known/openid-configuration")
	if err == nil {
		err = json.Unmarshal(raw, &about)
	}
	if err != nil {
		return fmt.Errorf("read the discovery document: %w", err)
	}
	if about.Issuer != o.cfg.Issuer {
		return fmt.Errorf("the discovery document is of issuer %q and not of %q: auth-oidc-issuer must be written exactly as the provider does", about.Issuer, o.cfg.Issuer)
	}
	if err := checkProviderURL(about.JWKSURI); err != nil {
		return fmt.Errorf("jwks_uri: %w", err)
	}
	if o.Browsers() {
		for what, at := range map[string]string{"authorization_endpoint": about.Authorize, "token_endpoint": about.Token} {
			bare, _, _ := strings.Cut(at, "?") // RFC 6749 section 3.1 lets it have a query
			if err := checkProviderURL(bare); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		o.logins.Store(&endpoints{about.Authorize, about.Token})
	}
	if raw, err = o.get(ctx, about.JWKSURI); err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	o.seen.Store(time.Now().Unix())
	if now := o.set.Load(); now != nil && bytes.Equal(now.source, raw) {
		return nil
	}
	set, err := newKeySet(raw)
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	o.set.Store(set)
	o.cfg.Log.InfoContext(ctx, "keys of the identity provider read", slog.String("issuer", o.cfg.Issuer), slog.Int("keys", len(set.keys)))
	return nil
}

func (o *OIDC) get(ctx context.Context, from string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := o.cfg.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", from, resp.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(raw) > maxDocument {
		err = fmt.Errorf("%s answered with more than %d bytes", from, maxDocument)
	}
	return raw, err
}

// checkHop looks at every redirect: one hop without TLS is enough to be led astray.
func checkHop(next *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("redirected more than 10 times")
	}
	if err := checkProviderURL((&url.URL{Scheme: next.URL.Scheme, Host: next.URL.Host}).String()); err != nil {
		return fmt.Errorf("redirected: %w", err)
	}
	return nil
}

// keySet is what the provider published, and the tokens that it has vouched for:
// when its keys change the tokens are checked again.
type keySet struct {
	source []byte
	keys   []jose.JSONWebKey
	cache  tokenCache
}

// newKeySet keeps the keys that can check a signature. What a provider has beside
// (symmetric keys, those for encryption, of unknown kinds) is no mistake.
func newKeySet(source []byte) (*keySet, error) {
	var doc struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(source, &doc); err != nil {
		return nil, err
	}
	cache, err := newTokenCache()
	if err != nil {
		return nil, err
	}
	set := &keySet{source: source, cache: cache}
	for _, raw := range doc.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		if r, ok := k.Key.(*rsa.PublicKey); ok && r.N.BitLen() < 2048 {
			continue
		}
		set.keys = append(set.keys, k)
	}
	if len(set.keys) == 0 || len(set.keys) > maxKeys {
		return nil, fmt.Errorf("it has %d public keys for signatures; there must be 1 to %d", len(set.keys), maxKeys)
	}
	return set, nil
}

// find gives the keys that may have signed a token with this header.
func (s *keySet) find(h *jose.Header) []*jose.JSONWebKey {
	var found []*jose.JSONWebKey
	for i := range s.keys {
		k := &s.keys[i]
		if (h.KeyID == "" || k.KeyID == h.KeyID) && (k.Algorithm == "" || k.Algorithm == h.Algorithm) {
			found = append(found, k)
		}
	}
	return found
}

// current gives the keys that count now.
func (o *OIDC) current() (*keySet, error) {
	set := o.set.Load()
	if set != nil && time.Since(time.Unix(o.seen.Load(), 0)) < tooOld {
		return set, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return nil, &UnavailableError{RetryAfter: time.Second, Err: o.err}
}

// newer gives the keys after a look at the provider, for a token whose key is
// not among those in set. If the provider was asked a moment ago nobody knows whether it has
// such a key now: the caller is told to come again.
func (o *OIDC) newer(ctx context.Context, set *keySet) (*keySet, error) {
	select {
	case o.waiting <- struct{}{}:
		defer func() { <-o.waiting }()
	default:
		return nil, &UnavailableError{RetryAfter: time.Second}
	}
	if now := o.set.Load(); now != set {
		return o.current()
	}
	// Not cut off with the request: a stranger could spoil every look.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	rest, err := o.ask(ctx, unknownEvery)
	if err != nil {
		return nil, &UnavailableError{RetryAfter: time.Second, Err: err}
	}
	if now := o.set.Load(); rest > 0 && now == set {
		return nil, &UnavailableError{RetryAfter: rest, Err: errors.New("the token is of a key that is not among those of the provider, which was asked a moment ago")}
	}
	return o.current()
}
