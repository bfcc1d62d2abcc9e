// Package pattern reads regular expressions of JavaScript, and writes them so that the machine's two libraries match as ECMAScript says.
//
// Guaranteed: what [Read] refuses would have given other groups here than in Node. Not guaranteed: that what it takes is a regular
// expression; the machine says so of what is none.
package pattern
