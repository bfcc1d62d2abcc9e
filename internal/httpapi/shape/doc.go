// Package shape has the shapes of the outward contract that several handlers answer with,
// and makes them of what the node knows: an instance, a definition, a node, what a stimulus did.
//
// A shape is part of the contract: a field that is added is a change that clients see, and one
// that goes breaks them. What only one handler answers with stands beside it. No stored struct is
// ever a shape, so that what is kept may change.
package shape
