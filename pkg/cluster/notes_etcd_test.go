package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// These show what etcd does, and run nothing of ours: they fail when a new version does otherwise.

func TestNote39_APutThatIsNotTakenIsRefusedWithoutSpace(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, func(c *embed.Config) { c.QuotaBackendBytes = 16 << 20 }).Client(t)
	full := error(nil)
	// etcd looks at its size as of the last write to disk, up to 100 ms ago: how many puts come before depends on the machine.
	for i := 0; full == nil; i++ {
		_, full = c.Put(t.Context(), fmt.Sprint("fill/", i), strings.Repeat("x", 1<<20))
	}
	if !errors.Is(full, rpctypes.ErrNoSpace) {
		t.Fatal(full)
	}
	there := clientv3.Compare(clientv3.CreateRevision("fill/0"), ">", 0)
	remove, put := clientv3.OpDelete("fill/0"), clientv3.OpPut("new", "")
	if _, err := c.Txn(t.Context()).If(there).Then(remove).Else(put).Commit(); !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Errorf("a delete beside a put that is not taken: %v", err)
	}
	inner := clientv3.OpTxn([]clientv3.Cmp{there}, []clientv3.Op{remove}, []clientv3.Op{put})
	if _, err := c.Txn(t.Context()).Then(inner).Commit(); !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Errorf("the same, nested: %v", err)
	}
	if resp, err := c.Txn(t.Context()).If(there).Then(remove).Else(clientv3.OpGet("new")).Commit(); err != nil || !resp.Succeeded {
		t.Errorf("a delete beside a read: %v, %v", resp, err)
	}
}

func TestNote40_ACountIgnoresTheLeastRevision(t *testing.T) {
	w := newWorld(t)
	var last int64
	for i := range 5 {
		resp, err := w.raw.Put(w.ctx(), fmt.Sprint(w.name, "/", i), "")
		if err != nil {
			t.Fatal(err)
		}
		last = resp.Header.Revision
	}
	of := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithMinModRev(last)}
	found, err := w.raw.Get(w.ctx(), w.name+"/", of...)
	if err != nil || len(found.Kvs) != 1 || found.Count != 5 {
		t.Errorf("%d found, counted %d, %v", len(found.Kvs), found.Count, err)
	}
	counted, err := w.raw.Get(w.ctx(), w.name+"/", append(of, clientv3.WithCountOnly())...)
	if err != nil || counted.Count != 5 {
		t.Errorf("counted %d, %v", counted.Count, err)
	}
}

func TestNote42_NobodyTellsASessionThatItsLeaseWasRevoked(t *testing.T) {
	w := newWorld(t)
	lease, err := w.raw.Grant(w.ctx(), 60)
	if err != nil {
		t.Fatal(err)
	}
	renewals, err := w.etcd.Client(t).KeepAlive(t.Context(), lease.ID)
	if err != nil {
		t.Fatal(err)
	}
	<-renewals // the next one is 20 s away
	if _, err := w.raw.Revoke(w.ctx(), lease.ID); err != nil {
		t.Fatal(err)
	}
	if left, err := w.raw.TimeToLive(w.ctx(), lease.ID); err != nil || left.TTL != -1 {
		t.Fatalf("%+v, %v", left, err)
	}
	select {
	case r, open := <-renewals:
		t.Errorf("it was told: %v, %t", r, open)
	default:
	}
}

func TestNote43_AWatchInTheFutureLosesAskingHowFarItIs(t *testing.T) {
	w := newWorld(t)
	resp, err := w.raw.Get(w.ctx(), w.name)
	if err != nil {
		t.Fatal(err)
	}
	const far = 1000 // revisions: others write to this etcd, too
	c := w.etcd.Client(t)
	told := c.Watch(clientv3.WithRequireLeader(t.Context()), w.name+"/ahead", clientv3.WithRev(resp.Header.Revision+far), clientv3.WithCreatedNotify())
	if first := <-told; !first.Created {
		t.Fatalf("%+v", first)
	}
	if err := c.RequestProgress(clientv3.WithRequireLeader(t.Context())); err != nil {
		t.Fatal(err)
	}
	for at := resp.Header.Revision; at < resp.Header.Revision+far; {
		ops := make([]clientv3.Op, 0, 100)
		for i := range cap(ops) {
			ops = append(ops, clientv3.OpPut(fmt.Sprint(w.name, "/fill/", i), ""))
		}
		r, err := w.raw.Txn(w.ctx()).Then(ops...).Commit()
		if err != nil {
			t.Fatal(err)
		}
		if at++; at > r.Header.Revision {
			t.Fatal("the revision stands")
		}
	}
	if _, err := w.raw.Put(w.ctx(), w.name+"/ahead", ""); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got.IsProgressNotify() || len(got.Events) != 1 {
		t.Errorf("%+v; want the put: nobody kept the question", got)
	}
}

