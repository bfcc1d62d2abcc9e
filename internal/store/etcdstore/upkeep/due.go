package upkeep

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Places are places in the shards of what is dated, by shard: what a key has behind the prefix of its shard. "" is
// the beginning.
type Places map[int]string

// PlaceAt is where what is due at a time begins.
func PlaceAt(at time.Time) string { return record.Millis(at) }

// dueIn is when what lies at a place is due: at the end of the millisecond that it names, so that a look
// then finds it. Of what is misplaced that is at once, as it is to be put where it belongs.
func dueIn(place string) time.Time {
	at, _, _ := strings.Cut(place, "/")
	if record.Misplaced(at) {
		return time.UnixMilli(0)
	}
	return record.FromMillis(at).Add(time.Millisecond)
}

// First is what comes first in a shard.
type First struct {
	Place     string    // "": there is nothing
	At        time.Time // when it is due; zero: there is nothing
	Misplaced bool      // it is not due then, but to be put where it belongs
}

// FirstDue tells of each shard what there is first at the places from or behind them, of what is due until a time. It is
// one request, and reads one key of a shard. Etcd walks over all keys between these places and that time, also over
// those that were deleted since it was last compacted.
func (s *Upkeep) FirstDue(ctx context.Context, of record.Dated, from Places, until time.Time) ([]First, error) {
	var ask db.Reads
	prefixes := make([]string, record.TimerShards)
	for i := range prefixes {
		prefixes[i] = s.conn.Keys.Dated(of, i)
		ask.Add(clientv3.OpGet(prefixes[i]+from[i], clientv3.WithRange(prefixes[i]+record.Millis(until)+"0"), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
	}
	resp, err := s.conn.Read(ctx, "look which "+of.String()+" are due next", ask.Ops...)
	if err != nil {
		return nil, err
	}
	first := make([]First, record.TimerShards)
	for i, prefix := range prefixes {
		if kv := db.Read(i).One(resp); kv != nil {
			f := First{Place: strings.TrimPrefix(string(kv.Key), prefix)}
			at, _, _ := strings.Cut(f.Place, "/")
			f.At, f.Misplaced = dueIn(f.Place), record.Misplaced(at)
			first[i] = f
		}
	}
	return first, nil
}

// Due reads what is due at now in some shards, each from a place on, up to perShard of each, in one request: of
// a shard in the order of its keys. more are the places where those go on that have more. With what is due comes what
// is misplaced there, and what is due later in this millisecond, which is all that a key tells.
func (s *Upkeep) Due(ctx context.Context, of record.Dated, from Places, now time.Time, perShard int64) (due []record.Due, more Places, err error) {
	var ask db.Reads
	shards := slices.Sorted(maps.Keys(from))
	for _, i := range shards {
		prefix := s.conn.Keys.Dated(of, i)
		ask.Add(clientv3.OpGet(prefix+from[i], clientv3.WithRange(prefix+record.Millis(now)+"0"), clientv3.WithLimit(perShard)))
	}
	resp, err := s.conn.Read(ctx, "read due "+of.String(), ask.Ops...)
	if err != nil {
		return nil, nil, err
	}
	more = Places{}
	for n, i := range shards {
		r := db.Read(n).In(resp)
		for _, kv := range r.Kvs {
			due = append(due, s.readDue(of, i, kv))
		}
		if r.More && len(r.Kvs) > 0 {
			more[i] = due[len(due)-1].Place + "\x00"
		}
	}
	return due, more, nil
}

func (s *Upkeep) readDue(of record.Dated, shard int, kv *mvccpb.KeyValue) record.Due {
	d := record.Due{Shard: shard, Place: strings.TrimPrefix(string(kv.Key), s.conn.Keys.Dated(of, shard)), Key: string(kv.Key), Created: kv.CreateRevision}
	at, _, _ := strings.Cut(d.Place, "/")
	d.Misplaced = record.Misplaced(at)
	var err error
	switch of {
	case record.Schedules:
		d.Schedule, err = record.DecodeCron(kv)
		d.At = d.Schedule.Due
	case record.TaskLeases:
		err = db.DecodeWhole(kv.Value, &d.Lease)
		d.At = record.FromMillis(at)
	default:
		err = db.DecodeWhole(kv.Value, &d.Entry)
		d.At = d.Entry.Due
	}
	if err != nil {
		s.conn.Left(kv.Key, err)
		d.At, d.Unreadable = record.FromMillis(at), true
	}
	return d
}

// MoveMisplaced puts timers that are misplaced where they belong, and tells how many it moved; their
// values stay. Each has a transaction of its own: of a large number one alone may be too large.
//
// If: the timer's mod revision, which never comes back. Then: delete it, put the same under its right key. A
// burst that burns the bookmark deletes both keys, so whichever comes first, no timer of it is left.
func (s *Upkeep) MoveMisplaced(ctx context.Context, shard int, places []string) (moved int, err error) {
	prefix := s.conn.Keys.Timers(shard)
	for chunk := range slices.Chunk(places, db.MaxLevel) {
		var ask db.Reads
		for _, place := range chunk {
			ask.Value(prefix + place)
		}
		resp, err := s.conn.Read(ctx, "read misplaced timers", ask.Ops...)
		if err != nil {
			return moved, err
		}
		for i, place := range chunk {
			kv := db.Read(i).One(resp)
			at, name, _ := strings.Cut(place, "/")
			if kv == nil || !record.Misplaced(at) {
				continue
			}
			t := s.conn.Begin("put a misplaced timer where it belongs", db.ModifiedAt(string(kv.Key), kv.ModRevision))
			t.Del(string(kv.Key))
			t.PutRaw(prefix+record.Millis(record.FromMillis(at))+"/"+name, kv.Value)
			put, err := db.Applied(t.Submit(ctx))
			if err != nil {
				return moved, err
			}
			if put {
				moved++
			}
		}
	}
	return moved, nil
}

// FewDated is how many keys are read to find those that are misplaced.
const FewDated = 1000

// Misplaced lists the places of a shard's timers that are misplaced, whenever they are due. Where there are many
// keys it counts by their digits, and reads no more than it has to.
func (s *Upkeep) Misplaced(ctx context.Context, shard int) (places []string, err error) {
	prefix := s.conn.Keys.Timers(shard)
	var in func(digits string) error
	in = func(digits string) error {
		from, end := prefix+digits+"0", prefix+digits+":" // : comes after 9, and / before 0
		if digits == record.BehindShort {
			return nil // what is in its place, but for ten milliseconds of the year 5138
		}
		if len(digits) < 13 {
			counted, err := s.conn.Get(ctx, "count timers", from, clientv3.WithRange(end), clientv3.WithCountOnly())
			if err != nil || counted.Count == 0 {
				return err
			}
			if counted.Count > FewDated {
				for d := range 10 {
					if err := in(digits + strconv.Itoa(d)); err != nil {
						return err
					}
				}
				return nil
			}
		}
		resp, err := s.conn.Get(ctx, "list timers", from, clientv3.WithRange(end), clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		for _, kv := range resp.Kvs {
			place := strings.TrimPrefix(string(kv.Key), prefix)
			if at, _, _ := strings.Cut(place, "/"); record.Misplaced(at) {
				places = append(places, place)
			}
		}
		return nil
	}
	err = in("")
	return places, err
}

// WatchDue tells what is put into some shards, until ctx ends, which the caller must end, or
// a watch breaks; then the channel closes. The channel holds of each shard the first place of those
// that were not taken from it. It is a hint: look also without it. begun: from now on it tells of all that is put. Watches
// that begin later say so, by places that are past.
func (s *Upkeep) WatchDue(ctx context.Context, of record.Dated, shards []int) (told <-chan Places, begun bool) {
	news := soonest{out: make(chan Places, 1)}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	watches := make([]clientv3.WatchChan, len(shards))
	begun = db.BeginWatch(func() {
		for i, shard := range shards {
			watches[i] = s.conn.Client.Watch(ctx, s.conn.Keys.Dated(of, shard), clientv3.WithPrefix(), clientv3.WithFilterDelete())
		}
	}, func(late bool) {
		defer close(news.out)
		if late {
			past := Places{}
			for _, shard := range shards {
				past[shard] = PlaceAt(time.Unix(0, 0))
			}
			news.put(past)
		}
		var all sync.WaitGroup
		defer all.Wait()
		for i, events := range watches {
			all.Go(func() {
				defer cancel() // one that is over ends the others
				news.follow(ctx, shards[i], s.conn.Keys.Dated(of, shards[i]), events)
			})
		}
	})
	return news.out, begun
}

// Soonest is when the first of what lies at places is due; zero: there are none.
func (p Places) Soonest() (at time.Time) {
	for _, place := range p {
		if due := dueIn(place); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}

// soonest is a channel that holds the first places of those that are put into it.
type soonest struct {
	mu  sync.Mutex // of those who put
	out chan Places
}

// put adds places, and keeps them.
func (s *soonest) put(places Places) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case others := <-s.out:
		for shard, place := range others {
			if was, ok := places[shard]; !ok || place < was {
				places[shard] = place
			}
		}
	default:
	}
	s.out <- places // there is room: who takes makes more of it
}

// follow puts what a watch of one shard tells, until it is over.
func (s *soonest) follow(ctx context.Context, shard int, prefix string, events clientv3.WatchChan) {
	for {
		resp, ok := db.Told(ctx, events)
		if !ok {
			return
		}
		for _, ev := range resp.Events {
			s.put(Places{shard: strings.TrimPrefix(string(ev.Kv.Key), prefix)})
		}
	}
}
