// Package expression has the languages of the expressions in definitions: Literal,
// Object, Variable and Input, which are here, and Expr (the ${{ }} of YAML),
// JavaScript and Liquid, each in a package of its own, and C#, which is translated to JavaScript. [All] gives one evaluator
// for each; Python is not evaluated.
//
// Guaranteed: an expression reads and changes the world only through its
// [engine.Scope]; none reaches files, the network, the environment, the clock
// or another evaluation. What it gives is a JSON-like copy that is no larger
// than Limits.Output. It ends: at Limits.Script, at its context's end, or when
// it takes too much memory, with an *[Error] that names its place. With the same
// scope, Expr and JavaScript give the same value each time, random numbers and
// ids included.
//
// Not guaranteed: that it ends at once, or within an exact amount of memory. The
// package of each language says what is bounded, and how closely. An author who may
// publish a definition is trusted not to attack the process with all means; these
// bounds are for mistakes and for the obvious attacks.
//
// # Values
//
// Values are nil, bool, string, []any, map[string]any and numbers, as
// [workflow.Number] has them; NaN and the infinities become nil, as in JSON. Times
// become RFC 3339 text in UTC. A number that is only handed on stays what it is.
// Functions, symbols, Map and Set, values that contain themselves, and nesting
// beyond 200 are errors. Properties that are undefined are left out. What
// Eval gives for a constant is shared; it must not be changed.
//
// # Rooms
//
// A language knows no other, but C#, which stands on JavaScript: [native], [js] and [liquid] stand on two leaves,
// [evaluation] (what all of them share: values, errors, limits) and [turns] (who of
// those that take long may run). So one of them can be tested, fuzzed, measured or
// replaced alone.
//
// # Concurrency
//
// Evaluators and what they compile are safe for concurrent use. A scope is used
// by one evaluation, on its goroutine.
package expression
