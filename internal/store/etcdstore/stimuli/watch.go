package stimuli

import (
	"context"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// SetPaused pauses the cluster or lets it go on; it returns the revision at
// which that was set.
//
// If: the flag's mod revision as read. The flag is written, never deleted, so
// that a copy which comes late changes nothing.
func (s *Stimuli) SetPaused(ctx context.Context, paused bool) (int64, error) {
	for {
		is, modified, err := s.conn.Paused(ctx)
		if err != nil || is == paused {
			return modified, err
		}
		resp, err := s.conn.Txn(ctx, "set pause", []clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Pause(), modified)},
			[]clientv3.Op{db.Put(s.conn.Keys.Pause(), strconv.AppendBool(nil, paused))}, nil)
		if err != nil {
			return 0, err
		}
		if resp.Succeeded {
			return resp.Header.Revision, nil
		}
	}
}

// WatchAnswer gives a hint when the answer to a caller's key was written, as
// [Stimuli.WatchEffect] does.
func (s *Stimuli) WatchAnswer(ctx context.Context, key string) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.KeyRecord(key), clientv3.WithFilterDelete())
}

// WatchEffect watches for the record of one command; the channel gives a value
// when it may be there, and closes when ctx ends or the watch breaks. It is a
// hint: look with [Stimuli.Effect], also without it.
func (s *Stimuli) WatchEffect(ctx context.Context, instance, command string) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.CommandRecord(instance, command), clientv3.WithFilterDelete())
}
