// Package sql has the activities that ask and change databases.
//
// Guaranteed: no value becomes a part of the text of a statement. What stands in ${{ }} or, as Elsa writes it, in {{ }},
// is a parameter, and a text that is computed is refused at publishing. Each statement runs in a transaction of its own:
// where the fault is not sql-unknown, it took effect as a whole or not at all. A command with once takes effect once
// for each call, also where it is repeated, since its transaction writes the call's key into the database. The text of a
// connection comes from a secret, and stands in no error. Pools are bounded, and [Databases.Close] waits for what runs.
//
// Not guaranteed: that a command without once takes effect once. Where the answer to a commit is lost, or a node dies
// before its own commit, the command runs again.
//
// A [Databases] is safe for concurrent use.
package sql
