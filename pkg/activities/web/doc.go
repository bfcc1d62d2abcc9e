// Package web has the activities that speak HTTP: the endpoint where a request is waited for,
// the answer to it, and requests to services outside.
//
// Guaranteed: a request to the outside carries its execution's idempotency key and ends with its context. Not
// guaranteed: that it happens once.
package web
