// Package jsontree reads the JSON of a definition as it is written, with the place of each value, and
// knows the shapes that Elsa's values have.
//
// Guaranteed: no value is nested deeper than 2,000 levels, doubled names are told, and numbers keep their spelling.
// It is for internal use by elsajson, its parent.
package jsontree
