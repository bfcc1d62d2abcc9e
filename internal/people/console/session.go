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
	"log/slog"
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

// sessionsConfig says who signs in, and how.
type sessionsConfig struct {
	secrets  [][]byte      // that all nodes of the cluster have: sessions are sealed by the first
	keys     *auth.Keys    // by which people sign in; nil: nobody does
	oidc     *auth.OIDC    // at whose provider they do; nil: none
	signOuts *signout.List // nil: no session has ended before its time

	now func() time.Time
	log *slog.Logger
}

// sessions knows whose the sessions of a cluster are, and which have ended before their time.
type sessions struct {
	cfg    sessionsConfig
	sealer sealer
}

// newSessions derives the keys by which sessions are sealed.
func newSessions(cfg sessionsConfig) (*sessions, error) {
	seal, err := newSealer(cfg.secrets)
	return &sessions{cfg: cfg, sealer: seal}, err
}

// enter gives the browser a session that begins, of somebody who has signed in.
func (c *sessions) enter(w http.ResponseWriter, s session, name string) error {
	s.ID, s.Made = rand.Text(), c.cfg.now()
	s.Seen = s.Made
	if c.cfg.signOuts != nil {
		s.Since = c.cfg.signOuts.Since(name).UnixMilli()
	}
	return c.keep(w, s)
}

// keep gives the browser its session.
func (c *sessions) keep(w http.ResponseWriter, s session) error {
	text, err := c.sealer.seal(s, forBrowsers)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie(auth.SessionCookie, text, int((s.life()+sessionKnown)/time.Second)))
	return nil
}

// forget lets the browser forget its session.
func (c *sessions) forget(w http.ResponseWriter) {
	http.SetCookie(w, cookie(auth.SessionCookie, "", -1))
}

// cookie makes a cookie that scripts do not see and that goes over TLS only.
func cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// begin finds out whose session a browser brings, and renews it. The caller tells who that is,
// again each time.
func (c *sessions) begin(w http.ResponseWriter, r *http.Request) (s session, who *auth.Principal, caller func() (*auth.Principal, error), err error) {
	kept, err := r.Cookie(auth.SessionCookie)
	if err != nil {
		return s, nil, nil, errSession
	}
	if s, err = c.sealer.open(kept.Value, c.cfg.now(), forBrowsers); err != nil {
		return s, nil, nil, err
	}
	of := s
	caller = func() (*auth.Principal, error) { // a stream asks again and again
		return c.again(r.Context(), &of)
	}
	if who, err = caller(); err != nil {
		return s, who, caller, err
	}
	// What a page asks by itself is no visit: who went away is signed out.
	if now := c.cfg.now(); now.Sub(s.Seen) > sessionFresh && r.Header.Get("Sec-Fetch-Dest") != "empty" {
		of.Seen = now
		return s, who, caller, c.keep(w, of)
	}
	return s, who, caller, nil
}

// again gives the caller of a session as long as it counts. It returns an [auth.RefusedError],
// or an [auth.UnavailableError] soon after the start of the node.
func (c *sessions) again(ctx context.Context, s *session) (*auth.Principal, error) {
	p, err := c.whose(s)
	if err != nil || c.cfg.signOuts == nil {
		return p, err
	}
	ended, err := c.cfg.signOuts.Ended(ctx, s.known(p.Name))
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
func (c *sessions) whose(s *session) (*auth.Principal, error) {
	ends := s.Made.Add(s.life())
	switch {
	case c.cfg.now().After(ends):
		return nil, &auth.RefusedError{Reason: "the session has ended; sign in again"}
	case s.Who != nil && c.cfg.oidc != nil && c.cfg.oidc.Browsers():
		return &auth.Principal{Name: s.Who.Name, Role: s.Who.Role, By: auth.BySession, Expires: ends}, nil
	case s.Who == nil && c.cfg.keys != nil:
		of, err := c.cfg.keys.Again(s.Ticket)
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
func (c *sessions) pass(of session) (string, error) {
	now := c.cfg.now().UTC().Truncate(time.Second) // shorter: a pass may be as long as a cookie
	sealed, err := c.sealer.seal(session{ID: of.ID, Ticket: of.Ticket, Who: of.Who, Made: now, Seen: now, Began: of.Made.UnixNano(), Since: of.Since}, forNodes)
	return auth.Pass(sealed), err
}

// passed gives the caller of a request that another node sends on for a page. It returns
// an [auth.RefusedError].
func (c *sessions) passed(sealed string) (*auth.Principal, error) {
	s, err := c.sealer.open(sealed, c.cfg.now(), forNodes)
	if d := c.cfg.now().Sub(s.Made); err != nil || d > passLife || d < -passLife {
		return nil, &auth.RefusedError{Reason: "it is of no page that was opened just now"}
	}
	return c.again(context.Background(), &s)
}

// had tells whether a browser brings a session of this cluster, be it one that has ended.
func (c *sessions) had(r *http.Request) bool {
	var was session
	kept, err := r.Cookie(auth.SessionCookie)
	return err == nil && c.sealer.unseal(kept.Value, forBrowsers, &was) == nil
}

// end ends the session that a browser brings. One that has ended by itself, or that is of
// nobody any more, is refused in any case.
func (c *sessions) end(r *http.Request, everywhere bool) error {
	s, p := c.brought(r)
	if p == nil {
		return nil
	}
	// It goes on when the browser goes away: it is told only that the session has ended.
	ctx := context.WithoutCancel(r.Context())
	var err error
	if everywhere {
		err = c.cfg.signOuts.EndAll(ctx, s.known(p.Name), sessionLife)
	}
	// Also then this one by its id: it counts towards how many are kept.
	err = errors.Join(err, c.cfg.signOuts.End(ctx, s.known(p.Name)))
	c.cfg.log.InfoContext(ctx, "console: signed out", slog.String("who", p.Name), slog.Bool("everywhere", everywhere), slog.String("remote", r.RemoteAddr))
	return err
}

// brought is the session that a browser brings and whose it is; nil: it brings none that counts.
func (c *sessions) brought(r *http.Request) (s session, p *auth.Principal) {
	kept, err := r.Cookie(auth.SessionCookie)
	if err == nil && c.cfg.signOuts != nil && c.sealer.unseal(kept.Value, forBrowsers, &s) == nil {
		p, _ = c.whose(&s)
	}
	return s, p
}

// sealLogin gives a sign-in that has begun as the browser keeps it on its way; next is where to go then.
func (c *sessions) sealLogin(begun auth.Login, next string) (string, error) {
	return c.sealer.seal(login{begun, next, c.cfg.now()}, forLogins)
}

// openLogin reads a sign-in that has begun.
func (c *sessions) openLogin(text string) (begun login, err error) {
	err = c.sealer.unseal(text, forLogins, &begun)
	return begun, err
}
