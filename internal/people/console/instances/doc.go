// Package instances is the pages about instances: their list, one of them with its journal, timeline
// and variables, what may be repaired in it, and two of them beside each other.
//
// What it guarantees: however much an instance has, a page reads and shows a part of it, says that it is
// a part, and leads to the rest.
//
// What it does not: it changes no instance; package act does, by what the forms of these pages ask for.
//
// Each page is a function of a visit, in the console's table of pages.
package instances
