package etcdstore

import (
	"context"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Dated is what lies in shards in the order in which it is due.
type Dated int

// What there is of it.
const (
	Timers Dated = iota
	Schedules
)

func (d Dated) String() string { return [...]string{Timers: "timers", Schedules: "schedules"}[d] }

func (k keys) dated(of Dated, shard int) string {
	if of == Schedules {
		return k.crons(shard)
	}
	return k.timers(shard)
}

// dueIn is when a key below the prefix of its shard is due: at the end of the
// millisecond that it names, so that a look then finds it.
func dueIn(prefix string, key []byte) time.Time {
	ms, _, _ := strings.Cut(strings.TrimPrefix(string(key), prefix), "/")
	return fromMillis(ms).Add(time.Millisecond)
}

// FirstDue tells of each shard when the first there is due that is due at from or later (zero:
// of all), which may be past; zero: none is until then. It is one request, and reads one key of a
// shard.
func (s *Upkeep) FirstDue(ctx context.Context, of Dated, from, until time.Time) ([]time.Time, error) {
	var ask reads
	prefixes := make([]string, timerShards)
	for i := range prefixes {
		prefixes[i] = s.keys.dated(of, i)
		begin := prefixes[i]
		if !from.IsZero() {
			begin += millis(from)
		}
		ask.add(clientv3.OpGet(begin, clientv3.WithRange(prefixes[i]+millis(until)+"0"), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
	}
	resp, err := s.read(ctx, "look which "+of.String()+" are due next", ask.ops...)
	if err != nil {
		return nil, err
	}
	first := make([]time.Time, timerShards)
	for i, prefix := range prefixes {
		if kv := read(i).one(resp); kv != nil {
			first[i] = dueIn(prefix, kv.Key)
		}
	}
	return first, nil
}

// WatchDue tells when what is put into some shards is due, until ctx ends, which the
// caller must end, or a watch breaks; then the channel closes. The channel holds the
// soonest of those that were not taken from it. It is a hint: look also without it.
// Watches that begin late say so, by a time that is past.
func (s *Upkeep) WatchDue(ctx context.Context, of Dated, shards []int) <-chan time.Time {
	news := soonest{out: make(chan time.Time, 1)}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	watches := make([]clientv3.WatchChan, len(shards))
	beginWatch(func() {
		for i, shard := range shards {
			watches[i] = s.client.Watch(ctx, s.keys.dated(of, shard), clientv3.WithPrefix(), clientv3.WithFilterDelete())
		}
	}, func(late bool) {
		defer close(news.out)
		if late {
			news.put(time.Unix(0, 0))
		}
		var all sync.WaitGroup
		defer all.Wait()
		for i, events := range watches {
			all.Go(func() {
				defer cancel() // one that is over ends the others
				news.follow(ctx, s.keys.dated(of, shards[i]), events)
			})
		}
	})
	return news.out
}

// soonest is a channel that holds the soonest of the times that are put into it.
type soonest struct {
	mu  sync.Mutex // of those who put
	out chan time.Time
}

func (s *soonest) put(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case was := <-s.out:
		if was.Before(at) {
			at = was
		}
	default:
	}
	s.out <- at // there is room: who takes makes more of it
}

// follow puts what a watch of one shard tells, until it is over.
func (s *soonest) follow(ctx context.Context, prefix string, events clientv3.WatchChan) {
	for {
		resp, ok := told(ctx, events)
		if !ok {
			return
		}
		for _, ev := range resp.Events {
			s.put(dueIn(prefix, ev.Kv.Key))
		}
	}
}
