// Package scan reads C# into tokens: words, signs, numbers, and texts in all their forms.
//
// Guaranteed: what cannot be read is a [Refusal] with its place, by panic: it ends the translation. It is for internal use by
// csharp, its parent.
package scan
