// Package limited has the activity that runs its body while it has a place of a limit.
//
// Guaranteed: the body begins only after the place was given, and the place goes with the activity, however that ends:
// so it is never given back while the body runs, and never kept when it does not.
//
// Not guaranteed: that a body which failed goes on where it failed. A retry waits for a place again, and runs it from its beginning.
package limited
