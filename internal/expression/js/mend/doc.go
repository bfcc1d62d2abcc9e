// Package mend puts right what goja's builtins have otherwise than Node.
//
// Guaranteed: what is replaced gives what Node 20 gives. Not guaranteed: what the machine does without a builtin; scripts are rewritten
// for that ([rewrite]), and what cannot be mended is refused by publishing.
//
// A machine is used by one goroutine, and so is what is put into it here.
package mend
