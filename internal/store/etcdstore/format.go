package etcdstore

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/format"
	"github.com/weft-run/weft/pkg/workflow"
)

// CheckFormat writes the format of this program into a fresh cluster, and
// refuses a cluster with another one ([format.ErrFormat]): its keys would be misread. A
// node asks before it joins.
//
// If: there is none yet. A repeat finds its own.
func (s *Store) CheckFormat(ctx context.Context) error {
	raw, err := db.Encode(format.ThisFormat)
	if err != nil {
		return err
	}
	found, err := s.conn.Get(ctx, "check the format", s.conn.Keys.Format())
	if err != nil {
		return err
	}
	kvs := found.Kvs
	if len(kvs) == 0 {
		t := s.conn.Begin("write the format", db.Absent(s.conn.Keys.Format()))
		t.PutRaw(s.conn.Keys.Format(), raw)
		there := t.Otherwise.Value(s.conn.Keys.Format())
		resp, err := t.Submit(ctx)
		if err != nil || resp.Succeeded {
			return err
		}
		kvs = there.In(resp).Kvs
	}
	return format.Foreign(s.conn.Conn, kvs)
}

// KeepFormat looks out for another format until ctx ends; then it returns nil. If
// there is another one, as a newer program has migrated the data or another backup
// was restored, it returns an error, and from then on every call of the store
// fails: what this program would read it would misread, and what it would write
// others would. What cannot be read at all is no format: it is logged, and the node
// goes on, so that it can be repaired beside it.
func (s *Store) KeepFormat(ctx context.Context) error {
	for ctx.Err() == nil {
		wait, from := time.Second, int64(0)
		if resp, err := s.conn.Get(ctx, "look at the format", s.conn.Keys.Format()); err == nil {
			if err := format.Foreign(s.conn.Conn, resp.Kvs); errors.Is(err, db.ErrDamaged) {
				s.conn.Left([]byte(s.conn.Keys.Format()), err)
			} else if err != nil {
				s.conn.Halted.Store(&workflow.Error{Code: workflow.CodeUnavailable, Detail: "this node ends: " + err.Error(), RetryAfter: time.Second})
				return err
			}
			wait, from = formatSweep, resp.Header.Revision+1
		}
		s.waitFormat(ctx, wait, from)
	}
	return nil
}

const formatSweep = 30 * time.Second // behind the watch

// waitFormat returns when the format may have changed since revision from (0: it
// is not watched), or the time is over.
func (s *Store) waitFormat(ctx context.Context, wait time.Duration, from int64) {
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), wait)
	defer cancel()
	if from == 0 {
		<-ctx.Done()
		return
	}
	began := time.Now()
	<-s.conn.Client.Watch(ctx, s.conn.Keys.Format(), clientv3.WithRev(from))
	if time.Since(began) < time.Second { // a watch that breaks at once does not spin
		pause, stop := context.WithTimeout(ctx, time.Second/10)
		defer stop()
		<-pause.Done()
	}
}
