// Package clients writes the clients of the HTTP API for other languages, from
// openapi.json: TypeScript and JavaScript (clients/typescript) and Python
// (clients/python). Both need nothing but what their language brings. Its tests hold the
// files against the nodes of this commit, and call a node with them.
//
//	go generate ./clients
//
// Guaranteed: a method for each operation; a POST carries an Idempotency-Key, and what got
// no answer is repeated with it. Not guaranteed: that a client knows the fields of other
// versions of the server; it hands on what it does not know.
package clients

//go:generate go test -run TestClientsAreCurrent -count=1 . -update
