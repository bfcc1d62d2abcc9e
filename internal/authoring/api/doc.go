// Package api has the handlers for who writes definitions: find their mistakes while they are written, suggest
// what may stand at a place, edit them by their picture, draw them and what instances did with them,
// and run their tests.
//
// Guaranteed: nothing here writes, and nothing goes out. Each is a function of a [serve.Call]; [Routes] are given to the API of
// a node as it is wired, which does not know them.
package api
