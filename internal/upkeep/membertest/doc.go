// Package membertest starts nodes without HTTP, wired as pkg/node does it, over one
// etcd: for the tests of pkg/runtime, of internal/upkeep and of what pkg/runtime asks,
// which need all of them.
//
// It guarantees that a node has left when its test ends. Nothing of it is for
// programs.
package membertest
