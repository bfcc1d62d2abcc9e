package groupcommit

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// maxReadLimit bounds the lists that are folded: a long list would make short
// reads wait.
const maxReadLimit = 512

// foldable reports whether op may write, and whether it may be folded at all: a read
// at a revision may be refused for its age and needs no fresh state, and a
// serializable one is not to wait for a quorum.
func foldable(op clientv3.Op) (writes, ok bool) {
	switch {
	case op.IsPut(), op.IsDelete():
		return true, true
	case op.IsGet():
		return false, op.Rev() == 0 && !op.IsSerializable()
	case !op.IsTxn():
		return false, false
	}
	_, then, other := op.Txn()
	for _, branch := range [][]clientv3.Op{then, other} {
		for _, o := range branch {
			w, ok := foldable(o)
			if !ok {
				return false, false
			}
			writes = writes || w
		}
	}
	return writes, true
}

// plain reports whether a request that only reads is told by its reads alone, as it
// compares nothing and has no other transaction in it, and none of them can be long.
func plain(op clientv3.Op) bool {
	if !op.IsTxn() {
		return bounded(&op)
	}
	cmps, then, _ := op.Txn()
	for i := range then {
		if then[i].IsTxn() || !bounded(&then[i]) {
			return false
		}
	}
	return len(cmps) == 0 && len(then) > 0
}

// readsOf are the reads of a plain request.
func readsOf(op clientv3.Op) []clientv3.Op {
	if !op.IsTxn() {
		return []clientv3.Op{op}
	}
	_, then, _ := op.Txn()
	return then
}

// bounded reports whether a read cannot be long.
func bounded(op *clientv3.Op) bool {
	return len(op.RangeBytes()) == 0 || op.IsCountOnly() || op.Limit() > 0 && op.Limit() <= maxReadLimit
}

// leaderKey is what clientv3.WithRequireLeader puts into the metadata of a call.
const leaderKey = "hasleader"

// foldableContext: metadata that is meant for one call is not given to others.
func foldableContext(ctx context.Context) bool {
	md, ok := metadata.FromOutgoingContext(ctx)
	if !ok {
		return true
	}
	_, leader := md[leaderKey]
	return len(md) == 0 || leader && len(md) == 1
}

func requiresLeader(ctx context.Context) bool {
	md, _ := metadata.FromOutgoingContext(ctx)
	return len(md[leaderKey]) > 0
}
