// Package limits is what people set, and ask, of limits: how many may have a place at once, who has one, who waits.
//
// Guaranteed: what is set holds for every place that is given from then on. Who has a place keeps it, also where that is more
// than are allowed by now.
//
// Concurrency: all methods are safe for concurrent use.
package limits
