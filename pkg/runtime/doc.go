// Package runtime accepts stimuli and starts, finds out who they are for, and
// delivers them. It is the front of a node: what callers ask for goes through it,
// and through it internal/upkeep delivers what was accepted earlier.
//
// Guaranteed: an answer without "accepted" is about something committed; an
// accepted one is durable and will take effect exactly once on each instance it
// is for, or become a visible dead letter; an error means that the caller may
// repeat with the same Idempotency-Key. Not guaranteed: an order between
// different stimuli, nor that a stimulus without a key which got no answer was
// not applied. Nor does anything go on by itself: what is accepted waits for the
// upkeep of some node.
//
// # Parts
//
// A [Runtime] is its parts, and each has one job:
//
//	Starts      starts instances; what a start is to do is a plan
//	Events      finds out who a stimulus is for; one call of it is a delivery
//	Outbox      delivers what was accepted earlier, for the node's upkeep
//	Endpoints   hands over HTTP requests, which internal/endpoint finds the place of
//	Bookmarks   resumes at a bookmark that the caller names
//	Commands    gives an instance a command: cancel, delete, retry, import (commands)
//	Letters     brings back, or forgets, what could not be done (repair)
//	Jobs        gives a command to all instances of a filter (job)
//	Pauses      sets the flag that stops the cluster
//
// What they share is in front, also the way of a command to its instance: in hand, or through its
// mailbox. Reads are internal/inspect, what became of a command internal/answers, and what a
// node may take up internal/intake.
//
// # Concurrency
//
// All methods are safe for concurrent use and run on the goroutine that calls. Each
// transaction compares what it acts on, so two nodes that deliver one thing do it
// once.
package runtime
