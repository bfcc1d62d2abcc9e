// Package check finds mistakes in definitions before they run: names that nothing has,
// types that do not go together, ways that cannot be gone.
//
// [Definition] compiles a definition and looks over it. What is surely wrong is an
// error; what may be meant is a warning. In Elsa's JSON all that the compiler itself does
// not refuse is a warning: Elsa takes it.
//
// Guaranteed: a definition without mistakes gives no problem; one that has been checked
// once and gave no error compiles again on any node with the same activities. Not
// guaranteed: that a definition without a problem does what its author wants.
//
// It is for those who take definitions from authors: the catalogue when it publishes, and
// tests of workflows. A node that loads a stored version only compiles it, so that a
// check which is new stops nothing that runs. Everything here is safe for concurrent use.
package check
