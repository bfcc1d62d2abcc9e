// Package engine runs one workflow instance from a snapshot and a command to
// its next wait. It knows nothing of storage, locks or other nodes.
//
// Guaranteed: the same program, header, state, commands, [Env] answers and order of what calls
// beside each other come back give the same bytes of [Result]; ids made inside a burst derive from the instance,
// the command and the activity, so a repeated burst makes the same ids; with the
// same [Execution.IdempotencyKey] an activity and its expressions are told the
// same time and draw the same ids and random numbers ([Execution.Now]), also in a
// repeat at another time, as an operator's retry, and as an attempt of a retry; a
// panic, an endless loop or a bad expression of a workflow ends in an incident
// of that instance and harms no other; a bookmark is burned by the command that
// resumes it, before the activity runs. Not guaranteed: that side effects of
// activities happen once. A burst whose commit fails is repeated, so activities
// pass [Execution.IdempotencyKey] to the services that they call.
//
// # How it works
//
// [Compile] turns a definition into a [Program]: an immutable tree of [Node]s
// with compiled expressions, constants already converted, and everything that
// is wrong reported as [workflow.Problems]. [New] or [Load] makes a [Burst]. A
// burst holds a tree of live [Execution]s (one per running activity) and a
// first-in-first-out schedule of work. Each piece of work runs one activity;
// when an execution has no children, no scheduled work and no bookmarks left it
// completes, and its parent is told at once. [Burst.Result] says what a commit
// has to make durable.
//
// # Numbers
//
// Values are JSON-like, with numbers as [workflow.Number] has them: an int64, a
// float64 or, beyond both, a json.Number. Every encoding keeps that exactly. NaN
// and infinities become null, as they do in JSON.
//
// # Concurrency
//
// A [Program] and a [Registry] that is no longer changed are safe for
// concurrent use. A [Burst] belongs to one goroutine, apart from
// [Burst.Interrupt]. Activities are shared between bursts and keep their state
// in the execution ([Scratch]). Those that call may run on goroutines of the burst, one at a time ([Outside]).
package engine
