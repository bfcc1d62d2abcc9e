// Package workflow is the domain of Weft, pure: definitions and their activity
// trees, instances, bookmarks, stimuli and their hashes, commands and the
// journal.
//
// Guaranteed: nothing here reads a clock, makes a random value, or does I/O;
// equal values give equal hashes and equal encodings. Not guaranteed: that a
// [Definition] makes sense. The notations (packages yaml and elsajson) build
// definitions, and the engine's compiler checks them; both report [Problem]s
// with their places.
//
// Concurrency: values are plain data without locks. A *Definition is treated
// as immutable once it is compiled.
package workflow
