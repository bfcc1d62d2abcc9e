// Package record makes the keys of Weft's store, and writes and reads the records that more
// than one room of it has to know: mail, queue items, answers, dead letters, entries of
// lists, what is sent.
//
// Guaranteed: keys are made here only, but for those of the cluster's members and locks; a key
// and its form stay as they are, as what is stored lies there. Not guaranteed: that a record may be written as things are, which is for
// the compares of the transaction that writes it.
package record
