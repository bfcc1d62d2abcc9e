package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAPauseWithoutEtcdIsToBeRepeated(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	away := m.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool { return c.Op == "get" && c.Touches(m.root+"meta/pause") }})
	for what, do := range map[string]func(context.Context) error{"pause": m.Pause, "unpause": m.Unpause} {
		err := do(t.Context())
		if e := (*workflow.Error)(nil); !errors.As(err, &e) || e.Code != workflow.CodeUnavailable || e.RetryAfter <= 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	away.Disarm()
	if err := m.Pause(t.Context()); err != nil {
		t.Error(err)
	}
}
