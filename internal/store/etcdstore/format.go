package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// format is the value of meta/format: what every node of a cluster has to agree
// on.
type format struct {
	Version     int `json:"version"`
	Shards      int `json:"shards"`
	TimerShards int `json:"timerShards"`
}

// DataFormat is the version of what this program reads and writes in etcd. It goes up by one when a
// program of before and this one cannot work beside each other on the same data:
// keys that lie elsewhere, compares that the other does not make, values that mean
// something else. It stays for what an older program can leave alone
// ([db.DecodeWhole]): a field, an activity, a kind of command, a state.
//
// 1 was the first. 2: whole numbers of any size, starts that wait behind gates,
// indexes of tasks and sub-statuses, endpoints by shape, dead letters of one copy,
// marks of the queue, ages. 3: lists of instances by version and parent, the newest first,
// journal entries that say once what their items share. 4: the names of callers' keys begin
// with what the key alone tells.
const DataFormat = 4

var thisFormat = format{Version: DataFormat, Shards: record.Shards, TimerShards: record.TimerShards}

// ErrFormat marks data of another format than this program's.
var ErrFormat = errors.New("another format of the data")

// CheckFormat writes the format of this program into a fresh cluster, and
// refuses a cluster with another one ([ErrFormat]): its keys would be misread. A
// node asks before it joins.
//
// If: there is none yet. A repeat finds its own.
func (s *Store) CheckFormat(ctx context.Context) error {
	raw, err := db.Encode(thisFormat)
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
	return s.conn.foreign(kvs)
}

// foreign is the error for a format that is not this program's.
func (s *conn) foreign(kvs []*mvccpb.KeyValue) error {
	if len(kvs) == 0 {
		return fmt.Errorf("%w: the data under %s says no more of which format it is: %s is gone", ErrFormat, s.Keys.Root, s.Keys.Format())
	}
	var f format
	if err := db.Decode(kvs[0].Value, &f); err != nil {
		return fmt.Errorf("%w: %s cannot be read; weft fsck tells whether it can be made again, weft fsck --repair does it: %w", ErrFormat, s.Keys.Format(), err)
	}
	if f != thisFormat {
		return fmt.Errorf("%w: the data under %s is of format %d (%d shards, %d timer shards) and this program reads format %d (%d, %d): run a version for that format, or use another --cluster",
			ErrFormat, s.Keys.Root, f.Version, f.Shards, f.TimerShards, thisFormat.Version, thisFormat.Shards, thisFormat.TimerShards)
	}
	return nil
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
			if err := s.conn.foreign(resp.Kvs); errors.Is(err, db.ErrDamaged) {
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
