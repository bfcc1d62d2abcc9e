package main

import "time"

// pass is one part of a run: options that differ from those of the others.
type pass struct {
	name string
	options
}

// setups are the combinations of a pass.
func (p pass) setups() (out []setup) {
	for _, etcd := range p.etcd {
		for _, transport := range p.transport {
			for _, group := range p.group {
				for _, nodes := range p.nodes {
					out = append(out, setup{Etcd: etcd, Transport: transport, Group: group, Nodes: nodes})
				}
			}
		}
	}
	return out
}

// Names of passes; docs.go finds their points by them.
const (
	passMain   = "main"
	passHTTP   = "http"
	passGroup  = "group"
	passEtcd   = "etcd"
	passNodes  = "nodes"
	passMemory = "memory"
	passShards = "shards"

	passMillion = "million"
)

// million is how many suspended instances the run about scale makes, and
// rateOfResumes how many it resumes a second in the end.
const (
	million       = 1_000_000
	rateOfResumes = 1000
)

// planMillion is a run about scale: instances that a node starts over HTTP until a
// million wait.
func planMillion(o options) []pass {
	o.workloads, o.concurrency, o.etcd, o.transport, o.commit, o.group, o.nodes = []string{"W4"}, []int{64}, []string{"one"}, []string{"http"}, []string{"burst"}, []string{"on"}, []int{1}
	o.duration, o.instances, o.rate, o.raw = 3*time.Second, million, rateOfResumes, false
	if o.quick {
		o.instances = million / 100
	}
	return []pass{{passMillion, o}}
}

// plan is the whole run: about 12 minutes on two processors; quick about 4, with
// less of everything and without the pass over shards.
func plan(o options) []pass {
	o.etcd, o.transport, o.commit, o.group, o.nodes = []string{"one"}, []string{"inprocess"}, []string{"burst"}, []string{"on"}, []int{1}
	o.duration, o.timers, o.instances, o.raw = 3*time.Second, 10_000, 100_000, false
	all, few := []int{1, 16, 64, 256}, []int{1, 64, 256}
	if o.quick {
		o.duration, o.timers, o.instances = time.Second, 2000, 10_000
		all, few = []int{1, 64, 256}, []int{256}
	}
	with := func(name string, change func(*options)) pass {
		p := pass{name, o}
		change(&p.options)
		return p
	}
	passes := []pass{
		with(passMain, func(o *options) {
			o.workloads, o.concurrency, o.commit, o.raw = []string{"W1", "W2", threeCalls, threeCallsSlow, "W3", "W6", "W7", "W4", "W5"}, all, []string{"burst", "joined", "activity"}, true
			o.instances /= 5
		}),
		with(passHTTP, func(o *options) {
			o.workloads, o.concurrency, o.transport = []string{"W1", "W2", "W3", "W6", "W7", "W5"}, all, []string{"http"}
		}),
		with(passMemory, func(o *options) {
			o.workloads, o.concurrency, o.transport = []string{"W4"}, []int{64}, []string{"http"}
		}),
		with(passGroup, func(o *options) {
			o.workloads, o.concurrency, o.group = []string{"W1", "W2", "W3"}, few, []string{"off"}
		}),
		with(passEtcd, func(o *options) {
			o.workloads, o.concurrency, o.etcd = []string{"W1", "W2"}, few, []string{embedded, "three"}
		}),
		with(passNodes, func(o *options) {
			o.workloads, o.concurrency, o.nodes = []string{"W1", "W2"}, []int{256}, []int{1, 2, 3}
		}),
	}
	if o.quick {
		return passes
	}
	return append(passes, with(passShards, func(o *options) {
		o.workloads, o.concurrency, o.nodes = []string{"timers", "queue"}, []int{64}, []int{3}
	}))
}
