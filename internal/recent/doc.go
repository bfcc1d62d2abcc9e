// Package recent remembers which events a node has sent lately, and what became of them, for
// who asks why an instance waits.
//
// Not guaranteed: completeness. A node remembers its last [Most] events since it started, and
// nothing of that is durable: a queue item or a dead letter is, and the journal of an instance.
//
// All methods are safe for concurrent use, and do not wait.
package recent
