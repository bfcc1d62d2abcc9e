// Package front is what the parts of pkg/runtime share: what they are joined with, what a call
// answers, how a refusal is told to a caller, and the way of a command to its instance.
//
// Guaranteed: a transaction that is safe to repeat is repeated while its outcome is unknown and the caller
// waits; what is still unknown then says so, and asks for a repeat with the same Idempotency-Key. A command that this
// node cannot run itself is made durable or refused, and never lost between the two.
//
// For the packages below pkg/runtime only; others use the names of pkg/runtime.
package front
