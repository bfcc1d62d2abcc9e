package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// goal is the heap at which the collector would begin next, in bytes. How often it does begin
// depends on what else runs on the machine.
func goal() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestTheFloorSparesCollections(t *testing.T) {
	if v, ok := os.LookupEnv("GOGC"); ok {
		t.Skipf("GOGC is %s: the operator's choice counts", v)
	}
	without := goal()
	Keep()
	t.Cleanup(func() { block = nil })
	with := goal()
	if with < without+2*size*9/10 {
		t.Errorf("the next collection is at %d bytes with the floor of %d, at %d without", with, size, without)
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
