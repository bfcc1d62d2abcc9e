// Package schema gives the JSON Schema of the short YAML, for editors. Package yaml is its door.
//
// Guaranteed: it is as strict as reading about keys and about inputs that are required. Equal
// types give equal bytes.
//
// Not guaranteed: that what fits is read. About values it is lenient, since expressions may stand
// almost anywhere.
//
// Concurrency: the functions keep no state.
package schema
