// Package work are the routes of workers outside: they list tasks, claim them, say how far they are, and report what came of them.
//
// Guaranteed: what a worker asks for is within bounds, or refused with its place. It holds no state and starts no
// goroutine; who may call which route, and what each answers, stands in its table.
package work
