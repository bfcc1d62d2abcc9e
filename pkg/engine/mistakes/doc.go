// Package mistakes says what is wrong with the names in an expression that compiles, and what was probably meant.
//
// Guaranteed: a name that may be right is no mistake.
//
// Concurrency: a [Names] may be asked from several goroutines, as long as nothing is added to it.
package mistakes
