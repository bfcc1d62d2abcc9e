// Package jobs keeps in etcd what is done to many instances, and gives each of them its command.
//
// Guaranteed: a job is written by who read it as it is, a repeat after a lost answer finds its
// own write, and a command is given only while its job is as it was read. Not guaranteed: that
// an instance takes the command, or that a list of jobs is of one revision over its pages.
package jobs
