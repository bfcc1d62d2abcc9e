// Package flowchart has the flowchart and what stands in one: decisions, switches, forks and
// joins, start and end. It runs by tokens or by counters, as the definition or its instance says.
//
// Guaranteed: an activity of it runs once for each time that its ways in say so, also after its instance was
// loaded again in the middle; what it remembers of that is [State], which goes on with every later program.
package flowchart
