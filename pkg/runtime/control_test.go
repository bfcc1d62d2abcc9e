package runtime_test

import (
	"context"
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
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

// neverBegins is a member of etcd that lets no watch begin.
type neverBegins struct{ clientv3.Watcher }

func (h neverBegins) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	<-ctx.Done()
	return h.Watcher.Watch(ctx, key, opts...)
}

// A node whose watches do not begin sees by its looks that the cluster is paused, and
// that it goes on.
func TestANodeWhoseWatchesHangSeesAPause(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	well := newMember(t, name, "a", nil)
	hanging := newMember(t, name, "b", nil, func(c *cluster.Config) { c.Client.Watcher = neverBegins{c.Client.Watcher} })
	well.publish("id: d\nroot: [{writeLine: hi}]\n")
	for _, paused := range []bool{true, false, true} {
		if _, err := well.store.Stimuli.SetPaused(t.Context(), paused); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it sees it", func() bool {
			_, err := hanging.Execute(t.Context(), runtime.StartRequest{DefinitionID: "d"})
			return (workflow.CodeOf(err) == workflow.CodePaused) == paused
		})
	}
}
