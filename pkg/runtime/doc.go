// Package runtime accepts stimuli and starts, finds out who they are for, and
// delivers them; its workers move what waits: mailboxes, timers, schedules, send
// records and the bookmark queue.
//
// Guaranteed: an answer without "accepted" is about something committed; an
// accepted one is durable and will take effect exactly once on each instance it
// is for, or become a visible dead letter; an error means that the caller may
// repeat with the same Idempotency-Key. Not guaranteed: an order between
// different stimuli, nor that a stimulus without a key which got no answer was
// not applied.
//
// # Concurrency
//
// All methods are safe for concurrent use. [Runtime.Run] owns every worker and
// waits for them. Which node works on what is a matter of efficiency only
// (rendezvous hashing); each transaction compares what it acts on, so two
// workers on one thing do it once.
package runtime
