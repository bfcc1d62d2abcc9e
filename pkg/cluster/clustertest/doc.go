// Package clustertest gives tests a real etcd in the test process, and ways to
// make it misbehave: [Faults] spoils calls of one client by rule, [Proxy] cuts
// its network.
//
//	func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
//
//	etcd := clustertest.Shared(t)       // one per test binary
//	client := etcd.Client(t)            // closed with the test
//	name := clustertest.Namespace(t)    // a cluster name of its own
//
// The etcd runs without fsync and with fast elections: it is for behaviour, not
// for durability or measurements.
package clustertest
