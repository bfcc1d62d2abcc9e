//go:build race

package testsize

// Raced reports whether the race detector is in this program.
const Raced = true
