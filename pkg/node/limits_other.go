//go:build !unix

package node

import "math"

// openFiles is how many descriptors this process may have open: without limit, as Windows
// has none of its own.
func openFiles() uint64 { return math.MaxInt }
