// Package membertest starts nodes without HTTP, wired as pkg/node does it, over one
// etcd: for the tests of pkg/runtime and of internal/upkeep, which need both.
//
// It guarantees that a node has left when its test ends. Nothing of it is for
// programs.
package membertest
