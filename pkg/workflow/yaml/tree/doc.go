// Package tree reads a text in YAML as nodes and values, with problems at their places. It
// knows no activity.
//
// Guaranteed: no text makes it panic; nesting and the growth by aliases are limited. What
// [Source.Parse] gives has no aliases, unless the source is over a limit, and the entries of
// [Source.Pairs] have no key twice. Every problem has a line and a column.
//
// Not guaranteed: a value where a problem was reported; it is then what is nearest, or empty.
// Comments are not kept.
//
// Concurrency: a [Source] belongs to one goroutine.
package tree
