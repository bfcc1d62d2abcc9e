// Package format gives the sources of definitions and of their tests one form.
//
// Guaranteed: what comes out reads as what went in (the same values, the same definition), has
// each comment once more, and is not changed by formatting it again. All that stands in a line
// stays as its author wrote it: quotes, how a number is written, what is in braces, the distance
// of a comment. What is not so is not given out: it is an error, and the source stays.
//
// What changes: lists and mappings are indented by two, lists below their key too; the keys of
// what a definition is made of are in the order of docs/notation.md, with the comments above
// them; one space is behind a colon or a dash; there is no blank at the end of a line, no two
// empty lines, and one line break at the end; all lines end as the first one does, and a byte
// order mark goes. A comment of its own line is indented as what is
// below it, or as what it stood below if it was indented so. A file with anchors keeps its
// order: what is repeated must come first.
//
// JSON is indented by two, and keeps its order and its numbers as they are written.
//
// Not guaranteed: that a source is a definition. Only its notation must be right.
//
// Concurrency: the functions keep no state.
package format
