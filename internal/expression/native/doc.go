// Package native evaluates Expr: trees of values whose texts hold ${{ }}, in the
// language of expr-lang.
//
// Guaranteed and not guaranteed is what internal/expression says of all languages; the
// bounds are below. Any number of goroutines may use an [Evaluator] and what it
// compiles; a scope is used by one.
//
// The value is a tree. A text that is one ${{ }} keeps the type of the result;
// in other texts nil is nothing, numbers are plain, lists and objects are JSON.
// $${{ stands for ${{. The names are inputs.X, variables.X (nil if there is no
// X; names are case-sensitive), outputs(activity[, name]), lastResult,
// instanceId, correlationId, definitionId, version, name, secrets.NAME (an error
// if there is none), now(), newId() and resumeUrl(activity[, outcome[, life]]); other names are refused when the
// expression is compiled. Fields of nil are an error, unless read by ?. as in
// variables.decision?.by.
//
// Expr has no interrupt and no loops but those over lists. Every round of a
// loop, and everything that makes a list, an object or a text, reports to the
// evaluation: 64 MiB in all, counting a shared part as often as it is met, one
// million list elements, 2000 nodes of syntax. Regular expressions are weighed
// before they run. Time may be exceeded by one step over the largest list.
package native
