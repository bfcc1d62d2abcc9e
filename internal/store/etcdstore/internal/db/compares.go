package db

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Compares. Rule U wants the outer ones monotone: once false, false for ever.
// [CreatedAt] and [ModifiedAt] are, as revisions never come back. [Absent] is where
// the key is never deleted, or its deletion leaves a record that is compared
// too. What can become true again is followed by a void record, which the store puts.

// Absent holds while a key is not there.
func Absent(key string) clientv3.Cmp { return created(key, "", pb.Compare_EQUAL, 0) }

// Exists holds while a key is there.
func Exists(key string) clientv3.Cmp { return created(key, "", pb.Compare_GREATER, 0) }

// CreatedAt holds while a key is the one that was created at rev; 0: while it is not there.
func CreatedAt(key string, rev int64) clientv3.Cmp { return created(key, "", pb.Compare_EQUAL, rev) }

// ModifiedAt holds while a key is as it was put at rev; 0: while it is not there.
func ModifiedAt(key string, rev int64) clientv3.Cmp { return modified(key, pb.Compare_EQUAL, rev) }

// NotWrittenAfter holds while one key was not put after rev.
func NotWrittenAfter(key string, rev int64) clientv3.Cmp {
	return modified(key, pb.Compare_LESS, rev+1)
}

// NoneNewer holds when no key of the range was created after rev; an empty
// range holds.
func NoneNewer(prefix string, rev int64) clientv3.Cmp {
	return created(prefix, clientv3.GetPrefixRangeEnd(prefix), pb.Compare_LESS, rev+1)
}

// NoneWrittenAfter holds when no key of the range was put after rev; an empty range
// holds.
func NoneWrittenAfter(prefix string, rev int64) clientv3.Cmp {
	c, m := comparing(prefix, pb.Compare_LESS)
	m.Target, m.TargetUnion = pb.Compare_MOD, &pb.Compare_ModRevision{ModRevision: rev + 1}
	m.RangeEnd = []byte(clientv3.GetPrefixRangeEnd(prefix))
	return c
}

// NoneOlder holds when no key of the range was created before rev. An empty
// range would compare as 0 and fail; it is used where a key is known to be.
func NoneOlder(prefix string, rev int64) clientv3.Cmp {
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

// Leased holds while a key is of a lease; 0: of none.
func Leased(key string, lease int64) clientv3.Cmp {
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
