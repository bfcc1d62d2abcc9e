package main

// slow are the packages and tests that may take longer than their bound, and why.
var slow = map[string]string{
	"internal/upkeep.TestAnIdleNodeAsksForLittle":            "it waits for heartbeats at the TTL of a cluster",
	"internal/upkeep.TestTimersFireWhileEtcdIsSlow":          "its timer is due when all nodes have compared their clocks, at a TTL of 6 s",
	"internal/store/etcdstore.TestNoStimulusIsLostOrDoubled": "random cases against an etcd",
	"test/chaos":               "rounds of chaos, one after the other, as each wants the machine",
	"test/chaos.TestProcesses": "a round of chaos with real processes",
	"test/chaos.TestTheChecksSeeAStoreThatTrustsItsLock": "a round of chaos, until something goes wrong",
	"test/e2e":          "51 scenarios on clusters of three nodes",
	"test/loadbalancer": "real proxies, and drains as long as their health checks",
	"test/loadbalancer.TestNoRequestFailsWhileEveryNodeRestarts":                       "three drains of six seconds behind each proxy",
	"test/loadbalancer.TestANodeThatHangsCostsARequestWithAKeyTheTimeOfTheCheck":       "it waits until each proxy notices",
	"test/loadbalancer.TestANodeThatHangsCostsARequestWithAKeyTheTimeOfTheCheck/nginx": "nginx notices by requests only",
	"test/upgrade": "it builds the version before",
	"test/upgrade.TestEveryNodeIsReplacedUnderLoad":                  "nodes of two versions, replaced one by one under load",
	"pkg/node.TestAFullStoreRefusesStartsThenAllButEndsAndComesBack": "it fills an etcd to its quota",
	"pkg/node.TestRetentionKeepsTheStoreFromFillingUp":               "it fills an etcd to its quota",
	"test/e2e.TestBulkWorkNeverFillsEtcd/one_of_three_members":       "it fills an etcd to its quota",
	"test/e2e.TestBulkWorkNeverFillsEtcd/embedded":                   "it fills an etcd to its quota",
	"test/e2e.TestTheWidestInstanceGoesEveryWay":                     "all that can be done to a wide instance, one after the other",
	"pkg/cluster.TestSlowWritesOfLiveNodesAreNoWrongClock/30s":       "several heartbeats, each slow",
	"pkg/cluster.TestSlowWritesOfLiveNodesAreNoWrongClock/-30s":      "several heartbeats, each slow",
	"pkg/cluster.TestSlowWritesOfLiveNodesAreNoWrongClock/0s":        "several heartbeats, each slow",
}
