// Package apiclient calls the HTTP API of a Weft cluster. It has a method for each
// operation of openapi.json, and is what the command line stands on.
//
// # Outcomes
//
// Every POST carries an Idempotency-Key, made here unless [Key] gives one. A request that
// got no answer, or one that says that the node is busy, away or does not know, is sent
// again with the same key, so that it has one effect. What comes of it is one of three:
//
//   - an [Answer]: it was applied, or, if Accepted, is durable and will be;
//   - a [*ProblemError]: the node refused it and says why. Nothing was done, unless its
//     code is outcome-unknown;
//   - a [*NoAnswerError]: nobody answered. A change may have been made or not. Calling the
//     same method with the same body and [Key] is safe; the error has the key.
//
// Without its own Idempotency-Key an operation is repeated only if it may be: one that
// finds its work done by the request before says so as a problem, such as
// instance-finished for a second cancel. A DELETE that was repeated and finds nothing is done.
//
// # Values
//
// Numbers in inputs, payloads and other values of any type are [encoding/json.Number], so
// that large ones keep their digits. A field that the API gives as null is a nil pointer.
// Answers may have fields that this package does not know; [Answer] has the bytes.
//
// A [Client] may be used by many goroutines at once. It starts none.
package apiclient

//go:generate go test -run TestClientIsCurrent -count=1 . -update