func TestNote45_TheFirstChunksOfAStreamHaveNoRevision(t *testing.T) {
	w := newWorld(t)
	ops := make([]clientv3.Op, 0, 100)
	for i := range cap(ops) {
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("%s/%03d", w.name, i), ""))
	}
	if _, err := w.raw.Txn(w.ctx()).Then(ops...).Commit(); err != nil {
		t.Fatal(err)
	}
	chunks, err := w.raw.GetStream(w.ctx(), w.name+"/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var headers []bool
	keys := 0
	for c := range chunks {
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		headers, keys = append(headers, c.GetHeader().GetRevision() > 0), keys+len(c.Kvs)
	}
	if len(headers) < 2 || headers[0] || !headers[len(headers)-1] || keys != len(ops) {
		t.Errorf("%d keys, headers %v", keys, headers)
	}
}

// Each lease that ends is a proposal of its own; what is on one lease ends in one. How many a second, the note says: that depends on the machine.
func TestNote44_LeasesThatEndTogetherEndOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	const many = 20
	before := w.put(w.name+"/ends/first", "")
	for i := 0; i < many; {
		lease, err := w.raw.Grant(w.ctx(), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.raw.Put(w.ctx(), fmt.Sprint(w.name, "/ends/", i), "", clientv3.WithLease(lease.ID))
		switch {
		case err == nil:
			i++
		case !errors.Is(err, rpctypes.ErrLeaseNotFound): // on a busy machine it may have ended
			t.Fatal(err)
		}
	}
	if at := w.deleted(w.name+"/ends/", before, many); len(at) != many {
		t.Errorf("%d keys on as many leases ended at %d revisions", many, len(at))
	}
}

// All that a node holds is on its lease, so it ends at once, in one revision, however much it is.
func TestNote44_WhatANodeHoldsEndsTogether(t *testing.T) {
	w := newWorld(t)
	s := w.open("a")
	const many = 20
	before := w.put(w.name+"/first", "")
	for i := range many {
		w.lock(s, InstanceLock(fmt.Sprint(i)))
	}
	w.revoke(s.Epoch().Lease)
	if at := w.deleted(Root(w.name), before, many+1); len(at) != 1 { // and the record of the node
		t.Errorf("what a node held ended at %d revisions", len(at))
	}
}

// deleted waits until as many keys below a prefix were deleted since a revision, and gives the revisions at which they were.
func (w *world) deleted(prefix string, since int64, many int) map[int64]int {
	w.t.Helper()
	at, n := map[int64]int{}, 0
	for resp := range w.raw.Watch(w.ctx(), prefix, clientv3.WithPrefix(), clientv3.WithRev(since), clientv3.WithFilterPut()) {
		for _, ev := range resp.Events {
			at[ev.Kv.ModRevision]++
			if n++; n == many {
				return at
			}
		}
	}
	w.t.Fatalf("%d of %d keys were deleted", n, many)
	return nil
}

// begins notes where watches begin, and ends the first one at once.
type begins struct {
	clientv3.Watcher
	at chan int64
	n  atomic.Int32
}

func (b *begins) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	b.at <- clientv3.OpGet(key, opts...).Rev()
	if b.n.Add(1) == 1 {
		ended := make(chan clientv3.WatchResponse)
		close(ended)
		return ended
	}
	return b.Watcher.Watch(ctx, key, opts...)
}

// The watch of the members begins behind a read that was just made, also after it ended: it never asks for what was.
func TestNote46_AWatchBeginsWhereAReadEnded(t *testing.T) {
	w := newWorld(t)
	var last int64
	for i := range 100 {
		last = w.put(fmt.Sprint(w.name, "/past/", i%10), "")
	}
	watcher := &begins{at: make(chan int64, 100)} // others end by themselves, after minutes
	s := w.open("a", func(c *Config) {
		watcher.Watcher = c.Client.Watcher
		c.Client.Watcher = watcher
	})
	w.start(s)
	for i := range 2 {
		if from := <-watcher.at; from <= last {
			t.Errorf("watch %d begins at %d, in the past: %d was there before", i, from, last)
		}
	}
}
