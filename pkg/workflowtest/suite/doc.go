// Package suite reads test files of workflows and runs their cases, each in a trial of its own;
// docs/testing.md describes the form of a file, and [Schema] tells it to editors.
//
// Guaranteed: every mistake in a file is told, with its line, before the first case runs; each
// difference is told with the line of the file that is nearest to it. A test that was sent
// ([RunSent]) reads no file, ends with its context, and what is told of it has a bound.
//
// Not guaranteed: that a file outside of [RunSent] comes to an end soon, or is small: it is run
// by whom it belongs to.
//
// # Concurrency
//
// The functions keep no state.
package suite
