package upkeep

import (
	"context"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Control is what a node is told from outside of its instances.
type Control struct {
	Paused        bool     // the cluster is
	PauseRevision int64    // at which that was set; 0: it never was
	Cancelled     []string // instances that have an interrupt key, as Upkeep.Cancelled lists them
}

// Control reads all of it in one request.
func (s *Upkeep) Control(ctx context.Context) (Control, error) {
	var ask db.Reads
	pause, cancels := ask.Value(s.conn.Keys.Pause()), ask.Add(s.conn.ListCancels())
	resp, err := s.conn.Read(ctx, "read pause and interrupts", ask.Ops...)
	if err != nil {
		return Control{}, err
	}
	c := Control{Cancelled: s.conn.Cancelled(cancels.In(resp).Kvs)}
	c.Paused, c.PauseRevision = record.PausedBy(pause.One(resp))
	return c, nil
}

// WatchControl watches the interrupt keys and the pause flag until ctx ends or
// the watch breaks; then the channel closes. Cancelled instances are named; ""
// means that either may have changed: look at both. It is a hint: look also without it.
func (s *Upkeep) WatchControl(ctx context.Context) <-chan string {
	out := make(chan string)
	ctx = clientv3.WithRequireLeader(ctx)
	var cancels, pause clientv3.WatchChan
	db.BeginWatch(func() {
		cancels = s.conn.Client.Watch(ctx, s.conn.Keys.Cancels(), clientv3.WithPrefix(), clientv3.WithFilterDelete())
		pause = s.conn.Client.Watch(ctx, s.conn.Keys.Pause())
	}, func(late bool) {
		defer close(out)
		var names []string
		if late {
			names = []string{""}
		}
		for ok := true; ok; names, ok = s.controls(ctx, cancels, pause) {
			for _, n := range names {
				select {
				case out <- n:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	return out
}

// controls waits for what changes next. False: a watch is over, or ctx is.
func (s *Upkeep) controls(ctx context.Context, cancels, pause clientv3.WatchChan) (names []string, ok bool) {
	select {
	case resp, ok := <-cancels:
		for _, ev := range resp.Events {
			names = append(names, strings.TrimPrefix(string(ev.Kv.Key), s.conn.Keys.Cancels()))
		}
		return names, ok && resp.Err() == nil
	case resp, ok := <-pause:
		return []string{""}, ok && resp.Err() == nil
	case <-ctx.Done():
		return nil, false
	}
}

// Cancelled lists the instances that have an interrupt key.
func (s *Upkeep) Cancelled(ctx context.Context) ([]string, error) {
	var ask db.Reads
	cancels := ask.Add(s.conn.ListCancels())
	resp, err := s.conn.Read(ctx, "list interrupts", ask.Ops...)
	if err != nil {
		return nil, err
	}
	return s.conn.Cancelled(cancels.In(resp).Kvs), nil
}

// Interrupted gives the id of the cancel or the delete in the mailbox of an instance
// that has an interrupt key, the last one that came; "" if it has none.
func (s *Upkeep) Interrupted(ctx context.Context, id string) (command string, err error) {
	return s.conn.Interrupt(ctx, id)
}
