// Package activities holds the built-in activities, one file each: its
// descriptor, which the notations, the compiler and editors read, and its code.
//
// Guaranteed: every activity checks at compile time what can be known then, has
// no state outside its execution, ends when its context ends, and reaches the
// outside only through what the burst gives it. Not guaranteed: that an
// outside effect happens once; SendHttpRequest hands its execution's
// idempotency key to the other side.
//
// [Default] gives a registry with all of them. Programs that embed Weft add
// their own with [engine.Registry.Register] or [Register].
package activities
