// Package peers asks other nodes what only they know, in the name of the caller and with its
// credentials, and answers what this one is asked.
//
// Guaranteed: what one node is asked by another it answers itself and asks no further, so that no
// request goes in circles; a node that does not answer costs its asker no more than the time that is said for it.
package peers
