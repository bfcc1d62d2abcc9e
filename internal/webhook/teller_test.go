package webhook

import (
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// TestWhatIsGoneIsNotTold has a webhook that is gone by the time its teller reads it.
func TestWhatIsGoneIsNotTold(t *testing.T) {
	t.Parallel()
	s, err := etcdstore.New(etcdstore.Config{Client: clustertest.Shared(t).Client(t), Root: cluster.Root(clustertest.Namespace(t))})
	if err != nil {
		t.Fatal(err)
	}
	gone := &teller{h: &Webhooks{cfg: Config{Store: s.Webhooks}}, w: &store.Webhook{Name: "gone", Created: 7}}
	if err := gone.tell(t.Context()); err != nil || gone.at != nil {
		t.Errorf("%v, %+v", err, gone.at)
	}
}
