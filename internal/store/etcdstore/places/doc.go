// Package places gives the places of limits: at most as many of a line at once as its limit says, in the whole cluster.
//
// A place is a key, named by the bookmark that has it, and goes with that. One is put only together with the head of its
// line, by who compares that the head is as it was when the places were counted, and that the limit is. So between the
// count and the place nobody was given one, some may have gone, and the sum is never above the limit, also when something comes late or twice.
//
// Guaranteed: of a line those who wait are given places by priority, and then by when they came, as the clocks of their nodes had it:
// of those that were in line when who gives them looked.
// A commit takes a place by itself only where nobody waits ([Places.Takes]).
//
// Not guaranteed: that a free place is given at once if the node ends that freed it: a sweep finds it.
//
// Concurrency: all methods are safe for concurrent use.
package places
