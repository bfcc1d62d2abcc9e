// Package schedule says when the schedules of definitions occur.
//
// Its functions are pure: equal arguments give equal results, on each node. They do not know
// whether an occurrence was started, nor which catch-up policy a definition has.
package schedule
