// Package js evaluates JavaScript, with goja, in a machine of its own for each
// evaluation.
//
// Guaranteed and not guaranteed is what internal/expression says of all languages; the
// bounds of memory and time are below. Any number of goroutines may use an [Evaluator]
// and what it compiles; a scope is used by one.
//
// # Scripts
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
// # Bounds
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
// ended for what others do, and a greedy one reaches some 250 MiB; testdata/bombs.txt
// has 297 ways to try, each of which ends within 400. Not bounded: the time of a single
// builtin over the largest list, which cannot be interrupted, about a second.
// Local times in a script (getHours, unlike getUTCHours) are those of time.Local, which
// weft sets to UTC.
//
// What the machine reads or gives in silence as Node does not is mended or refused (package mend); testdata/node.json has what is left.
//
// # Numbers
//
// Numbers in a script are float64. Those beyond 2^53 that come out as they went in
// are given back exactly; two that went in and are one to JavaScript are an error
// when it is not clear which of them is meant. What a script computes from them,
// and the text that it makes of them, is as precise as float64.
//
// # Turns
//
// A script waits for its turn ([turns]). One that was ended for memory while others
// ran, and has changed nothing yet, runs once more with no other long one beside it.
// Scripts of more than 8 KiB are compiled in a turn too.
package js
