// Package job gives a command to all instances of a filter. A job is durable, and any node
// works it, a page at a time.
//
// Guaranteed: an instance that its filter takes when the job is made gets the command once, or its refusal is
// counted, with the first of them by name. Not guaranteed: an order; nor that an instance still fits when its turn comes.
//
// A job is worked by the node's upkeep, which calls [Jobs.WorkJob].
package job
