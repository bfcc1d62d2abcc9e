package runtime_test

import (
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/upkeep/membertest"
)

func TestMain(m *testing.M) { membertest.Main(m) }

// member is a node of these tests.
type member struct{ *membertest.Member }

// newCluster starts n nodes over one etcd; tune changes each one's configuration.
func newCluster(t testing.TB, n int, tune ...func(*membertest.Config)) []*member {
	t.Helper()
	return membertest.Cluster(t, n, func(m *membertest.Member) *member { return &member{m} }, tune...)
}

func newMember(t testing.TB, name, id string, tune ...func(*membertest.Config)) *member {
	t.Helper()
	return &member{membertest.New(t, name, id, tune...)}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	polltest.Eventually(t, what, ok)
}
