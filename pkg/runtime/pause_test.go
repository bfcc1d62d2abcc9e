package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAPauseWithoutEtcdIsToBeRepeated(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	away := m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool { return c.Op == "get" && c.Touches(m.Root+"meta/pause") }})
	for what, do := range map[string]func(context.Context) error{"pause": m.Pauses.Pause, "unpause": m.Pauses.Unpause} {
		err := do(t.Context())
		if e := (*workflow.Error)(nil); !errors.As(err, &e) || e.Code != workflow.CodeUnavailable || e.RetryAfter <= 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	away.Disarm()
	if err := m.Pauses.Pause(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPauseStopsTheClusterAndUnpauseLetsItGoOn(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c[0].Publish(membertest.Waits)
	c[0].Start("waits", "one", "1")
	if err := c[1].Pauses.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range c {
		st := workflow.EventStimulus("go", nil)
		if _, err := m.Events.Send(t.Context(), st, nil); workflow.CodeOf(err) != workflow.CodePaused {
			t.Errorf("send while paused: %v", err)
		}
	}
	if err := c[2].Pauses.Unpause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := c[0].Event("go", "1", nil); len(res.Outcomes) != 1 {
		t.Errorf("got %+v", res)
	}
}
