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
// # Concurrency
//
// All methods are safe for concurrent use and run on the goroutine that calls. Each
// transaction compares what it acts on, so two nodes that deliver one thing do it
// once.
package runtime
