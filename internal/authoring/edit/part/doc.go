// Package part edits what an activity holds that is no activity: the cases of a switch, and
// the states of a machine with their transitions.
//
// Guaranteed: a part is written in the form that its neighbours have, as an item of a list or
// behind its name. A name that changes does so wherever it is used: a state's in all
// transitions, a label's in the connections of the flowchart around. What others need is not
// taken away.
//
// Not guaranteed: anything about the activities in a part, which are edited as all others are.
//
// Concurrency: an edit belongs to one goroutine, as its change does.
package part
