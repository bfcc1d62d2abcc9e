// Command etcds runs nodes over real members of etcd of several versions, and does to the members what operators
// do: they are replaced by the next version one after the other, a learner joins and becomes a member, access control
// is turned on. All of it happens under load.
//
//	make etcds
//	go run ./test/etcds [-versions 3.5.35,3.6.16,3.7.3] [-auth before|during|never]
//
// It needs the module proxy: it builds each version from its module. What it saw stands in docs/operations/etcd.md.
//
// Guaranteed: it fails if an instance whose start was answered is not finished in the end, if an activity of one ran
// twice, if a request is refused for longer than a client repeats it, or if a node ends. What it starts listens on
// 127.0.0.1, and is gone afterwards.
//
// Not guaranteed: that the disk of a member is as slow as a real one, or that members on several machines behave so.
package main
