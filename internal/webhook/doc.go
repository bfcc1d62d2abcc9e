// Package webhook tells other systems, by requests that are signed, that instances have ended
// or have incidents, and that dead letters came to be.
//
// Each webhook is told by one node, the one preferred for it. It takes what there is to tell
// from keys that commits write anyway (docs/decisions/0009), and of incidents from notes that
// commits leave where a webhook wants them; what was not taken is kept in etcd and tried again, later and later, for a day.
//
// Guaranteed: each event of a webhook that is not paused, and whose keys etcd has not
// forgotten, is told at least once, also after the end of the node that told it; the same event has the same id.
// After a compaction that nobody has told up to, what is still there is told. Nothing is
// connected to that outgoing.NewClient refuses, no redirect is followed, and no value of a
// secret is in a request, a record, a log or a metric.
//
// Not guaranteed: order; that an event is told once; that the instance in it is as it was at
// the event, once etcd has forgotten that.
//
// # Concurrency
//
// A [Webhooks] is safe for any number of goroutines. [Webhooks.Run] owns one for each
// webhook that this node tells, and waits for them.
package webhook
