// Package activity knows where the activities of a definition stand in its source, writes new
// ones, and sets their inputs and keys.
//
// Guaranteed: each [Site] is the one place where its activity is written; what an alias repeats
// is found, and counted, and not given by [Sites.Find]. A new activity has a known type,
// inputs of that, and an id that no other one has.
//
// Not guaranteed: anything about what stands between activities, which is of packages flow and
// part, or about where an activity may go, which is of package edit.
//
// Concurrency: sites do not change; a [Change] belongs to one goroutine.
package activity
