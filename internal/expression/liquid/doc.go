// Package liquid renders Liquid templates. Their result is text.
//
// Guaranteed and not guaranteed is what internal/expression says of all languages; the
// bounds are below. Any number of goroutines may use an [Evaluator] and what it
// compiles; a scope is used by one.
//
// The names are those of Expr where they are not functions,
// now, and Elsa's Variables, Input, WorkflowInstanceId, CorrelationId and so on.
// The language is that of Shopify's Liquid, whose own run of some 600 templates is
// testdata/originals.json; docs/expressions.md has what differs. The members of an object
// have the order of their names, and an object is written as JSON. There is no include;
// "now" is the time of the scope. All that is written is counted, in variables too;
// filters take and give at most 1 MiB of text and 100,000 elements, and a range becomes
// a list of no more.
//
// A template is read once into nodes and expressions: tokens, then parse; rendering
// walks the nodes.
package liquid
