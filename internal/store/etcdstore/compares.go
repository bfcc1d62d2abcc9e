package etcdstore

import (
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Compares. Rule U wants the outer ones monotone: once false, false for ever.
// createdAt and modifiedAt are, as revisions never come back. absent is where
// the key is never deleted, or its deletion leaves a record that is compared
// too. What can become true again is followed by a void record, see [conn.void].

func absent(key string) clientv3.Cmp { return created(key, "", pb.Compare_EQUAL, 0) }

func exists(key string) clientv3.Cmp { return created(key, "", pb.Compare_GREATER, 0) }

func createdAt(key string, rev int64) clientv3.Cmp { return created(key, "", pb.Compare_EQUAL, rev) }

func modifiedAt(key string, rev int64) clientv3.Cmp { return modified(key, pb.Compare_EQUAL, rev) }

// notWrittenAfter holds while one key was not put after rev.
func notWrittenAfter(key string, rev int64) clientv3.Cmp {
	return modified(key, pb.Compare_LESS, rev+1)
}

// noneNewer holds when no key of the range was created after rev; an empty
// range holds.
func noneNewer(prefix string, rev int64) clientv3.Cmp {
	return created(prefix, clientv3.GetPrefixRangeEnd(prefix), pb.Compare_LESS, rev+1)
}

// noneWrittenAfter holds when no key of the range was put after rev; an empty range
// holds.
func noneWrittenAfter(prefix string, rev int64) clientv3.Cmp {
	c, m := comparing(prefix, pb.Compare_LESS)
	m.Target, m.TargetUnion = pb.Compare_MOD, &pb.Compare_ModRevision{ModRevision: rev + 1}
	m.RangeEnd = []byte(clientv3.GetPrefixRangeEnd(prefix))
	return c
}

// noneOlder holds when no key of the range was created before rev. An empty
// range would compare as 0 and fail; it is used where a key is known to be.
func noneOlder(prefix string, rev int64) clientv3.Cmp {
	return created(prefix, clientv3.GetPrefixRangeEnd(prefix), pb.Compare_GREATER, rev-1)
}

// created compares the create revision of one key, or of each up to end. It is
// filled in where it is: clientv3's own ways copy the message, by reflection.
func created(key, end string, result pb.Compare_CompareResult, rev int64) clientv3.Cmp {
	c, m := comparing(key, result)
	m.Target, m.TargetUnion = pb.Compare_CREATE, &pb.Compare_CreateRevision{CreateRevision: rev}
	if end != "" {
		m.RangeEnd = []byte(end)
	}
	return c
}

func modified(key string, result pb.Compare_CompareResult, rev int64) clientv3.Cmp {
	c, m := comparing(key, result)
	m.Target, m.TargetUnion = pb.Compare_MOD, &pb.Compare_ModRevision{ModRevision: rev}
	return c
}

func leased(key string, lease int64) clientv3.Cmp {
	c, m := comparing(key, pb.Compare_EQUAL)
	m.Target, m.TargetUnion = pb.Compare_LEASE, &pb.Compare_Lease{Lease: lease}
	return c
}

// comparing is a compare with the message in it, which has no target yet.
func comparing(key string, result pb.Compare_CompareResult) (c clientv3.Cmp, m *pb.Compare) {
	m = c.GetCompare()
	m.Key, m.Result = []byte(key), result
	return c, m
}

// attempt names one attempt to do something, which is sent again only as it is;
// a new attempt of the same thing has another name.
func attempt(id string, at time.Time) string { return id + "@" + strconv.FormatInt(at.UnixNano(), 10) }
