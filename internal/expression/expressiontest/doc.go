// Package expressiontest is what the tests of the languages share: a scope, and what
// each of them is held against, alike for all: any source ([CheckSound]), those that
// were made to end a node ([Bombs]), and the clock.
//
// Guaranteed: a bomb runs in a process of its own, which the system ends. Not
// guaranteed: that measurements mean anything on a busy machine. It is for tests only.
package expressiontest
