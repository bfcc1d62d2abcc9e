package warm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

func kept(state int) Instance {
	return Instance{&store.Record{State: []byte(strings.Repeat("x", state)), Modified: 1}, &engine.Burst{}}
}

func TestIdleInstancesAreBounded(t *testing.T) {
	t.Parallel()
	const most = 100 * perInstance
	i := New(most, nil)
	for n := range 1000 {
		i.Put(fmt.Sprint(n%300), kept(n%1000))
		if i.bytes > most || i.bytes < 0 {
			t.Fatalf("%d bytes of %d", i.bytes, most)
		}
	}
	if i.Take("0").Record != nil {
		t.Error("the one that was not needed for the longest time is there")
	}
	if i.Take("99").Record == nil {
		t.Error("the last one is not there")
	}
	if i.Take("99").Record != nil {
		t.Error("it has two owners")
	}
	for _, id := range i.lru.Keys() {
		i.Take(id)
	}
	if i.bytes != 0 {
		t.Errorf("%d bytes of nothing", i.bytes)
	}
}

// A burst holds its program, which the catalogue may have let go of.
func TestIdleInstancesAreNotTooMany(t *testing.T) {
	t.Parallel()
	i := New(1<<40, nil)
	for n := range mostKept + 100 {
		i.Put(fmt.Sprint(n), kept(0))
	}
	if n := i.lru.Len(); n != mostKept || i.bytes != int64(n)*perInstance {
		t.Errorf("%d instances of %d bytes", n, i.bytes)
	}
}

// One whose burst read a secret is decoded again, and not read.
func TestAnIdleInstanceWithoutABurst(t *testing.T) {
	t.Parallel()
	i := New(Bytes, nil)
	i.Put("i", Instance{Record: kept(1).Record})
	l := i.Take("i")
	if l.Record == nil {
		t.Fatal("it is not kept")
	}
	for record, want := range map[*store.Record]metrics.LoadSource{l.Record: metrics.LoadRead, {}: metrics.LoadMoved} {
		if got := l.Source(record); got != want {
			t.Errorf("it was %s, want %s", got, want)
		}
	}
}

func TestWhatIsNotKeptIdle(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]Instance{
		"nothing":                {},
		"a share too large":      kept(Bytes / share / ValueBytes),
		"of one too large input": {&store.Record{Header: workflow.Instance{Input: map[string]any{"x": strings.Repeat("x", Bytes/share/ValueBytes)}}}, &engine.Burst{}},
	} {
		i := New(Bytes, nil)
		i.Put("i", l)
		if i.Take("i").Record != nil || i.bytes != 0 {
			t.Errorf("%s: it is kept", name)
		}
	}
}
