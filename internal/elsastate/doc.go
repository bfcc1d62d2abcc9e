// Package elsastate makes an instance that Weft can import of the state of one that Elsa 3 exported.
//
// Guaranteed: what is written is a state that the engine reads, at the same places of the same definition, waiting for
// what the instance waited for in Elsa: events, times, requests, tasks and the ends of children. Variables, outputs,
// the correlation id, the name, incidents and the sub-status go with it. What cannot be taken over refuses the whole
// instance, and each reason has its place in the file. Nothing is guessed.
//
// Not guaranteed: what Elsa's state does not have. The outputs of activities that have ended (but for those in
// variables), the history, inputs that Elsa did not keep, and links that Elsa signed stay behind.
//
// # Concurrency
//
// All of it is functions of their arguments.
package elsastate
