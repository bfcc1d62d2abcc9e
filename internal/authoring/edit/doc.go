// Package edit changes the source of a definition as somebody does who points at
// its picture: insert, delete, move, wrap, set an input, connect; and the same for cases of a
// switch, states of a machine and their transitions.
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
// edited. In Elsa's JSON a branch holds one activity, so that a second one makes a sequence
// of it.
//
// Cost: a text is read once before the edits and once after each, in time that grows as its
// size does.
//
// Concurrency: the functions keep no state.
package edit
