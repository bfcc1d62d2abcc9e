// Package read makes definitions of the short YAML. Package yaml is its door.
//
// Guaranteed: every problem is reported at once, each at its place, with the nearest name where
// one was mistyped. No input makes it panic; size, nesting and the number of activities are
// limited.
//
// Not guaranteed: that what was read makes sense; the engine's compiler checks required inputs,
// variables, expressions and graphs.
//
// Concurrency: the functions keep no state.
package read
