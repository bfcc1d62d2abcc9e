// Package yaml reads and writes workflow definitions in Weft's short YAML, which
// docs/notation.md describes for people. An activity is a mapping with one key
// that names its type; a list is a Sequence.
//
// Guaranteed: [Read] reports every problem at once, each with line, column, the
// line itself with a caret, and the nearest name where one was mistyped. What
// [Write] writes, [Read] reads as an equal definition, up to what YAML leaves
// out (see below). Ids that are not given are derived from the place in the
// tree, so that they are stable as long as no sibling of the same type before
// them comes or goes. No input makes these functions panic; size, nesting,
// number of activities and the growth by aliases are limited.
//
// Not guaranteed: that what was read makes sense; the engine's compiler checks
// required inputs, variables, expressions and graphs. YAML leaves out what only
// Elsa's designer needs: version numbers, positions on the canvas, ids of
// variables that have names, unknown fields (Extra). Comments are not kept.
//
// This package is the door. Its rooms: notation has the names, keys and ids that the others
// agree on, wrap the activities around one with a timeout or a retry, tree reads the text
// as nodes, read makes definitions of them, write goes the way back, and schema tells editors.
//
// Concurrency: the functions keep no state.
package yaml
