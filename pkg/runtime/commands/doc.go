// Package commands gives one instance the commands that are not for a bookmark: cancel, delete,
// retry, alter and import, and tells what an alteration would do.
//
// Guaranteed: a command that was answered as accepted is durable and takes effect once; what is only looked at
// changes nothing. Not guaranteed: that the instance is still as a preview saw it when the command comes.
package commands
