// Package forms gives values the form that a type alias of a definition names: Int32, TimeSpan, String[].
//
// Guaranteed: what cannot be converted is an error that quotes the value and says what is wanted; nothing is
// rounded or cut silently.
//
// Concurrency: the functions keep no state.
package forms
