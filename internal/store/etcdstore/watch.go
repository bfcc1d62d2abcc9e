package etcdstore

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// WatchInstance gives a hint when an instance was written, until ctx ends or the
// watch breaks; then the channel closes.
func (s *Reader) WatchInstance(ctx context.Context, id string) <-chan struct{} {
	return s.conn.hints(ctx, s.conn.keys.instance(id), clientv3.WithFilterDelete())
}

// FollowInstance is [Reader.WatchInstance] that also gives a hint when the instance
// was removed.
func (s *Reader) FollowInstance(ctx context.Context, id string) <-chan struct{} {
	return s.conn.hints(ctx, s.conn.keys.instance(id))
}

// WatchAnswer gives a hint when the answer to a caller's key was written, as
// [Stimuli.WatchEffect] does.
func (s *Stimuli) WatchAnswer(ctx context.Context, key string) <-chan struct{} {
	return s.conn.hints(ctx, s.conn.keys.keyRecord(key), clientv3.WithFilterDelete())
}

// WatchEffect watches for the record of one command; the channel gives a value
// when it may be there, and closes when ctx ends or the watch breaks. It is a
// hint: look with [Stimuli.Effect], also without it.
func (s *Stimuli) WatchEffect(ctx context.Context, instance, command string) <-chan struct{} {
	return s.conn.hints(ctx, s.conn.keys.commandRecord(instance, command), clientv3.WithFilterDelete())
}

// watchBegins is how long a look waits at most for the watch that goes before it.
const watchBegins = 200 * time.Millisecond

// beginWatch makes watches by open, and then follows them, on a goroutine that ends with
// follow. It waits until they have begun, so that a look that comes after it misses
// nothing. It does not wait long: etcd's client gives a watch only when a member has
// begun it, and one that hangs keeps nobody from looking. follow hears whether they
// began late: they do not tell of what was put before, so one more look has to follow. It returns
// whether they have begun.
func beginWatch(open func(), follow func(late bool)) (begun bool) {
	began, late := make(chan struct{}), make(chan struct{})
	go func() {
		open()
		select {
		case began <- struct{}{}:
			follow(false)
		case <-late:
			follow(true)
		}
	}()
	patience := time.NewTimer(watchBegins)
	defer patience.Stop()
	select {
	case <-began:
		return true
	case <-patience.C:
		close(late)
		return false
	}
}

// hints coalesces the changes of one key into tokens. Its goroutine ends with ctx, which
// the caller must end. A watch that begins late gives a hint at once.
func (s *link) hints(ctx context.Context, key string, opts ...clientv3.OpOption) <-chan struct{} {
	hint, events := make(chan struct{}, 1), clientv3.WatchChan(nil)
	beginWatch(func() {
		events = s.client.Watch(clientv3.WithRequireLeader(ctx), key, opts...)
	}, func(late bool) {
		defer close(hint)
		if late {
			hint <- struct{}{}
		}
		for {
			if _, ok := told(ctx, events); !ok {
				return
			}
			select {
			case hint <- struct{}{}:
			default:
			}
		}
	})
	return hint
}

// told waits for what a watch tells next. False: it broke, or ctx ended, after which
// etcd's client may take its time to close the channel.
func told(ctx context.Context, events clientv3.WatchChan) (resp clientv3.WatchResponse, ok bool) {
	select {
	case resp, ok = <-events:
		return resp, ok && resp.Err() == nil
	case <-ctx.Done():
		return resp, false
	}
}
