// Package signin is where people sign in and out, and the page about oneself.
//
// What it guarantees: who has no session sees the sign-in page in place of any other, with what was
// typed into a form kept as far as it may be. After signing in nobody is led to an address outside the
// console. Attempts that fail are logged once a second at most.
//
// What it does not: it judges no API key and knows no provider: package auth does, and session keeps
// what comes of it. Form and page are those of package page.
//
// [Desk.SignedIn] is around all pages that ask for a session; the other methods of [Desk] are served
// as they are.
package signin
