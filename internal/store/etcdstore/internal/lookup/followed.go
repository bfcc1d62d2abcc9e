package lookup

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/metadata"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// WatchPatience is how long it may take until watches have begun.
const WatchPatience = 30 * time.Second

// A range that is emptied all the time is expensive to read: etcd's index goes over each key
// that was ever in it, until a compaction (etcd note 34). So what lies in a range that is
// looked at often is followed: it is read once, and then told by a watch. What is given of it is
// as exact as a read: a look asks for a revision, and waits until the watch has told of
// everything up to there. Where it does not within a moment, or a range is not followed, etcd is
// read. So it guarantees what a read does; what it does not guarantee is that it is faster.

const (
	// FollowAfter is how many looks of this node at a range it takes until that is followed: so
	// many deleted keys, and those of the other nodes, a look goes over at most.
	FollowAfter = 200
	// lookedAt is of how many ranges looks are counted: those are found that have more than so
	// much of all looks.
	lookedAt = 1000
	// MaxFollowed is how many keys a range has at most that is followed, and all of them together.
	MaxFollowed, maxFollowedAll = MaxTargets, 100_000
	// SlowLook is how long a sweep's look at a range takes that is followed from then on.
	SlowLook = 10 * time.Millisecond
	// followPatience is how long a look of a new follower waits for the watch before it reads, and followAgain
	// after how much of that it asks again how far it is: one that is behind does not say.
	followPatience, followAgain = 250 * time.Millisecond, 20 * time.Millisecond
	// followIdle and followQuiet are after how long without a look, and without a change, a range
	// is not followed any more, and followTidy how often that is looked for.
	followIdle, followQuiet, followTidy = time.Minute, 10 * time.Minute, 10 * time.Second
	// followRests is the pause after a watch that broke.
	followRests = time.Second
)

// Follower follows ranges below one prefix, each of which ends with a slash. All share a watch, which
// there is while something is followed.
type Follower struct {
	Patience time.Duration // how long a look waits for the watch before it reads

	s      *Conn
	prefix string
	keys   bool // values are not kept
	wanted chan string
	ask    chan struct{}

	mu       sync.Mutex
	revision int64                // up to which the watch has told; guarded by mu
	behind   bool                 // it did not tell in time, and has not told anything since; guarded by mu
	moved    chan struct{}        // closed when revision or ranges change; guarded by mu
	ranges   map[string]*followed // by prefix; guarded by mu
	looks    map[string]int       // at ranges that are not followed; guarded by mu
}

// followed is one range.
type followed struct {
	read   int64 // at which revision it was
	looked time.Time
	told   time.Time // when something in it changed
	kvs    map[string]*mvccpb.KeyValue
}

func newFollower(s *Conn, prefix string, keys bool) *Follower {
	return &Follower{Patience: followPatience, s: s, prefix: prefix, keys: keys, wanted: make(chan string, 16), ask: make(chan struct{}, 1),
		moved: make(chan struct{}), ranges: map[string]*followed{}, looks: map[string]int{}}
}

// FollowAll follows what is looked at often, until ctx ends, and waits for its goroutines.
func (s *Conn) FollowAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range []*Follower{s.Waiting, s.Queue, s.Sending, s.Boxes} {
		g.Go(func() error { return f.run(ctx) })
	}
	return g.Wait()
}

// Has tells whether a range is followed, and the watch tells in time.
func (f *Follower) Has(prefix string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.behind {
		f.asks()
		return false
	}
	return f.ranges[prefix] != nil
}

// asks has the watch asked how far it is.
func (f *Follower) asks() {
	select {
	case f.ask <- struct{}{}:
	default:
	}
}

// Looked counts a look that read a range and found so many keys in it. Of many ranges it finds those
// that are looked at most often (Misra and Gries): when there are too many, one is taken
// from each.
func (f *Follower) Looked(prefix string, keys int64) {
	if keys > MaxFollowed {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, counted := f.looks[prefix]; !counted && len(f.looks) >= lookedAt {
		for p := range f.looks {
			if f.looks[p]--; f.looks[p] == 0 {
				delete(f.looks, p)
			}
		}
		return
	}
	if f.looks[prefix]++; f.looks[prefix] >= FollowAfter {
		delete(f.looks, prefix)
		f.Want(prefix, keys)
	}
}

// Want has a range followed that has so many keys.
func (f *Follower) Want(prefix string, keys int64) {
	if keys > MaxFollowed {
		return
	}
	select {
	case f.wanted <- prefix:
	default: // it comes again
	}
}

// At gives the first that lie in a range at a revision or later, in the order of the keys, how
// many there are, and up to which revision that is all. False: it is to be read.
func (f *Follower) At(ctx context.Context, prefix string, revision int64, limit int) (kvs []*mvccpb.KeyValue, n int, upTo int64, ok bool) {
	r, upTo, ok := f.upTo(ctx, prefix, revision)
	if !ok {
		return nil, 0, 0, false
	}
	defer f.mu.Unlock()
	kvs = slices.Collect(maps.Values(r.kvs))
	if limit == 1 && len(kvs) > 0 {
		kvs = []*mvccpb.KeyValue{slices.MinFunc(kvs, byKey)}
	}
	slices.SortFunc(kvs, byKey)
	return kvs[:min(limit, len(kvs))], len(r.kvs), upTo, true
}

func byKey(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) }

