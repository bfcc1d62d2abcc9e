package session

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
	// sessionLife is how long a session lasts.
	sessionLife = 12 * time.Hour
	// Idle is how long a session may rest.
	Idle = 2 * time.Hour
	// providerLife is how long a session lasts that began at a provider: what it says of who
	// somebody is, and which roles they have, is not asked for again before.
	providerLife = time.Hour
	// sessionKnown is how much longer than it counts the browser keeps a session: it shows
	// then that a large form is of somebody who was known.
	sessionKnown = 24 * time.Hour
	// LoginLife is how long somebody may take to sign in there.
	LoginLife = 10 * time.Minute
	// sessionFresh is how old a cookie gets before a page renews it.
	sessionFresh = 5 * time.Minute

	// passLife is how long a request to another node counts.
	passLife = time.Minute
	// maxCookie bounds what is looked at; a browser keeps 4096 bytes with the name.
	maxCookie = 3800
	// mostGroups is how many bytes a session keeps of the groups of a person.
	mostGroups = 2000
)

// Session is what a browser keeps, sealed: nobody else can read or make one.
type Session struct {
	ID     string      `json:"i,omitempty"` // by which it can be ended; "": from a program that gave none
	Ticket auth.Ticket `json:"t,omitempty"` // of an API key
	Who    *Who        `json:"w,omitempty"` // as a provider said
	Made   time.Time   `json:"m"`
	Seen   time.Time   `json:"s"`
	Began  int64       `json:"b,omitempty"` // of a pass: when the session was made that it is of, in ns of Unix time
	Since  int64       `json:"e,omitempty"` // behind which end of all of its person's it began, in ms of Unix time; 0: a program before that made it
}

// Who is a caller whom a provider knows.
type Who struct {
	Name   string    `json:"n"`
	Role   auth.Role `json:"r"`
	Groups []string  `json:"g,omitempty"` // the first that a cookie has room for; a program before that gave none
}

// WhoOf is the caller that a provider made known.
func WhoOf(p *auth.Principal) *Who {
	w := &Who{Name: p.Name, Role: p.Role}
	room := mostGroups
	for _, g := range p.Groups {
		written, err := json.Marshal(g) // a quotation mark or a control character takes up to six bytes
		if room -= len(written) + 1; err != nil || room < 0 {
			break
		}
		w.Groups = append(w.Groups, g)
	}
	return w
}

// Life is how long a session lasts.
func (s *Session) Life() time.Duration {
	if s.Who != nil {
		return providerLife
	}
	return sessionLife
}

// known is a session as the list of those that have ended knows it.
func (s *Session) known(name string) signout.Session {
	began := s.Made
	if s.Began != 0 {
		began = time.Unix(0, s.Began)
	}
	known := signout.Session{ID: s.ID, Who: name, Began: began, Ends: began.Add(s.Life())}
	if s.Since != 0 {
		known.Since = time.UnixMilli(s.Since)
	}
	return known
}

