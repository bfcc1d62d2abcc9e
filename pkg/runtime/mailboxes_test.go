package runtime

import (
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
)

// Work whose preferred node is there and does not do it is taken by another one
// in time, also with the shortest session: sighted, and then outliving
// strangerAge sweeps, each late by the whole jitter.
func TestWorkThatItsPreferredNodeLeavesIsTakenInTime(t *testing.T) {
	t.Parallel()
	longest := time.Duration(0)
	for range 10_000 {
		longest = max(longest, jitter(sweepEvery))
	}
	if took, promised := (strangerAge+1)*longest, cluster.MinTTL+2*time.Second; took >= promised {
		t.Errorf("a stranger takes it after up to %v, the promise is %v", took, promised)
	}
}
