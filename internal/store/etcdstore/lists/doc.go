// Package lists reads from etcd what there is: instances, where they wait, tasks, timers, what is queued and set aside, and
// what fills the store.
//
// Guaranteed: a page is of one revision, which it says, where it is of instances; each that stays while the pages are read is in one of
// them. Not guaranteed: that what comes or moves while pages are read is in one.
package lists
