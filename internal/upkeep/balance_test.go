package upkeep_test

import (
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// The balance of a cluster that is new is there at once, however seldom it is put after that. Until then whoever asks
// is told when to ask again.
func TestANewClusterHasABalance(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(c *membertest.Config) { c.BalanceEvery = time.Hour })[0]
	eventually(t, "somebody counts", func() bool {
		b, err := m.Inspector.Balance(t.Context())
		if err != nil {
			var e *workflow.Error
			if !errors.As(err, &e) || e.Code != workflow.CodeUnavailable || e.RetryAfter <= 0 || e.RetryAfter > 5*time.Second {
				t.Fatalf("before that: %v", err)
			}
			return false
		}
		if b.Node != m.Session.NodeID() || b.Difference != 0 {
			t.Fatalf("%+v", b)
		}
		return true
	})
}
