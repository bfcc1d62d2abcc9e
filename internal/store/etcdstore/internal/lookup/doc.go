// Package lookup reads what several rooms of Weft's store have to know of instances, and writes their records:
// these may lie in parts; what waits is found by what a stimulus is; ranges that are looked at often are followed.
//
// Guaranteed: a look is of one revision, that at which it says it was, also where the range is followed; a record in
// parts is read whole, or the error says that it has moved. Not guaranteed: that what was found is still there, which is
// for the compares of who writes ([Match.Guard]).
package lookup
