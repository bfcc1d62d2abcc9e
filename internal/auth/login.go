package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// MaxExchanges bounds the codes that a node exchanges at once: all who reach the console
	// can begin a sign-in and make up a code.
	MaxExchanges = 16
	// maxUsed is how many sign-ins a node remembers, so that each makes it ask once.
	maxUsed = 4096
)

// usedLogins are the last sign-ins that came back. The oldest makes room for the next: were
// they kept for a time and no more taken, strangers could shut everybody out.
type usedLogins struct {
	mu     sync.Mutex
	states map[string]bool
	ring   [maxUsed]string
	next   int
}

// take tells whether a sign-in comes back for the first time.
func (u *usedLogins) take(state string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.states[state] {
		return false
	}
	if u.states == nil {
		u.states = map[string]bool{}
	}
	delete(u.states, u.ring[u.next])
	u.states[state], u.ring[u.next] = true, state
	u.next = (u.next + 1) % maxUsed
	return true
}

// endpoints are where the provider signs people in, as its discovery document says.
type endpoints struct{ authorize, token string }

// Login is a sign-in at the provider that has begun. It must come back from where nobody but
// the browser that began it could take it, and be used once.
type Login struct {
	State    string `json:"s"` // the answer's, so that it is to this question
	Nonce    string `json:"n"` // the token's, so that it is of this answer
	Verifier string `json:"v"` // without which the code is worth nothing (PKCE, RFC 7636)
}

// Browsers tells whether people can sign in at the provider: it needs a client id.
func (o *OIDC) Browsers() bool { return o.cfg.ClientID != "" }

// Begin gives the address at which the provider asks who somebody is, and sends them back to
// redirect with a code. The error is an [UnavailableError].
func (o *OIDC) Begin(redirect string) (address string, l Login, err error) {
	to := o.logins.Load()
	if to == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		return "", l, &UnavailableError{RetryAfter: time.Second, Err: o.err}
	}
	l = Login{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()}
	challenge := sha256.Sum256([]byte(l.Verifier))
	at, err := url.Parse(to.authorize)
	if err != nil {
		return "", l, err
	}
	q := at.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": o.cfg.ClientID, "redirect_uri": redirect, "scope": o.cfg.Scope, "state": l.State, "nonce": l.Nonce,
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	at.RawQuery = q.Encode()
	return at.String(), l, nil
}

// Finish gives the caller who came back with a code to the sign-in that l began. The roles are
// those of the identity token, or else of the access token, if that is one that counts here.
// Each sign-in makes this node ask the provider once. It returns a [RefusedError] or an [UnavailableError].
func (o *OIDC) Finish(ctx context.Context, l Login, redirect, code string) (*Principal, error) {
	to := o.logins.Load()
	if to == nil {
		return nil, &UnavailableError{RetryAfter: time.Second}
	}
	select {
	case o.exchanges <- struct{}{}:
		defer func() { <-o.exchanges }()
	default:
		return nil, &UnavailableError{RetryAfter: time.Second, Err: errors.New("as many sign in at once as may")}
	}
	if !o.used.take(l.State) {
		return nil, refused("this sign-in was used already; begin again")
	}
	tokens, err := o.exchange(ctx, to.token, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "client_id": {o.cfg.ClientID}, "code_verifier": {l.Verifier},
	})
	if err != nil {
		return nil, err
	}
	claims, all, err := o.read(ctx, tokens.Identity)
	if err != nil {
		return nil, err
	}
	if err := o.check(claims, o.cfg.ClientID, time.Now()); err != nil {
		return nil, err
	}
	nonce, _ := all["nonce"].(string)
	party, named := all["azp"].(string)
	switch {
	case subtle.ConstantTimeCompare([]byte(nonce), []byte(l.Nonce)) != 1:
		return nil, refused("the provider's answer is not to this sign-in")
	case named && party != o.cfg.ClientID, len(claims.Audience) > 1 && !named:
		return nil, refused("the provider's answer is for another application")
	}
	p := o.principal(claims, all)
	if p.Role == Anyone {
		if other, err := o.verify(ctx, tokens.Access); err == nil && other.Name == p.Name {
			p = other
		}
	}
	return p, nil
}

type tokens struct {
	Identity string `json:"id_token"`
	Access   string `json:"access_token"`
}

// exchange gives the tokens for a code.
func (o *OIDC) exchange(ctx context.Context, at string, form url.Values) (t tokens, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return t, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if o.cfg.ClientSecret != nil {
		secret, err := o.cfg.ClientSecret()
		if err != nil {
			return t, &UnavailableError{RetryAfter: time.Second, Err: err}
		}
		req.SetBasicAuth(url.QueryEscape(o.cfg.ClientID), url.QueryEscape(secret)) // RFC 6749 section 2.3.1
	}
	resp, err := o.cfg.Client.Do(req)
	if err != nil {
		return t, &UnavailableError{RetryAfter: time.Second, Err: errors.New("the provider did not answer")} // its error may have the code
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	switch {
	case err != nil || resp.StatusCode >= http.StatusInternalServerError:
		return t, &UnavailableError{RetryAfter: time.Second, Err: fmt.Errorf("the provider answered %s", resp.Status)}
	case resp.StatusCode != http.StatusOK:
		return t, refused("the provider does not take its own code: it answered " + resp.Status)
	}
	if err := json.Unmarshal(raw, &t); err != nil || t.Identity == "" || len(t.Identity) > maxToken || len(t.Access) > maxToken {
		return t, refused("the provider's answer has no identity token")
	}
	return t, nil
}

// read gives the claims of a token that the provider signed, which are to be checked.
func (o *OIDC) read(ctx context.Context, token string) (*jwt.Claims, map[string]any, error) {
	set, err := o.current()
	if err != nil {
		return nil, nil, err
	}
	return o.readBy(ctx, token, &set)
}
