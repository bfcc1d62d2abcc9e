package db

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// watchBegins is how long a look waits at most for the watch that goes before it.
const watchBegins = 200 * time.Millisecond

// BeginWatch makes watches by open, and then follows them, on a goroutine that ends with
// follow. It waits until they have begun, so that a look that comes after it misses
// nothing. It does not wait long: etcd's client gives a watch only when a member has
// begun it, and one that hangs keeps nobody from looking. follow hears whether they
// began late: they do not tell of what was put before, so one more look has to follow. It returns
// whether they have begun.
func BeginWatch(open func(), follow func(late bool)) (begun bool) {
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

// Hints coalesces the changes of one key into tokens. Its goroutine ends with ctx, which
// the caller must end. A watch that begins late gives a hint at once.
func (s *Conn) Hints(ctx context.Context, key string, opts ...clientv3.OpOption) <-chan struct{} {
	hint, events := make(chan struct{}, 1), clientv3.WatchChan(nil)
	BeginWatch(func() {
		events = s.Client.Watch(clientv3.WithRequireLeader(ctx), key, opts...)
	}, func(late bool) {
		defer close(hint)
		if late {
			hint <- struct{}{}
		}
		for {
			if _, ok := Told(ctx, events); !ok {
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

// Told waits for what a watch tells next. False: it broke, or ctx ended, after which
// etcd's client may take its time to close the channel.
func Told(ctx context.Context, events clientv3.WatchChan) (resp clientv3.WatchResponse, ok bool) {
	select {
	case resp, ok = <-events:
		return resp, ok && resp.Err() == nil
	case <-ctx.Done():
		return resp, false
	}
}
