package clustertest

import (
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
)

// ballast is the size of one value, of which two fit into four pages of etcd's
// database. A page that is written again counts twice until the next commit, and the
// last pages are with each put: with large values the count would stand still while
// the store fills, or fall after the last one.
const ballast = 7500

// Fill puts values under prefix until part of the quota of the client's etcd is in
// use and enough says so, and puts more when something else made room.
// It goes beyond the part by some hundred kilobytes at most.
func Fill(tb testing.TB, client *clientv3.Client, prefix string, quota int64, part float64, enough func() bool) {
	tb.Helper()
	used := func() int64 {
		s, err := client.Status(tb.Context(), client.Endpoints()[0])
		if err != nil {
			tb.Fatalf("clustertest: ask etcd for its size: %v", err)
		}
		return s.DbSizeInUse
	}
	values := 0
	put := func(n int) bool {
		ops := make([]clientv3.Op, n)
		for i := range ops {
			values++
			ops[i] = clientv3.OpPut(fmt.Sprintf("%s%d", prefix, values), string(make([]byte, ballast)))
		}
		_, err := client.Txn(tb.Context()).Then(ops...).Commit()
		return err == nil // or etcd raised its alarm, which its node takes back
	}
	fill := func() {
		for before := used(); float64(before) < part*float64(quota); before = used() {
			// Half of what is missing: etcd counts a write with its next commit, and the
			// count may change before by something else.
			n := max(16, min(120, int((part*float64(quota)-float64(before))/2/ballast)))
			taken := false
			polltest.Eventually(tb, "etcd takes and counts a write", func() bool {
				taken = taken || put(n)
				return taken && used() != before
			})
		}
	}
	fill()
	polltest.Eventually(tb, fmt.Sprintf("that %.0f %% of etcd's quota is in use is enough", 100*part), func() bool {
		fill()
		return enough()
	})
}
