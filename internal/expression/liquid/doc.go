// Package liquid renders Liquid templates. Their result is text.
//
// Guaranteed and not guaranteed is what internal/expression says of all languages; the
// bounds are below. Any number of goroutines may use an [Evaluator] and what it
// compiles; a scope is used by one.
//
// The names are those of Expr where they are not functions,
// now, and Elsa's Variables, Input, WorkflowInstanceId, CorrelationId and so on.
// Objects are written as JSON. There is no include; a range can only be what a
// for loop runs over; "now" is not a date, the variable now is. All that is written
// is counted, in variables too; filters take and give at most 1 MiB of text and
// 100,000 elements.
package liquid
