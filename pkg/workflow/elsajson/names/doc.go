// Package names translates names between Elsa's JSON and the domain: of types, storage drivers and strategies. Of activities
// that are none here it knows what does the same.
//
// Guaranteed: a name that is known in one has its name in the other; one that nobody knows stays as it is, so that an export
// keeps it and the compiler can refuse it. It knows no values.
package names
