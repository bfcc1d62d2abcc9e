package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

func idleLive(state int) live {
	return live{&store.Record{State: []byte(strings.Repeat("x", state)), Modified: 1}, &engine.Burst{}}
}

func TestIdleInstancesAreBounded(t *testing.T) {
	t.Parallel()
	const most = 100 * idleInstance
	i := newIdle(most, nil)
	for n := range 1000 {
		i.put(fmt.Sprint(n%300), idleLive(n%1000))
		if i.bytes > most || i.bytes < 0 {
			t.Fatalf("%d bytes of %d", i.bytes, most)
		}
	}
	if i.take("0").record != nil {
		t.Error("the one that was not needed for the longest time is there")
	}
	if i.take("99").record == nil {
		t.Error("the last one is not there")
	}
	if i.take("99").record != nil {
		t.Error("it has two owners")
	}
	for _, id := range i.lru.Keys() {
		i.take(id)
	}
	if i.bytes != 0 {
		t.Errorf("%d bytes of nothing", i.bytes)
	}
}

// A burst holds its program, which the catalogue may have let go of.
func TestIdleInstancesAreNotTooMany(t *testing.T) {
	t.Parallel()
	i := newIdle(1<<40, nil)
	for n := range idleMost + 100 {
		i.put(fmt.Sprint(n), idleLive(0))
	}
	if n := i.lru.Len(); n != idleMost || i.bytes != int64(n)*idleInstance {
		t.Errorf("%d instances of %d bytes", n, i.bytes)
	}
}

// One whose burst read a secret is decoded again, and not read.
func TestAnIdleInstanceWithoutABurst(t *testing.T) {
	t.Parallel()
	i := newIdle(idleBytes, nil)
	i.put("i", live{record: idleLive(1).record})
	l := i.take("i")
	if l.record == nil {
		t.Fatal("it is not kept")
	}
	for record, want := range map[*store.Record]metrics.LoadSource{l.record: metrics.LoadRead, {}: metrics.LoadMoved} {
		if got := l.loaded(record); got != want {
			t.Errorf("it was %s, want %s", got, want)
		}
	}
}

func TestWhatIsNotKeptIdle(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]live{
		"nothing":                {},
		"a share too large":      idleLive(idleBytes / idleShare / valueBytes),
		"of one too large input": {&store.Record{Header: workflow.Instance{Input: map[string]any{"x": strings.Repeat("x", idleBytes/idleShare/valueBytes)}}}, &engine.Burst{}},
	} {
		i := newIdle(idleBytes, nil)
		i.put("i", l)
		if i.take("i").record != nil || i.bytes != 0 {
			t.Errorf("%s: it is kept", name)
		}
	}
}
