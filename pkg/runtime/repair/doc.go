// Package repair brings back what could not be done, dead letters, and what waits for a
// target in the queue: it sends them again, as they were or edited, or forgets them.
//
// Guaranteed: each is taken once, however often and by however many it is asked for; what was sent again is
// durable before it is taken away. What is only tried changes nothing.
package repair
