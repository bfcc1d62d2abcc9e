// Package crash runs a test of a workflow again and again, and has a node fail once in each run: at another point, in
// another way.
//
// Guaranteed: the points are all at which the run without a failure calls the outside (before a call, after it was made
// and before its answer is read, after its answer) or saves, up to [MaxRuns] runs; each is taken with each kind of
// failure that it may have, on the real engine, from what was saved; and the same test gives the same report.
//
// Not guaranteed: what the cluster does for a node that fails (locks, fences, receipts; docs/verification.md says how
// that is shown), and what two failures do together. The clock of the test stands still while a node is
// away. A call is judged by what it says and by its Idempotency-Key: whether the other side heeds that is not known here.
package crash
