// Package schema makes JSON Schemas (2020-12, as OpenAPI 3.1 has them) of Go types, for the
// document of the routes.
//
// Two types with the name of one component would be described as one: that is a mistake in the program, and panics
// when the document is made.
package schema
