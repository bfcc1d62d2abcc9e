// Package health asks etcd how it is: its members, their versions and alarms, and how long a read takes that most of them confirm.
//
// Guaranteed: an answer within 2 s, which says of each member that is silent that it is. Not guaranteed: that etcd is so a moment later.
package health
