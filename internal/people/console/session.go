package console

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/signout"
)

const (
	// sessionLife is how long a session lasts, and sessionIdle how long it may rest.
	sessionLife = 12 * time.Hour
	sessionIdle = 2 * time.Hour
	// providerLife is how long a session lasts that began at a provider: what it says of who
	// somebody is, and which roles they have, is not asked for again before.
	providerLife = time.Hour
	// sessionKnown is how much longer than it counts the browser keeps a session: it shows
	// then that a large form is of somebody who was known.
	sessionKnown = 24 * time.Hour
	// loginLife is how long somebody may take to sign in there.
	loginLife = 10 * time.Minute
	// sessionFresh is how old a cookie gets before a page renews it.
	sessionFresh = 5 * time.Minute

	// passLife is how long a request to another node counts.
	passLife = time.Minute
	// maxCookie bounds what is looked at.
	maxCookie = 1024
)

// session is what a browser keeps, sealed: nobody else can read or make one.
type session struct {
	ID     string      `json:"i,omitempty"` // by which it can be ended; "": from a program that gave none
	Ticket auth.Ticket `json:"t,omitempty"` // of an API key
	Who    *who        `json:"w,omitempty"` // as a provider said
	Made   time.Time   `json:"m"`
	Seen   time.Time   `json:"s"`
	Began  int64       `json:"b,omitempty"` // of a pass: when the session was made that it is of, in ns of Unix time
	Since  int64       `json:"e,omitempty"` // behind which end of all of its person's it began, in ms of Unix time; 0: a program before that made it
}

// who is a caller whom a provider knows.
type who struct {
	Name string    `json:"n"`
	Role auth.Role `json:"r"`
}

// life is how long a session lasts.
func (s *session) life() time.Duration {
	if s.Who != nil {
		return providerLife
	}
	return sessionLife
}

// known is a session as the list of those that have ended knows it.
func (s *session) known(name string) signout.Session {
	began := s.Made
	if s.Began != 0 {
		began = time.Unix(0, s.Began)
	}
	known := signout.Session{ID: s.ID, Who: name, Began: began, Ends: began.Add(s.life())}
	if s.Since != 0 {
		known.Since = time.UnixMilli(s.Since)
	}
	return known
}

// login is a sign-in at a provider, on its way through the browser.
type login struct {
	auth.Login
	Next string    `json:"x"` // where to go then
	Made time.Time `json:"m"`
}

var errSession = errors.New("there is no session, or it has ended")

// sealer seals sessions with the first of its keys and opens those of all.
type sealer []cipher.AEAD

// newSealer derives the keys of sessions from those of the cluster, which all nodes have:
// so any node serves any page.
func newSealer(keys [][]byte) (sealer, error) {
	if len(keys) == 0 {
		return nil, errors.New("console: there is no key to seal sessions with")
	}
	var s sealer
	for _, key := range keys {
		derived, err := hkdf.Key(sha256.New, key, nil, "weft console session", 32)
		if err != nil {
			return nil, fmt.Errorf("console: derive the key of sessions: %w", err)
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		s = append(s, aead)
	}
	return s, nil
}

// Sealed things are for one purpose: what was sealed for one does not open for the other.
var (
	forBrowsers = []byte("session")
	forNodes    = []byte("pass")
	forLogins   = []byte("login")
)

func (s sealer) seal(what any, purpose []byte) (string, error) {
	raw, err := json.Marshal(what)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s[0].Seal(nil, nil, raw, purpose)), nil
}

// unseal reads what was sealed for a purpose.
func (s sealer) unseal(text string, purpose []byte, into any) error {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > maxCookie {
		return errSession
	}
	for _, aead := range s {
		if plain, err := aead.Open(nil, nil, raw, purpose); err == nil && json.Unmarshal(plain, into) == nil {
			return nil
		}
	}
	return errSession
}

// open reads a sealed session that has not ended.
func (s sealer) open(text string, now time.Time, purpose []byte) (what session, err error) {
	if err := s.unseal(text, purpose, &what); err != nil {
		return session{}, err
	}
	if now.Sub(what.Made) > what.life() || now.Sub(what.Seen) > sessionIdle {
		return session{}, errSession
	}
	return what, nil
}

