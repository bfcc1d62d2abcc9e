package record

import (
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// ListCancels reads which instances are to end.
func (s *Conn) ListCancels() clientv3.Op {
	return clientv3.OpGet(s.Keys.Cancels(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1000))
}

// Cancelled are their ids.
func (s *Conn) Cancelled(kvs []*mvccpb.KeyValue) []string {
	ids := make([]string, len(kvs))
	for i, kv := range kvs {
		ids[i] = strings.TrimPrefix(string(kv.Key), s.Keys.Cancels())
	}
	return ids
}

// Interrupt reads which command is to end an instance; "" if none is.
func (s *Conn) Interrupt(ctx context.Context, id string) (command string, err error) {
	resp, err := s.Get(ctx, "read interrupt of "+id, s.Keys.Cancel(id))
	if err != nil || len(resp.Kvs) == 0 {
		return "", err
	}
	if err := db.Decode(resp.Kvs[0].Value, &command); err != nil {
		s.Left(resp.Kvs[0].Key, err) // it is a hint
		return "", nil
	}
	return command, nil
}

// PausedBy reads the flag; nil: it was never set.
func PausedBy(kv *mvccpb.KeyValue) (paused bool, modified int64) {
	if kv == nil {
		return false, 0
	}
	return string(kv.Value) == "true", kv.ModRevision
}

// Paused reads whether the cluster is paused, and the revision at which that was set; 0: it never was.
func (s *Conn) Paused(ctx context.Context) (paused bool, modified int64, err error) {
	resp, err := s.Get(ctx, "read pause", s.Keys.Pause())
	if err != nil || len(resp.Kvs) == 0 {
		return false, 0, err
	}
	paused, modified = PausedBy(resp.Kvs[0])
	return paused, modified, nil
}
