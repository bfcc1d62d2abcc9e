//go:build linux

package disk

import (
	"syscall"
	"testing"
)

// What is free is counted in blocks, and not in what is best written at once: on virtiofs, FUSE and NFS that is larger.
func TestSpaceIsCountedInBlocks(t *testing.T) {
	t.Parallel()
	for _, is := range []struct {
		st         syscall.Statfs_t
		free, size int64
	}{
		{syscall.Statfs_t{Bsize: 4096, Frsize: 4096, Blocks: 100, Bavail: 10}, 10 * 4096, 100 * 4096},
		{syscall.Statfs_t{Bsize: 1 << 20, Frsize: 4096, Blocks: 100, Bavail: 10}, 10 * 4096, 100 * 4096},
		{syscall.Statfs_t{Bsize: 4096, Blocks: 100, Bavail: 10}, 10 * 4096, 100 * 4096},
	} {
		if sp := spaceOf("/data", &is.st); sp != (Space{Dir: "/data", Free: is.free, Size: is.size}) {
			t.Errorf("%+v: %+v", is.st, sp)
		}
	}
}
