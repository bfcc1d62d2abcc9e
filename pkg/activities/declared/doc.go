// Package declared has the activity types that files declare and that workers do: a file says the inputs, outputs and outcomes of
// a type, and an activity of it waits for a worker as runTask does.
//
// Guaranteed: a type of a file is never one of the program's, and never two. What is kept of a declaration with a version of a
// definition runs that version on every node, also if the file is changed or gone. A result that does not fit its declaration is
// never taken as the activity's. No file makes the reader panic, and what it refuses has its line.
//
// Not guaranteed: that a worker got the payload which the present file describes. It is that of the version that runs.
//
// Concurrency: declarations and views do not change; [Types] is safe for concurrent use.
package declared
