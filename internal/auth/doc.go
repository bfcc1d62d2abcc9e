// Package auth says who a caller of the API is: it checks the bearer token of a
// request, which is an API key from a file ([Keys]) or a JWT of an OpenID Connect
// provider ([OIDC]), and gives the caller's name and [Role].
//
// Guaranteed: a token is accepted only if it is in the file or signed by a key
// that the provider published, for this audience, and not expired. All that is
// unclear is refused. A JWT is never accepted with a symmetric algorithm or with
// none. No token and no part of one is logged or in an error. A line that is
// deleted from the file, and a key that the provider withdrew, count no more
// after [Keys] and [OIDC] have looked again.
//
// Not guaranteed: that a JWT ends before it expires. Providers cannot call one
// back; give them short lives.
//
// # Concurrency
//
// Everything may be called from any goroutine. [Keys.Run] and [OIDC.Run] are
// loops with an owner; without them the file is read once, and no JWT is ever
// accepted. Checking a token that was checked before is one hash and one look
// into a table.
package auth
