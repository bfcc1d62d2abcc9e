// Package dev is weft dev: a cluster on this machine, for as long as somebody writes workflows.
//
// The first node and its etcd run in this process, and any further ones in processes of their
// own, so that each of these can be killed or stopped as if its machine had died. They end when this process
// does, however it ends: each reads its standard input, whose other end is here.
//
// A directory is looked through every quarter of a second; what has changed and stays the same for one
// look is published, with the problems that the node finds. What is watched is files and not
// notices of the system, which network drives and containers do not give.
package dev
