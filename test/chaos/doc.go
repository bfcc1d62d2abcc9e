// Package chaos tries to break Weft's guarantees: TestChaos runs several nodes in
// one process over one etcd, under load, while calls to etcd fail, are applied without an
// answer, late or twice, leases are revoked, watches drop, nodes die and come
// back. Everything that was asked and answered is recorded, and so is every
// change of every key; when the faults are over, checkers compare the two. The
// package has tests only.
//
//	go test ./test/chaos -run TestChaos -v -chaos.seed 7 -chaos.duration 60s
//	go test ./test/chaos -run TestChaos -v -chaos.rounds 10        (make chaos)
//	go test ./test/chaos -run TestProcesses -v -chaos.rounds 10    (make chaos-processes)
//
// TestProcesses does the same to real processes: nodes over HTTP and three
// members of etcd, which are this test binary, are killed, stopped and cut off,
// at random and at chosen points. The load, the history and the checks are the
// same. It also measures how long each takeover took.
//
// Guaranteed: a seed decides what is asked, which node is asked, which nodes
// die when, and the stream of draws by which calls are spoiled. A run says its
// seed, and a run in which a counter of docs/verification.md's list stayed at
// zero does not pass.
//
// Not guaranteed: that a seed gives the same interleaving twice. Goroutines and
// the disk are not under its control; a finding comes back with a seed in most
// runs, not in all. And a machine that is too slow proves nothing: a run whose
// own clock was held up (see pulse) is invalid, neither passed nor failed.
//
// # How effects are counted
//
// Each event carries a token of its own, and the workflow that takes it writes
// it with WriteLine. So the journals tell how often an event took effect, on
// which instance. An acknowledged event is to be found once, in a journal, the
// queue or a dead letter; one whose outcome is unknown at most once; a refused
// one never.
package chaos