// Now gives keys of all that the follower is for, from one on, as they are now, and whether more
// follow. False: it is to be read.
func (f *Follower) Now(ctx context.Context, what, from string, limit int) (kvs []*mvccpb.KeyValue, more, ok bool, err error) {
	if !f.Has(f.prefix) {
		return nil, false, false, nil
	}
	at, err := f.s.Get(ctx, what, f.s.Keys.Pause(), clientv3.WithCountOnly())
	if err != nil {
		return nil, false, false, err
	}
	if kvs, _, _, ok = f.At(ctx, f.prefix, at.Header.Revision, MaxFollowed); !ok {
		return nil, false, false, nil
	}
	i, _ := slices.BinarySearchFunc(kvs, from, func(kv *mvccpb.KeyValue, key string) int { return strings.Compare(string(kv.Key), key) })
	kvs = kvs[i:]
	n := min(limit, len(kvs))
	return kvs[:n], n < len(kvs), true, nil
}

// Named reads the values of keys, as many as a page holds, and gives each that is there to do as it
// comes. It tells how many keys it has looked at.
func (f *Follower) Named(ctx context.Context, what string, keys []*mvccpb.KeyValue, do func(*mvccpb.KeyValue) error) (n int, err error) {
	for b := (db.Budget{}); n < len(keys); {
		var ask db.Reads
		for _, kv := range keys[n:min(len(keys), n+b.Chunk())] {
			ask.Value(string(kv.Key))
		}
		resp, err := f.s.Read(ctx, what, ask.Ops...)
		if err != nil {
			return n, err
		}
		for i := range ask.Ops {
			if kv := db.Read(i).One(resp); kv != nil {
				if !b.Takes(kv.Value) {
					return n, nil
				}
				if err := do(kv); err != nil {
					return n, err
				}
			}
			n++
		}
	}
	return n, nil
}

// upTo waits until the watch has told of everything up to a revision. With true mu is held: what lies in
// the range does not change.
func (f *Follower) upTo(ctx context.Context, prefix string, revision int64) (r *followed, upTo int64, ok bool) {
	patience, again := time.NewTimer(f.Patience), time.NewTicker(followAgain)
	defer patience.Stop()
	defer again.Stop()
	for {
		f.mu.Lock()
		r, moved := f.ranges[prefix], f.moved
		if r == nil {
			f.mu.Unlock()
			return nil, 0, false
		}
		if upTo = max(f.revision, r.read); upTo >= revision {
			r.looked = time.Now()
			return r, upTo, true
		}
		f.mu.Unlock()
		f.asks()
		select {
		case <-moved:
		case <-again.C:
		case <-patience.C:
			f.mu.Lock()
			f.behind = true
			f.mu.Unlock()
			return nil, 0, false
		case <-ctx.Done():
			return nil, 0, false
		}
	}
}

