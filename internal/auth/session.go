package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// SessionCookie is the name of the cookie that keeps a session of a browser. A browser keeps
// to its prefix: the cookie comes from this host only, encrypted, and goes to no other. No
// workflow sees or sets it.
const SessionCookie = "__Host-weft"

// LoginCookie is the name of the cookie that keeps a sign-in at a provider that has begun.
const LoginCookie = "__Host-weft-login"

// OwnCookie tells whether a cookie is one of the console's.
func OwnCookie(name string) bool {
	return strings.EqualFold(name, SessionCookie) || strings.EqualFold(name, LoginCookie)
}

type (
	callerKey  struct{}
	consoleKey struct{}
)

// WithConsole marks a request that the console makes for one of its pages. No request from
// outside can be marked so.
func WithConsole(ctx context.Context) context.Context {
	return context.WithValue(ctx, consoleKey{}, true)
}

// ByConsole tells whether the console makes a request.
func ByConsole(ctx context.Context) bool { return ctx.Value(consoleKey{}) != nil }

// WithCaller says how to find out who asks, where it is not in the request: for the pages
// that ask the API within the process. No request from outside can say it.
func WithCaller(ctx context.Context, find func() (*Principal, error)) context.Context {
	return context.WithValue(ctx, callerKey{}, find)
}

// Ticket stands for an API key in a session that a browser keeps: its SHA-256 in
// hexadecimal, by which the key cannot be found out. It is no credential: who takes one
// has to know that it comes from [Keys.SignIn].
type Ticket string

// SignIn gives the caller who has this key and a ticket for it. It returns a [RefusedError].
func (k *Keys) SignIn(token string) (Ticket, *Principal, error) {
	p, err := k.find(token)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256([]byte(token))
	return Ticket(hex.EncodeToString(sum[:])), p, nil
}

// Again gives the caller of a ticket as long as its key counts, with the role that it has
// now. It returns a [RefusedError].
func (k *Keys) Again(t Ticket) (*Principal, error) {
	var sum [sha256.Size]byte
	if n, err := hex.Decode(sum[:], []byte(t)); err != nil || n != len(sum) {
		return nil, refused("the session is of no API key")
	}
	return k.of(sum)
}

// passPrefix starts a token that a console makes for one request of a person who signed in,
// and that another node of the cluster may get, to tell what only it knows.
const passPrefix = "weftpass_"

// Pass makes the token of what a console sealed.
func Pass(sealed string) string { return passPrefix + sealed }
