// Package cut cuts the JSON of a large record into parts, and finds values in what is left of it.
//
// Guaranteed: what is left, with the texts of the parts in their places, is the record byte for byte; the same piece has the
// same id; what is left alone is JSON of the same shape. It reads and writes no store, and does not join: that is
// etcdstore's, which knows how large a record may be.
package cut
