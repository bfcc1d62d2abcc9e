// Package elsa has the handlers for programs that were written for Elsa's API of alterations: its paths, its names of
// what may be altered, and its answers, on the alterations and jobs that there are.
//
// What it guarantees: what is asked in Elsa's names does what the alteration of ours does that its table in docs/api.md
// names, under the same rules: all of an instance or nothing, once under an Idempotency-Key. What has no counterpart is
// refused with its place before any instance is touched.
//
// What it does not: that an alteration does more than Elsa's name says, or ends where Elsa would; the differences stand
// in docs/differences-from-elsa.md.
package elsa
