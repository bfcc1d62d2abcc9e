// Package notation knows in which notation a definition is written, reads and writes it in
// any, and says what it says apart from how it is written.
//
// It guarantees that two sources with one [ContentHash] mean the same definition. It does not
// guarantee the reverse, and does not compile.
package notation
