// Package fsck reads every key of a cluster and says what does not fit, and repairs what it can.
//
// Guaranteed: a check is of one revision and writes nothing; each repair is one transaction that compares what was judged,
// and sets aside what it takes away. Not guaranteed: that what it cannot judge, as a newer program wrote it, fits.
package fsck
