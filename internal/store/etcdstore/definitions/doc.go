// Package definitions keeps workflow definitions in etcd, their versions, and the triggers, routes and schedules of
// what is published.
//
// Guaranteed: a head moves only from how it was read, and a repeat after a lost answer finds its own write; a version is
// written once, and goes only while nothing that was looked for uses it. Not guaranteed: that lists are of one revision over their
// pages.
package definitions
