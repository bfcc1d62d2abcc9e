package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const (
	errFull  = syscall.ENOSPC
	errQuota = syscall.EDQUOT
)

// Look asks how full the disk is that has dir.
func Look(dir string) (Space, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return Space{}, fmt.Errorf("ask how full the disk of %s is: %w", dir, err)
	}
	return spaceOf(dir, &st), nil
}

// spaceOf counts in blocks of Frsize: Bsize is how much is best written at once, which FUSE and virtiofs say is 256
// blocks and more. Some kernels leave Frsize out.
func spaceOf(dir string, st *syscall.Statfs_t) Space {
	block := int64(cmp.Or(st.Frsize, st.Bsize)) //nolint:unconvert // of another type on other processors
	return Space{Dir: dir, Free: int64(st.Bavail) * block, Size: int64(st.Blocks) * block}
}

// keepSize lets a file take blocks behind its end.
const keepSize = 1

// Hold takes the blocks of a file that it has none for yet, and those of ahead bytes behind its end, so that it can be
// written and grow on a disk that is full. A file that is not there has nothing to hold. A file system that does not
// know of this is no error.
func Hold(path string, ahead int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("hold room for %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("hold room for %s: %w", path, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Blocks*512 >= info.Size()+ahead/2 {
		return nil
	}
	return take(f, keepSize, info.Size()+ahead)
}

// Make makes a file of size bytes with all of its blocks, or adds those that it lacks.
func Make(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	defer f.Close()
	return take(f, 0, size)
}

func take(f *os.File, mode uint32, size int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), mode, 0, size)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err == nil, errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
			return nil
		}
		return fmt.Errorf("hold %d MiB for %s: %w", size>>20, f.Name(), err)
	}
}
