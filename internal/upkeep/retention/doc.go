// Package retention deletes what has ended: finished instances, dead letters, answers to
// callers' keys, and versions of definitions that nothing needs.
//
// It guarantees that nothing goes before it is as old as it has to be, by the age of the
// cluster and no wall clock, and that two nodes at once delete nothing that may not go. It
// does not guarantee when, nor that a limit is never passed: it is kept to within a sweep,
// and shared out over the shards.
package retention
