package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
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

func TestWhatIsNotKeptIdle(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]live{
		"nothing":                {},
		"without a burst":        {record: idleLive(1).record},
		"a share too large":      idleLive(idleBytes / idleShare / valueBytes),
		"of one too large input": {&store.Record{Header: workflow.Instance{Input: map[string]any{"x": strings.Repeat("x", idleBytes/idleShare/valueBytes)}}}, &engine.Burst{}},
	} {
		i := newIdle(idleBytes, nil)
		i.put("i", l)
		if i.take("i").b != nil || i.bytes != 0 {
			t.Errorf("%s: it is kept", name)
		}
	}
}
