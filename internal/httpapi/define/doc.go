// Package define has the handlers for who writes definitions: publish, list, check while they
// are written, edit by their picture, draw, try, and what editors are told.
//
// What they look at is not changed by looking: only publishing, retracting and deleting write. Each is a
// function of a [serve.Call] and stands in [Routes].
package define
