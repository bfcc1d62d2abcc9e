// Package act does what forms ask for: each is an operation of openapi.json.
//
// What it guarantees: a form that is sent twice acts once, since its Idempotency-Key is in it. What is
// refused is shown with all that was typed. Whether somebody may do it is judged by the API alone.
//
// What it does not: it knows few operations by name: those whose answer has a page of its own.
//
// [Do] is served to those who are signed in. How the fields of a form are named is said in package page.
package act
