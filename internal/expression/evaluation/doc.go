// Package evaluation is what the languages of expressions share: the form of a
// value that goes in or comes out, the error with its place, the limits with their
// defaults, secrets and links, and what a pattern costs.
//
// Guaranteed: [Clean] gives a JSON-like copy that is no larger than its limit and no
// deeper than [MaxDepth], or an error, of any value, also of one that contains
// itself. An [Error] has a place as soon as the text has one.
//
// Not guaranteed: anything about time. Who may run, and for how long, is in
// internal/expression/turns. Everything here is safe for concurrent use, but a [Gauge].
//
// It is for the languages below internal/expression; others use internal/expression.
package evaluation
