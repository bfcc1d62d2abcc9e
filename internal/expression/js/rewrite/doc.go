// Package rewrite reads scripts, and rewrites what a run could not bound: additions of texts, templates, computed keys
// and lists that are spread become calls, which the run measures.
//
// Guaranteed: a script means the same, and its places stay those of its author. It runs no script, and it is for
// internal/expression/js alone.
package rewrite
