package cluster

import (
	"errors"
	"fmt"
	"strings"
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
