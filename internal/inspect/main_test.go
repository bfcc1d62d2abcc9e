package inspect_test

import (
	"testing"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { membertest.Main(m) }

// newMember starts a node alone.
func newMember(t *testing.T) *membertest.Member {
	t.Helper()
	return membertest.New(t, clustertest.Namespace(t), "a")
}
