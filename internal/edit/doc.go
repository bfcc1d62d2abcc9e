// Package edit changes the source of a definition as somebody does who points at
// its picture: insert, delete, move, wrap, set an input, connect.
//
// Guaranteed: an edit is a few splices of the source, at places that its syntax tree
// tells. What is not edited keeps each byte: comments, order, blank lines, quotes, line
// ends. After each edit the text is read again, and has to be the tree that the edit
// means; else the edit is refused with the place and the reason, and nothing is changed.
// A comment is never lost: one that stands right above an activity, at its column, goes
// with it, and an edit that would drop another one is refused. No input makes these
// functions panic; size, nesting and growth are those of the notations, and up to
// [MaxEdits] edits are made at once.
//
// Told and not refused: a reference that an edit leaves without its activity, or that means
// another activity than before, since ids that are not given come from the place. See
// [Result.Problems]. Other mistakes of the result are for a check of it.
//
// Not guaranteed: that the text could not be written better. What an alias repeats is not
// edited, nor are states and cases themselves, only the activities in them. In Elsa's
// JSON an activity cannot be wrapped, and a branch there holds one activity.
//
// Concurrency: the functions keep no state.
package edit
