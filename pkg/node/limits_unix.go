//go:build unix

package node

import "syscall"

// openFiles is how many descriptors this process may have open.
func openFiles() uint64 {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil {
		return 1024 // the least that is usual
	}
	return most.Cur
}
