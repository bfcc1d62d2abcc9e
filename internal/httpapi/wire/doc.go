// Package wire reads requests as clients write them, and answers as they want them: headers, charsets, compressed
// bodies, forms.
//
// It guarantees that what it gives is what was sent: a header, a charset or a byte that it cannot take is an error in
// words, and is not left out or replaced. It knows nothing of Weft.
//
// All of it may be used by many goroutines at once.
package wire
