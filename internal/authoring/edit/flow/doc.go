// Package flow edits flowcharts: what connects their activities, and the activities that go
// into one or out of it.
//
// Guaranteed: connections are edited in the form that they have, as chains with arrows or as
// mappings; an activity that comes between two others, is put around one or goes away leaves no
// connection to what is not there.
//
// Not guaranteed: that a chain is as short as it could be.
//
// Concurrency: a [Chart] belongs to one goroutine, as its change does.
package flow
