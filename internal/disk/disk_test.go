//go:build linux

package disk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weft-run/weft/internal/disk"
)

func blocks(t *testing.T, path string) (size, taken int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%T", info.Sys())
	}
	return info.Size(), st.Blocks * 512
}

// What is held has its blocks, the holes of a file and what comes behind its end, and neither its size nor a byte of
// it changes.
func TestHoldTakesTheBlocksOfAFileAndChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	if err := disk.Hold(path, 1<<20); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil { // a hole
		t.Fatal(err)
	}
	for range 2 {
		if err := disk.Hold(path, 1<<20); err != nil {
			t.Fatal(err)
		}
		if size, taken := blocks(t, path); size != 1<<20 || taken < 2<<20 {
			t.Errorf("size %d with %d of blocks, want %d with %d", size, taken, 1<<20, 2<<20)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b[:7]) != "content" {
		t.Errorf("%q, %v", b[:7], err)
	}
}

func TestMakeGivesAFileItsBlocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0.tmp")
	for range 2 {
		if err := disk.Make(path, 1<<20); err != nil {
			t.Fatal(err)
		}
		if size, taken := blocks(t, path); size != 1<<20 || taken < 1<<20 {
			t.Errorf("size %d with %d of blocks", size, taken)
		}
	}
}

func TestLookKnowsTheDisk(t *testing.T) {
	t.Parallel()
	sp, err := disk.Look(t.TempDir())
	if err != nil || !sp.Known() || sp.Free <= 0 || sp.Free > sp.Size || sp.Below(1) || !sp.Below(sp.Free+1) {
		t.Errorf("%+v, %v", sp, err)
	}
	if (disk.Space{}).Below(1) {
		t.Error("a disk that nobody knows is full")
	}
	if _, err := disk.Look(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that is not there")
	}
}

func TestAnErrorSaysThatADiskIsFull(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		fmt.Errorf("write x: %w", syscall.ENOSPC):               true,
		errors.New("write x: no space left on device"):          true,
		fmt.Errorf("write x: %w", syscall.EDQUOT):               true,
		errors.New("write x: disk quota exceeded"):              true,
		errors.New("etcdserver: mvcc: database space exceeded"): false,
		nil: false,
	} {
		if disk.IsFull(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

// A quota that is used up is a full disk, and is told apart: there may be much that is free, for others.
func TestAQuotaIsToldApart(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		fmt.Errorf("write x: %w", syscall.EDQUOT):  true,
		errors.New("write x: disk quota exceeded"): true,
		fmt.Errorf("write x: %w", syscall.ENOSPC):  false,
		nil: false,
	} {
		if disk.OverQuota(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
	if !disk.SaysFull("wal: disk quota exceeded") || disk.SaysFull("database space exceeded") {
		t.Error("the words of a quota are not known")
	}
}

func TestWhatIsKeptFreeCanBeSet(t *testing.T) {
	t.Parallel()
	for reserve, want := range map[int64][3]int64{0: {256 << 20, 128 << 20, 64 << 20}, 1 << 30: {1 << 30, 512 << 20, 256 << 20}} {
		sp := disk.Space{Reserve: reserve}
		if got := [3]int64{sp.NearlyFull(), sp.Full(), sp.Least()}; got != want {
			t.Errorf("%d: %v, want %v", reserve, got, want)
		}
	}
}
