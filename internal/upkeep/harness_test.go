package upkeep_test

import (
	"slices"
	"testing"
	"time"

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

// grow lets time pass for the cluster, once all that is there has been counted, and
// waits until all nodes know.
func grow(t testing.TB, members []*member, d time.Duration) {
	t.Helper()
	known := func(age time.Duration) {
		eventually(t, "the age goes on", func() bool {
			return !slices.ContainsFunc(members, func(m *member) bool { return m.Age.Seen().Elapsed < age })
		})
	}
	now, err := members[0].Store.Upkeep.Age(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known(now.Elapsed + time.Millisecond)                                             // a mark behind all that is there
	for now = members[0].Age.Seen(); members[0].Age.Seen().Elapsed < now.Elapsed+d; { // what passes while an answer is under way does not count
		before := members[0].Age.Seen().Elapsed
		for _, m := range members {
			m.Elapsed.Add(int64(d))
		}
		known(before + 500*time.Millisecond)
	}
	known(now.Elapsed + d)
}
