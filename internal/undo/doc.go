// Package undo remembers what has to be undone, and undoes it, last one first.
//
// It guarantees that every step is tried, also after one has failed, and that a step
// that does not return in the given time is named in the error. It does not end such a
// step: its goroutine stays behind.
package undo
