// Package instancefiles gives the bursts of an instance the files that lie beside it, and those of its parent and of its
// children.
//
// Guaranteed: a file of any other instance is neither read nor confirmed to be there, however its reference came to the
// instance: a value that looks like one may come from anybody. Not guaranteed: that a file of a parent or a child is there,
// which goes with that one.
package instancefiles
