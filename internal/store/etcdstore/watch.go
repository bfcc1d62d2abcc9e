package etcdstore

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/health"
)

// WatchInstance gives a hint when an instance was written, until ctx ends or the
// watch breaks; then the channel closes.
func (s *listReader) WatchInstance(ctx context.Context, id string) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.Instance(id), clientv3.WithFilterDelete())
}

// FollowInstance is [Reader.WatchInstance] that also gives a hint when the instance
// was removed.
func (s *listReader) FollowInstance(ctx context.Context, id string) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.Instance(id))
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

// Health measures a round trip, and asks each member of etcd how it is. It ends within 2 s.
func (s *Upkeep) Health(ctx context.Context) Health {
	return health.Ask(ctx, s.conn.Client, s.conn.Keys.Format())
}
