// Package notation has what reading, writing and the schema of the short YAML agree on: the
// names of keys, types, options and kinds of expressions, the ids that are derived, and what the
// notation leaves out.
//
// Guaranteed: one name stands in one place. [Scope] derives the same id for who reads and for
// who writes, as long as both meet the activities in the order of the text. [CleanID] gives what
// an id may be.
//
// Not guaranteed: that a text keeps to it; package read reports what does not. The tables are
// for reading, and may not be changed.
//
// Concurrency: the functions keep no state; a Scope belongs to who made it.
package notation
