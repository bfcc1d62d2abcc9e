// Package text is a source that is edited, with the tree of its values and where each stands:
// what is put in, cut and moved is a [Draft], which has the splices of the text and the tree
// that they mean.
//
// Guaranteed: a tree of YAML or JSON tells the bytes of each value; what is written in a way
// that cannot be followed is an error with its place, and no tree. A draft changes the text
// only where its splices are, and each of its methods changes the tree in the same way.
// A [RefusalError] has the place and the reason.
//
// Not guaranteed: that the text after the splices has the tree that they mean. Who makes an
// edit reads it again and compares ([Same], [Repeated], [Draft.Dropped]).
//
// Concurrency: a draft belongs to one goroutine.
package text
