//go:build linux

package etcd

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-run/weft/internal/disk"
)

// What a quota leaves to this process is not what the file system says is free: where room could not be held for the
// database, nothing is left.
func TestAQuotaOfTheDiskIsADiskThatIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sp, err := spaceOf(dir, 1<<30, fmt.Errorf("hold room: %w", syscall.EDQUOT))
	if err != nil || !sp.Known() || sp.Free != 0 || !sp.Below(sp.Least()) || sp.Reserve != 1<<30 {
		t.Errorf("%+v, %v", sp, err)
	}
	if sp, err := spaceOf(dir, 0, fmt.Errorf("hold room: %w", syscall.ENOSPC)); err != nil || sp.Free == 0 {
		t.Errorf("%+v, %v", sp, err)
	}
	if _, err := spaceOf(dir, 0, errors.New("no right to write")); err == nil {
		t.Error("nothing is told of a file that cannot be held")
	}
	err = onFullDisk(dir, fmt.Errorf("make wal: %w", syscall.EDQUOT))
	if !strings.Contains(err.Error(), "is used up (quota)") || !strings.Contains(err.Error(), "docs/runbooks/disk-full.md") || !errors.Is(err, syscall.EDQUOT) {
		t.Error(err)
	}
}

func TestAReserveIsSmallerThanItsDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sp, err := disk.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := readyDisk(Config{DataDir: dir, Reserve: sp.Size + 1}); err == nil || !strings.Contains(err.Error(), "nothing would ever be started") {
		t.Errorf("a reserve that is larger than the disk: %v", err)
	}
}
