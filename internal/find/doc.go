// Package find says which instances are looked for: as a [Filter], and as the line that
// people type for it, such as
//
//	status:faulted def:order-approval created<2h waits:event/approved label.customer:acme
//
// [Parse] reads a line and [Filter.String] writes one, so that a filter can be kept, shown
// and sent as text: what one program has written another one reads as the same filter. The
// command line, the console, GET /instances and alterations have the same words.
//
// # The line
//
// Words stand apart by spaces, and all of them hold. Each is a name, an operator and a
// value; a value with a space or a quote in it is quoted, with \" and \\ inside. A word
// that begins with - must not hold. What cannot be read is told with its column, all of it
// at once, and with the word that was probably meant.
//
// A duration is how long ago: created<2h are those of the last two hours, created>1d those
// that are older than a day. It stays a duration in the filter until [Filter.Resolve] is
// told what time it is.
//
// sort: says in which order they are listed, and selects nothing.
//
// Nothing here reads, waits or knows a clock.
package find
