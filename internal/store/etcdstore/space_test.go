package etcdstore

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// Of members with quotas of their own the one counts that is nearest to its own: it raises the alarm for all.
func TestSpaceIsThatOfTheMemberNearestToItsQuota(t *testing.T) {
	t.Parallel()
	client, err := clientv3.New(clientv3.Config{Endpoints: clustertest.Members(t, 0, 64<<20, 0)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	store, err := New(Config{Client: client, Root: "/weft/space/"})
	if err != nil {
		t.Fatal(err)
	}
	sp, err := store.Upkeep.Space(t.Context())
	if err != nil || sp.Quota != 64<<20 || sp.InUse == 0 {
		t.Errorf("%+v, %v", sp, err)
	}
	for _, c := range []struct {
		a, b   upkeep.Space
		fuller bool
	}{
		{upkeep.Space{InUse: 50, Allocated: 50, Quota: 100}, upkeep.Space{InUse: 60, Allocated: 60, Quota: 200}, true},
		{upkeep.Space{InUse: 60, Allocated: 60, Quota: 200}, upkeep.Space{InUse: 50, Allocated: 50, Quota: 100}, false},
		{upkeep.Space{InUse: 10, Allocated: 99, Quota: 100}, upkeep.Space{InUse: 90, Allocated: 90, Quota: 100}, true}, // it raises the alarm first
		{upkeep.Space{InUse: 10, Allocated: 80, Quota: 100}, upkeep.Space{InUse: 70, Allocated: 70, Quota: 100}, false},
		{upkeep.Space{InUse: 10}, upkeep.Space{}, true}, // of before 3.6: none tells
	} {
		if got := c.a.Fuller(c.b); got != c.fuller {
			t.Errorf("%+v is fuller than %+v: %t", c.a, c.b, got)
		}
	}
}
