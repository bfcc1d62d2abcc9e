// Package browser tests the console in a real browser, on whole nodes: what a person does,
// what a page does by itself, and what keeps people out.
package browser
