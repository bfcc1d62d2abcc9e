// Package turns decides which of the expressions that take long may run. There is
// one set of places in a process, as there is one set of processors.
//
// Guaranteed: what runs for more than [QuickTime] has a place; there is one fewer
// than processors, and at least one. Scripts that are not known for that have places
// beside them. Places go to the definition whose scripts have used the least time,
// so that however many of one definition wait, those of another have their share.
// Waiting ends with the context and does not count as time.
//
// Not guaranteed: that time is exact. On Linux a script's time is its own
// processor time, elsewhere the wall's ([OwnTime]).
//
// JavaScript takes a [Turn] before it runs. The languages that can wait in their
// midst use a [Pace], and pay nothing while they are short. A [Turn] and a [Pace]
// are used by one goroutine.
package turns
