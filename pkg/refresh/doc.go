// Package refresh brings definitions up to date: a [Refresher] indexes the
// triggers of stored definitions again, a [Reloader] reads definitions from a
// directory again. Each has a local form that does it, and a distributed one
// that does it on one node at a time.
//
// Guaranteed: a definition's triggers, cron keys and routes are replaced in one
// transaction that compares its head, so with any number of refreshes, reloads
// and publications at once a stimulus sees one version's triggers, whole, and
// no older content replaces a newer one. That holds without any lock.
//
// Not guaranteed: that the same work is not done twice. The lock is advice that
// saves work: a refresh of the same set of definitions, listed in any order,
// is done by one node while others answer [AlreadyInProgress] with
// its name. Sets that merely overlap, and "all", have other locks, do not wait
// for each other, and may index one definition twice, which does no harm. A
// holder that dies frees its lock with its lease; what it had not done yet is
// left for the next refresh.
//
// # Reading a directory
//
// Files ending in .yaml, .yml and .json are read, in all directories below, but
// for names that begin with a dot. Links are followed to files as long as they
// stay inside; links to directories are not. Content that was ever published
// under its id is not published again. A bad file is told with every problem
// and its place, and does not stop the others.
//
// # Concurrency
//
// All methods may be called from any goroutine. Nothing waits for a lock.
package refresh
