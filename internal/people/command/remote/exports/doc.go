// Package exports writes what has finished into a file for analysts: weft archive export.
//
// Guaranteed: the file is there when all of it is written, and none when something went wrong; numbers in inputs and outputs are written
// as they are kept. Not guaranteed: that an instance which leaves etcd, or ends, while the export runs is in it once: it may be twice, or not.
package exports