// enter gives the browser a session that begins, of somebody who has signed in.
func (c *Console) enter(w http.ResponseWriter, s session, name string) error {
	s.ID, s.Made = rand.Text(), c.cfg.Now()
	s.Seen = s.Made
	if c.cfg.SignOuts != nil {
		s.Since = c.cfg.SignOuts.Since(name).UnixMilli()
	}
	return c.keep(w, s)
}

// keep gives the browser its session.
func (c *Console) keep(w http.ResponseWriter, s session) error {
	text, err := c.sealer.seal(s, forBrowsers)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie(auth.SessionCookie, text, int((s.life()+sessionKnown)/time.Second)))
	return nil
}

func (c *Console) forget(w http.ResponseWriter) {
	http.SetCookie(w, cookie(auth.SessionCookie, "", -1))
}

func cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// begin finds out whose session a visit has, and renews it.
func (c *Console) begin(v *visit) error {
	kept, err := v.r.Cookie(auth.SessionCookie)
	if err != nil {
		return errSession
	}
	s, err := c.sealer.open(kept.Value, c.cfg.Now(), forBrowsers)
	if err != nil {
		return err
	}
	v.session = s
	v.caller = func() (*auth.Principal, error) { // a stream asks again and again
		return c.again(v.r.Context(), &s)
	}
	if v.who, err = v.caller(); err != nil {
		return err
	}
	// What a page asks by itself is no visit: who went away is signed out.
	if now := c.cfg.Now(); now.Sub(s.Seen) > sessionFresh && v.r.Header.Get("Sec-Fetch-Dest") != "empty" {
		s.Seen = now
		return c.keep(v.w, s)
	}
	return nil
}

// again gives the caller of a session as long as it counts. It returns an [auth.RefusedError],
// or an [auth.UnavailableError] soon after the start of the node.
func (c *Console) again(ctx context.Context, s *session) (*auth.Principal, error) {
	p, err := c.whose(s)
	if err != nil || c.cfg.SignOuts == nil {
		return p, err
	}
	ended, err := c.cfg.SignOuts.Ended(ctx, s.known(p.Name))
	switch {
	case err != nil:
		return nil, &auth.UnavailableError{RetryAfter: time.Second, Err: err}
	case ended:
		return nil, &auth.RefusedError{Reason: "somebody signed out of this session; sign in again"}
	}
	return p, nil
}

// whose gives the caller of a session whose time is not over, as it is now: the role that the
// key has. It returns an [auth.RefusedError].
func (c *Console) whose(s *session) (*auth.Principal, error) {
	ends := s.Made.Add(s.life())
	switch {
	case c.cfg.Now().After(ends):
		return nil, &auth.RefusedError{Reason: "the session has ended; sign in again"}
	case s.Who != nil && c.cfg.OIDC != nil && c.cfg.OIDC.Browsers():
		return &auth.Principal{Name: s.Who.Name, Role: s.Who.Role, By: auth.BySession, Expires: ends}, nil
	case s.Who == nil && c.cfg.Keys != nil:
		of, err := c.cfg.Keys.Again(s.Ticket)
		if err != nil {
			return nil, err
		}
		who := *of
		who.By = auth.BySession
		if who.Expires.IsZero() || who.Expires.After(ends) {
			who.Expires = ends
		}
		return &who, nil
	}
	return nil, &auth.RefusedError{Reason: "nobody can sign in here that way any more"}
}

// pass is a credential for one request of a visit, which any node of the cluster takes.
func (v *visit) pass() (string, error) {
	now := v.console.cfg.Now().UTC().Truncate(time.Second) // shorter: a pass may be as long as a cookie
	sealed, err := v.console.sealer.seal(session{ID: v.session.ID, Ticket: v.session.Ticket, Who: v.session.Who, Made: now, Seen: now, Began: v.session.Made.UnixNano(), Since: v.session.Since}, forNodes)
	return auth.Pass(sealed), err
}

// Passed gives the caller of a request that another node sends on for a page. It returns
// an [auth.RefusedError].
func (c *Console) Passed(sealed string) (*auth.Principal, error) {
	s, err := c.sealer.open(sealed, c.cfg.Now(), forNodes)
	if d := c.cfg.Now().Sub(s.Made); err != nil || d > passLife || d < -passLife {
		return nil, &auth.RefusedError{Reason: "it is of no page that was opened just now"}
	}
	return c.again(context.Background(), &s)
}
