// Package loop runs a step again and again, and several side by side.
//
// It guarantees that an error of a step ends no loop, and that all has ended when a function
// returns. It does not guarantee when a step runs: periods have jitter.
package loop