// Login is a sign-in at a provider, on its way through the browser.
type Login struct {
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
func (s sealer) open(text string, now time.Time, purpose []byte) (what Session, err error) {
	if err := s.unseal(text, purpose, &what); err != nil {
		return Session{}, err
	}
	if now.Sub(what.Made) > what.Life() || now.Sub(what.Seen) > Idle {
		return Session{}, errSession
	}
	return what, nil
}

// Config says who signs in, and how.
type Config struct {
	Secrets  [][]byte      // that all nodes of the cluster have: sessions are sealed by the first
	Keys     *auth.Keys    // by which people sign in; nil: nobody does
	OIDC     *auth.OIDC    // at whose provider they do; nil: none
	SignOuts *signout.List // nil: no session has ended before its time

	Now func() time.Time
	Log *slog.Logger
}

// Sessions knows whose the sessions of a cluster are, and which have ended before their time.
type Sessions struct {
	cfg    Config
	sealer sealer
}

// New derives the keys by which sessions are sealed.
func New(cfg Config) (*Sessions, error) {
	seal, err := newSealer(cfg.Secrets)
	return &Sessions{cfg: cfg, sealer: seal}, err
}

// Enter gives the browser a session that begins, of somebody who has signed in.
func (c *Sessions) Enter(w http.ResponseWriter, s Session, name string) error {
	s.ID, s.Made = rand.Text(), c.cfg.Now()
	s.Seen = s.Made
	if c.cfg.SignOuts != nil {
		s.Since = c.cfg.SignOuts.Since(name).UnixMilli()
	}
	return c.keep(w, s)
}

// keep gives the browser its session.
func (c *Sessions) keep(w http.ResponseWriter, s Session) error {
	text, err := c.sealer.seal(s, forBrowsers)
	if err != nil {
		return err
	}
	http.SetCookie(w, Cookie(auth.SessionCookie, text, int((s.Life()+sessionKnown)/time.Second)))
	return nil
}

// Forget lets the browser forget its session.
func (c *Sessions) Forget(w http.ResponseWriter) {
	http.SetCookie(w, Cookie(auth.SessionCookie, "", -1))
}

// Cookie makes a cookie that scripts do not see and that goes over TLS only.
func Cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// Begin finds out whose session a browser brings, and renews it. The caller tells who that is,
// again each time.
func (c *Sessions) Begin(w http.ResponseWriter, r *http.Request) (s Session, who *auth.Principal, caller func() (*auth.Principal, error), err error) {
	kept, err := r.Cookie(auth.SessionCookie)
	if err != nil {
		return s, nil, nil, errSession
	}
	if s, err = c.sealer.open(kept.Value, c.cfg.Now(), forBrowsers); err != nil {
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
	if now := c.cfg.Now(); now.Sub(s.Seen) > sessionFresh && r.Header.Get("Sec-Fetch-Dest") != "empty" {
		of.Seen = now
		return s, who, caller, c.keep(w, of)
	}
	return s, who, caller, nil
}

// again gives the caller of a session as long as it counts. It returns an [auth.RefusedError],
// or an [auth.UnavailableError] soon after the start of the node.
func (c *Sessions) again(ctx context.Context, s *Session) (*auth.Principal, error) {
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
func (c *Sessions) whose(s *Session) (*auth.Principal, error) {
	ends := s.Made.Add(s.Life())
	switch {
	case c.cfg.Now().After(ends):
		return nil, &auth.RefusedError{Reason: "the session has ended; sign in again"}
	case s.Who != nil && c.cfg.OIDC != nil && c.cfg.OIDC.Browsers():
		return &auth.Principal{Name: s.Who.Name, Role: s.Who.Role, Groups: s.Who.Groups, By: auth.BySession, Expires: ends}, nil
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

// Pass is a credential for one request of a visit, which any node of the cluster takes.
func (c *Sessions) Pass(of Session) (string, error) {
	now := c.cfg.Now().UTC().Truncate(time.Second) // shorter: a pass may be as long as a cookie
	sealed, err := c.sealer.seal(Session{ID: of.ID, Ticket: of.Ticket, Who: of.Who, Made: now, Seen: now, Began: of.Made.UnixNano(), Since: of.Since}, forNodes)
	return auth.Pass(sealed), err
}

// Passed gives the caller of a request that another node sends on for a page. It returns
// an [auth.RefusedError].
func (c *Sessions) Passed(sealed string) (*auth.Principal, error) {
	s, err := c.sealer.open(sealed, c.cfg.Now(), forNodes)
	if d := c.cfg.Now().Sub(s.Made); err != nil || d > passLife || d < -passLife {
		return nil, &auth.RefusedError{Reason: "it is of no page that was opened just now"}
	}
	return c.again(context.Background(), &s)
}

// Had tells whether a browser brings a session of this cluster, be it one that has ended.
func (c *Sessions) Had(r *http.Request) bool {
	var was Session
	kept, err := r.Cookie(auth.SessionCookie)
	return err == nil && c.sealer.unseal(kept.Value, forBrowsers, &was) == nil
}

// End ends the session that a browser brings. One that has ended by itself, or that is of
// nobody any more, is refused in any case.
func (c *Sessions) End(r *http.Request, everywhere bool) error {
	s, p := c.brought(r)
	if p == nil {
		return nil
	}
	// It goes on when the browser goes away: it is told only that the session has ended.
	ctx := context.WithoutCancel(r.Context())
	var err error
	if everywhere {
		err = c.cfg.SignOuts.EndAll(ctx, s.known(p.Name), sessionLife)
	}
	// Also then this one by its id: it counts towards how many are kept.
	err = errors.Join(err, c.cfg.SignOuts.End(ctx, s.known(p.Name)))
	c.cfg.Log.InfoContext(ctx, "console: signed out", slog.String("who", p.Name), slog.Bool("everywhere", everywhere), slog.String("remote", r.RemoteAddr))
	return err
}

// brought is the session that a browser brings and whose it is; nil: it brings none that counts.
func (c *Sessions) brought(r *http.Request) (s Session, p *auth.Principal) {
	kept, err := r.Cookie(auth.SessionCookie)
	if err == nil && c.cfg.SignOuts != nil && c.sealer.unseal(kept.Value, forBrowsers, &s) == nil {
		p, _ = c.whose(&s)
	}
	return s, p
}

// SealLogin gives a sign-in that has begun as the browser keeps it on its way; next is where to go then.
func (c *Sessions) SealLogin(begun auth.Login, next string) (string, error) {
	return c.sealer.seal(Login{begun, next, c.cfg.Now()}, forLogins)
}

// OpenLogin reads a sign-in that has begun.
func (c *Sessions) OpenLogin(text string) (begun Login, err error) {
	err = c.sealer.unseal(text, forLogins, &begun)
	return begun, err
}
