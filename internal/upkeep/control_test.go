package upkeep_test

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

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
	well := newMember(t, name, "a")
	hanging := newMember(t, name, "b", func(c *membertest.Config) {
		c.Session = func(c *cluster.Config) { c.Client.Watcher = neverBegins{c.Client.Watcher} }
	})
	well.Publish("id: d\nroot: [{writeLine: hi}]\n")
	for _, paused := range []bool{true, false, true} {
		if _, err := well.Store.Stimuli.SetPaused(t.Context(), paused); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it sees it", func() bool {
			_, err := hanging.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "d"})
			return (workflow.CodeOf(err) == workflow.CodePaused) == paused
		})
	}
}
