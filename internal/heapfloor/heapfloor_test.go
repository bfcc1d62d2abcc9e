package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// allocated counts the collections while a busy program with a small heap
// allocates 512 MB.
func collections() uint32 {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var keep []byte
	for range 8192 {
		keep = make([]byte, 64<<10)
	}
	runtime.KeepAlive(keep)
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

func TestTheFloorSparesCollections(t *testing.T) {
	if v, ok := os.LookupEnv("GOGC"); ok {
		t.Skipf("GOGC is %s: the operator's choice counts", v)
	}
	without := collections()
	Keep()
	t.Cleanup(func() { block = nil })
	with := collections()
	if with*2 > without {
		t.Errorf("%d collections with the floor, %d without", with, without)
	}
}

func TestTheOperatorsChoiceCounts(t *testing.T) {
	t.Run("GOGC", func(t *testing.T) {
		t.Setenv("GOGC", "100")
		Keep()
	})
	t.Run("a small memory limit", func(t *testing.T) {
		before := debug.SetMemoryLimit(256 << 20)
		defer debug.SetMemoryLimit(before)
		Keep()
	})
	if block != nil {
		t.Error("the floor is there all the same")
	}
}
