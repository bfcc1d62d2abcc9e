// Package differ compares two texts by their lines.
//
// What it guarantees: what it gives leads from the one text to the other, line by line, and is the
// shortest way as long as that is not too long.
//
// What it does not: texts that are far apart are given one after the other, so that time and memory
// stay bounded.
package differ
