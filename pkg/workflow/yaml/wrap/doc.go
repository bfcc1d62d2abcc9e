// Package wrap knows the activities that stand around one with a timeout or a retry: the short
// YAML writes one activity where a definition has several.
//
// Guaranteed: [CoreOf] gives the inner activity only where its timeout or retry says all that the
// outer ones have, so that nothing is lost when they are left out.
//
// Not guaranteed: that a definition's own Fork or RetryPolicy is told from one that was written
// for a timeout or a retry, if it is of exactly that form: the two mean the same.
//
// Concurrency: the functions keep no state, and change no activity.
package wrap
