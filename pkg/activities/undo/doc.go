// Package undo has what undoes: the scope, which does it when it fails or the instance is cancelled, and
// compensate, which does it by hand. What is undone are steps: activities that are done and have an undo.
//
// Guaranteed: of the steps of a scope the last one is undone first, one after the other. What undoes is an activity like
// any other: it is in the commits, a node that dies loses and repeats nothing of it but by the same Idempotency-Key, and
// when it fails, that is an incident at which the rest stops; a retry goes on there. A scope or a compensate that ends
// otherwise hands what it has not undone to the scope around it.
//
// Not guaranteed: that what failed, or was interrupted, had no effect. Only what is done is undone.
//
// What they remember is [State].
package undo
