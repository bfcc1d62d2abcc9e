// Command compose runs the project's docker-compose.yml, unchanged, and breaks
// things in it: it kills a node, cuts one off its network, restarts the leader
// of etcd and drains a node, under load, and checks after each what users were
// promised.
//
//	make compose-test
//	go run ./test/compose [-keep] [-images]
//
// No container registry is needed. Images that are not there are built here,
// under the names that the file uses: etcd from its Go module, HAProxy and
// Prometheus from Debian's packages of this machine, the node from the binary
// that this machine builds. Grafana alone has no stand-in and is left out. An
// image that is there already is used as it is, also if it was made elsewhere; -images builds
// every stand-in again.
//
// Guaranteed: what it starts has its own project name and ports on 127.0.0.1
// that were free, and is gone afterwards, volumes too, unless -keep is given.
// Not guaranteed: that the real images behave as the stand-ins do; the versions
// of Debian's HAProxy and Prometheus are older than those in the file.
package main
