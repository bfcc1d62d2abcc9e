// Package expression compiles and evaluates the expressions of definitions:
// Literal, Object, Variable, Input, Expr (the ${{ }} of YAML), JavaScript and
// Liquid. [All] gives one evaluator for each; C# and Python are not evaluated.
//
// Guaranteed: an expression reads and changes the world only through its
// [engine.Scope]; none reaches files, the network, the environment, the clock
// or another evaluation. What it gives is a JSON-like copy that is no larger
// than Limits.Output. It ends: at Limits.Script, at its context's end, or when
// it takes too much memory, with an *[Error] that names its place. With the same
// scope, Expr and JavaScript give the same value each time, random numbers and
// ids included.
//
// Not guaranteed: that it ends at once, or within an exact amount of memory. See
// below for what is bounded, and how closely. Whoever may publish a definition
// is trusted not to attack the process with all means; these bounds are for
// mistakes and for the obvious attacks.
//
// # Values
//
// Values are nil, bool, string, []any, map[string]any and numbers, as
// [workflow.Number] has them; NaN and the infinities become nil, as in JSON. Times
// become RFC 3339 text in UTC. A number that is only handed on stays what it is.
// Functions, symbols, Map and Set, values that contain themselves, and nesting
// beyond 200 are errors. Properties that are undefined are left out. What
// Eval gives for a constant is shared; it must not be changed.
//
// # Expr
//
// The value is a tree. A text that is one ${{ }} keeps the type of the result;
// in other texts nil is nothing, numbers are plain, lists and objects are JSON.
// $${{ stands for ${{. The names are inputs.X, variables.X (nil if there is no
// X; names are case-sensitive), outputs(activity[, name]), lastResult,
// instanceId, correlationId, definitionId, version, name, secrets.NAME (an error
// if there is none), now(), newId() and resumeUrl(activity[, outcome[, life]]); other names are refused when the
// expression is compiled. Fields of nil are an error, unless read by ?. as in
// variables.decision?.by.
//
// Expr has no interrupt and no loops but those over lists. Every round of a
// loop, and everything that makes a list, an object or a text, reports to the
// evaluation: 64 MiB in all, counting a shared part as often as it is met, one
// million list elements, 2000 nodes of syntax. Regular expressions are weighed
// before they run. Time may be exceeded by one step over the largest list.
//
// # JavaScript
//
// The value of a script is its completion value; with a return at its top it is
// the body of a function. Elsa's functions are there: getX and setX for variables
// (getX for inputs too), variables.X and inputs.X, getVariable, setVariable,
// getInput, getOutputFrom, get{Output}From{Activity}, getLastResult,
// getWorkflowInstanceId and its kin, get and setCorrelationId, setOutcome,
// setOutcomes, setOutput, getSecret and secrets.NAME, resumeUrl, newGuid, newShortGuid, toJson, parseJson,
// isNullOrEmpty, and those for base64 and bytes, where bytes are lists of
// numbers. What a script changes inside a list or an object that it got from a
// variable is written back when the script succeeds. Setters, setOutcome and
// the like take effect at once, also in a script that fails later.
//
// Every evaluation has a machine of its own, so nothing passes between them. A
// script that mentions builtins which can make much of little has them replaced
// by ones that check first ([scriptRun.harden]); one that computes the name of a
// property has them replaced when the name turns out to be such a builtin. There
// is no eval, Function, BigInt, typed array, Proxy or generator, and no console,
// require or fetch; exec of a regular expression cannot be replaced, and what
// stands for a list has a length that is a number, not a getter.
//
// Bounded closely: the length of a text (1 MiB or Limits.Output, if that is
// more), the lists that builtins work on, the depth of calls (1500), the depth
// and size of what becomes text, what JSON.stringify writes as it writes it,
// regular expressions by their cost, and by one second where they look around or
// back, the properties of what is taken apart or copied in one step (100,000), the
// text that is looked for in a list (256 MiB, times its elements), the depth of
// syntax (500 levels), what the parser reads again of arrow functions within the parameters of
// others (256 KiB). Bounded roughly: the heap. Every 5 ms a
// running script is looked at; if the process's heap has grown by 128 MiB, a
// collection tells how much is in use, and more than 64 MiB ends the script.
// That measures the whole process, so a long script that has changed something may be
// ended for what others do, and a greedy one reaches some 250 MiB; testdata/bombs
// has 418 ways to try, each of which ends within 400. Not bounded: the time of a single
// builtin over the largest list, which cannot be interrupted, about a second.
// Local times in a script (getHours, unlike getUTCHours) are those of the
// process's time zone.
//
// Numbers in a script are float64. Those beyond 2^53 that come out as they went in
// are given back exactly; two that went in and are one to JavaScript are an error
// when it is not clear which of them is meant. What a script computes from them,
// and the text that it makes of them, is as precise as float64.
//
// # Liquid
//
// The result is text. The names are those of Expr where they are not functions,
// now, and Elsa's Variables, Input, WorkflowInstanceId, CorrelationId and so on.
// Objects are written as JSON. There is no include; a range can only be what a
// for loop runs over; "now" is not a date, the variable now is. All that is written
// is counted, in variables too; filters take and give at most 1 MiB of text and
// 100,000 elements.
//
// # Turns
//
// What runs for more than 5 ms has a place; there is one fewer than processors, and at least one;
// scripts that are not known for that have places beside them. Places go to the
// definition whose scripts have used the least time. Waiting ends with the context
// and does not count as time; on Linux a script's time is its own processor time, else
// the wall's. A script that was ended for memory while others ran, and has changed
// nothing yet, runs once more with no other long one beside it. Scripts of more
// than 8 KiB are compiled in a turn too.
//
// # Concurrency
//
// Evaluators and what they compile are safe for concurrent use. A scope is used
// by one evaluation, on its goroutine.
package expression
