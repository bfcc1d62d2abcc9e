package runtime_test

import (
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { membertest.Main(m) }

// member is a node of these tests.
type member struct{ *membertest.Member }

// newCluster starts n nodes over one etcd; tune changes each one's configuration.
func newCluster(t testing.TB, n int, tune ...func(*membertest.Config)) []*member {
	t.Helper()
	name := clustertest.Namespace(t)
	members := make([]*member, n)
	for i := range members {
		members[i] = newMember(t, name, string(rune('a'+i)), tune...)
	}
	return members
}

func newMember(t testing.TB, name, id string, tune ...func(*membertest.Config)) *member {
	t.Helper()
	return &member{membertest.New(t, name, id, tune...)}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	polltest.Eventually(t, what, ok)
}
