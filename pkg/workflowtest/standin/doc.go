// Package standin tells of activity types that a program does not have what a test needs to run around them: their
// inputs and outputs, as definitions and mocks use them.
//
// Guaranteed: the same sources and mocks give the same types; only what is mocked gets one.
//
// Not guaranteed: that the program that has a type knows the same inputs and outputs of it.
package standin
