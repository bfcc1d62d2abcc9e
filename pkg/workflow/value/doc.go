// Package value is the one writer and the one reader of the values of workflows: what they
// are as JSON, which form a number has, and how long texts are cut.
//
// Guaranteed: equal values give equal bytes, and what was written is read as it was, each number with its
// digits. Not guaranteed: that a value which it cannot know, of a type that writes itself, is read again.
package value
