// Package files is what workflows know of files: what an HTTP endpoint asks of those that it takes, and how a value refers
// to one that lies beside an instance.
//
// Guaranteed: a value that a [Ref] gave is read as the same one. Not guaranteed: that a value which is read as one was given by any; who
// reads a file asks whether its instance may.
package files