// run follows while something is wanted, until ctx ends.
func (f *Follower) run(ctx context.Context) error {
	for {
		select {
		case first := <-f.wanted:
			if err := f.follow(ctx, first); err != nil && ctx.Err() == nil {
				f.s.Log.WarnContext(ctx, "what is looked at often is read from etcd for now: its watch has ended", "keys", strings.TrimPrefix(f.prefix, f.s.Keys.Root), "error", err)
				pace.Pause(ctx, followRests)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// follow begins with one range, and ends when none is left, or the watch.
func (f *Follower) follow(ctx context.Context, first string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.forget()
	// On a stream of its own: what is asked of it (how far it is) all watches of a stream are told.
	own := clientv3.WithRequireLeader(metadata.AppendToOutgoingContext(ctx, "weft-watch", "followed/"+strings.TrimPrefix(f.prefix, f.s.Keys.Root)))
	events, err := f.watch(own, cancel)
	if err != nil {
		return err
	}
	// A watch is behind when it begins, and says how far it is only when it is not. Until then all is read.
	wanted, began := []string{first}, false
	tidy, again := time.NewTicker(followTidy), time.NewTicker(followAgain)
	defer tidy.Stop()
	defer again.Stop()
	for {
		select {
		case resp, ok := <-events:
			if err := resp.Err(); err != nil || !ok {
				return errors.Join(err, errors.New("etcd tells nothing more"))
			}
			f.take(&resp)
			began = true
			again.Stop()
		case prefix := <-f.wanted:
			wanted = append(wanted, prefix)
		case <-f.ask:
			if err := f.s.Client.RequestProgress(own); err != nil {
				return err
			}
		case <-again.C:
			f.asks()
		case now := <-tidy.C:
			if f.tidy(now) == 0 {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
		for ; began && len(wanted) > 0; wanted = wanted[1:] {
			if err := f.add(ctx, wanted[0]); err != nil {
				return err
			}
		}
	}
}

// watch begins the watch. Its first revision is one that there is: of a later one it would not say that
// it is there.
func (f *Follower) watch(own context.Context, cancel func()) (clientv3.WatchChan, error) {
	now, err := f.s.Get(own, "look where to follow from", f.s.Keys.Pause(), clientv3.WithCountOnly())
	if err != nil {
		return nil, err
	}
	patience := time.AfterFunc(WatchPatience, cancel) // etcd's client waits until a member has begun it
	defer patience.Stop()
	return f.s.Client.Watch(own, f.prefix, clientv3.WithPrefix(), clientv3.WithRev(now.Header.Revision)), own.Err()
}

// add reads a range. Nothing that the watch tells is taken while it does; what it tells of up to
// the revision of the read is in it.
func (f *Follower) add(ctx context.Context, prefix string) error {
	opts := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithLimit(MaxFollowed)}
	if f.keys {
		opts = append(opts, clientv3.WithKeysOnly())
	}
	resp, err := f.s.Get(ctx, "read what is to be followed", prefix, opts...)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ranges[prefix] != nil || resp.Header.Revision < f.revision {
		return nil
	}
	all := len(resp.Kvs)
	for _, r := range f.ranges {
		all += 1 + len(r.kvs)
	}
	if resp.More || all > maxFollowedAll {
		return nil
	}
	now := time.Now()
	r := &followed{read: resp.Header.Revision, looked: now, told: now, kvs: make(map[string]*mvccpb.KeyValue, len(resp.Kvs))}
	for _, kv := range resp.Kvs {
		r.kvs[string(kv.Key)] = kv
	}
	f.ranges[prefix] = r
	return nil
}

// take notes what the watch tells. All of one revision comes at once.
func (f *Follower) take(resp *clientv3.WatchResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	upTo, now := f.revision, time.Now()
	if len(resp.Events) == 0 && resp.IsProgressNotify() {
		upTo = max(upTo, resp.Header.Revision)
	}
	for _, ev := range resp.Events {
		upTo = max(upTo, ev.Kv.ModRevision)
		key := string(ev.Kv.Key)
		for i := len(f.prefix) - 1; i < len(key); i++ {
			if key[i] != '/' {
				continue
			}
			prefix := key[:i+1]
			r := f.ranges[prefix]
			if r == nil || ev.Kv.ModRevision <= r.read {
				continue
			}
			r.told = now
			switch {
			case ev.Type == mvccpb.DELETE:
				delete(r.kvs, key)
			case len(r.kvs) >= MaxFollowed && r.kvs[key] == nil:
				delete(f.ranges, prefix) // it is too long by now
			default:
				if f.keys {
					ev.Kv.Value = nil
				}
				r.kvs[key] = ev.Kv
			}
		}
	}
	if upTo > f.revision {
		f.step(upTo)
	}
}

// step wakes who waits for the watch; mu is held.
func (f *Follower) step(revision int64) {
	f.revision, f.behind = revision, false
	close(f.moved)
	f.moved = make(chan struct{})
}

// forget leaves everything to be read.
func (f *Follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.ranges)
	f.step(0)
}

// Assume takes a range for one that is followed and holds nothing, of which the watch has told nothing yet: for tests.
func (f *Follower) Assume(prefix string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ranges[prefix] = &followed{kvs: map[string]*mvccpb.KeyValue{}}
}

// Leave leaves a range to be read.
func (f *Follower) Leave(prefix string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ranges, prefix)
}

// Wants tells how many ranges are to be followed, or are counted as looked at: for tests.
func (f *Follower) Wants() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.wanted) + len(f.looks)
}

// tidy leaves what nobody looks at and what does not change, and tells how many are left.
func (f *Follower) tidy(now time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for prefix, r := range f.ranges {
		if now.Sub(r.looked) > followIdle || now.Sub(r.told) > followQuiet {
			delete(f.ranges, prefix)
		}
	}
	return len(f.ranges)
}
