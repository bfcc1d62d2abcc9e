// Package write writes definitions in the short YAML. Package yaml is its door.
//
// Guaranteed: equal definitions give equal bytes. What it writes is read as an equal definition,
// up to what YAML leaves out: package yaml says what that is.
//
// Not guaranteed: the text that a definition was read from. Comments, and the order and form that
// an author chose, are not kept.
//
// Concurrency: the functions keep no state, and change no definition.
package write
