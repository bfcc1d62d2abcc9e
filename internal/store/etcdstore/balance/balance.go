package balance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// View reads the balance.
type View struct{ conn *lookup.Conn }

// NewView is who reads the balance over a connection.
func NewView(c *lookup.Conn) *View { return &View{c} }

// Counter counts it.
type Counter struct{ conn *lookup.Conn }

// NewCounter is who counts over a connection.
func NewCounter(c *lookup.Conn) *Counter { return &Counter{c} }

// The balance: accepted = applied + refused + deleted + set aside + mailboxes + queue + send
// records + dead letters (docs/decisions/0008). No transaction counts. One node watches what is
// accepted durably come and go; what it counted it puts, with the revision up to which, as one
// value. So another goes on exactly, as a watch gives each change once.

// Reckoning says who counts, and how.
type Reckoning struct {
	Node  string
	Every time.Duration // how often what was counted is put; a sixth as often if that is nothing
	Now   func() time.Time
	Mine  func() bool          // whether it is still this node that counts
	Told  func(*store.Balance) // of what was put
}

// restEvery is how many times as long a balance is left that nothing has changed; its
// revision must not become so old that etcd has compacted it.
const restEvery = 6

// countShare is how many times as long as its last count of what waits a balance rests at least, within
// restEvery: etcd goes through all keys of a range to count them.
const countShare = 50

// Balance reads the balance as it was put last; nil: nobody has counted yet.
func (s *View) Balance(ctx context.Context) (*store.Balance, error) {
	b, _, _, err := Read(ctx, s.conn)
	return b, err
}

// Read is nil where there is none that could be gone on from, for a reason.
func Read(ctx context.Context, s *lookup.Conn) (b *store.Balance, modified int64, because string, err error) {
	resp, err := s.Get(ctx, "read the balance", s.Keys.Balance())
	if err != nil || len(resp.Kvs) == 0 {
		return nil, 0, "nobody counted before", err
	}
	kv := resp.Kvs[0]
	b = new(store.Balance)
	if err := db.DecodeWhole(kv.Value, b); err != nil {
		if !errors.Is(err, db.ErrDamaged) {
			return nil, 0, "", fmt.Errorf("read the balance: %w", err)
		}
		s.Left(kv.Key, err)
		return nil, kv.ModRevision, "what was counted before cannot be read", nil
	}
	if b.Etcd != record.EtcdID(resp.Header.ClusterId) || b.Revision >= kv.ModRevision || b.Since > b.Revision {
		return nil, kv.ModRevision, "what was counted before is of another etcd", nil
	}
	return b, kv.ModRevision, "", nil
}

// Reckon counts on from the balance that was put last, until it is another node's turn or
// something is in its way; the next call goes on where the last put was. Where it cannot go
// on, as etcd has compacted what came since, it begins again, and the balance says so.
func (s *Counter) Reckon(ctx context.Context, how Reckoning) error {
	b, modified, because, err := Read(ctx, s.conn)
	if err != nil {
		return err
	}
	r := &reckoner{s: s, how: how, modified: modified}
	if b == nil {
		err = r.begin(ctx, because, nil)
	} else {
		r.is = *b
		how.Told(b)
		err = r.follow(ctx)
	}
	if errors.Is(err, rpctypes.ErrCompacted) {
		if b, _, _, err = Read(ctx, s.conn); err != nil {
			return err
		}
		err = r.begin(ctx, "etcd has compacted what came since what was counted before", b)
	}
	if errors.Is(err, errCountedElsewhere) || ctx.Err() != nil {
		err = nil // it ends, or another goes on
	}
	return err
}

// errCountedElsewhere: another node has put a balance.
var errCountedElsewhere = errors.New("another node counts")

// PutBalance puts a balance; false: it is not as it was read. It returns the revision of that.
//
// If: its mod revision, so that nothing is counted twice, and nothing left out.
func (s *Counter) PutBalance(ctx context.Context, b *store.Balance, modified int64) (int64, bool, error) {
	raw, err := db.Encode(b)
	if err != nil {
		return 0, false, err
	}
	resp, err := s.conn.Txn(ctx, "put the balance", []clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Balance(), modified)}, []clientv3.Op{db.Put(s.conn.Keys.Balance(), raw)}, nil)
	if err != nil {
		return 0, false, err
	}
	return resp.Header.Revision, resp.Succeeded, nil
}

// reckoner counts for one node, from one look at the balance on.
type reckoner struct {
	s        *Counter
	how      Reckoning
	is       store.Balance // up to the last moment that was judged
	modified int64         // of the balance in etcd
	changed  bool          // since it was put
	put      time.Time     // when that was
	counting time.Duration // that it took to count what waits, the last time

	upTo    [watchedRanges]int64 // how far each range was told of
	moments map[int64]*moment    // that are to be judged, by their revision
}

// begin counts what is there, and follows what comes. What was missing before (nil: nothing is known) stays so.
func (r *reckoner) begin(ctx context.Context, because string, before *store.Balance) error {
	now := r.how.Now().UTC()
	r.is = store.Balance{Began: now, Because: because}
	if before != nil {
		r.is.Accepted, r.is.Lost = before.Difference, before.Lost
	}
	resp, err := r.s.conn.Get(ctx, "begin a balance", r.s.conn.Keys.Balance(), clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	r.is.Etcd, r.is.Since, r.is.Revision = record.EtcdID(resp.Header.ClusterId), resp.Header.Revision, resp.Header.Revision
	for cursor := r.s.conn.Keys.Mailboxes(); ; {
		resp, err := r.s.conn.Get(ctx, "count mailboxes", cursor, clientv3.WithRange(clientv3.GetPrefixRangeEnd(r.s.conn.Keys.Mailboxes())),
			clientv3.WithKeysOnly(), clientv3.WithLimit(record.ExpirePage), clientv3.WithRev(r.is.Since))
		if err != nil {
			return err
		}
		for _, kv := range resp.Kvs {
			if cursor = string(kv.Key) + "\x00"; rests(string(kv.Key)) {
				r.is.Rests++
			}
		}
		if !resp.More {
			break
		}
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	w := r.is.Waiting
	r.is.Accepted += w.Mailboxes + w.Queue + w.Sends + w.Dead
	if err := r.save(ctx); err != nil {
		return err
	}
	r.s.conn.Log.InfoContext(ctx, "the balance is counted from now on", "since", r.is.Since, "because", because)
	return r.follow(ctx)
}

// rests tells whether a key of a mailbox is the rest of a burst, which is its instance's own,
// and nothing that was accepted.
func rests(key string) bool { return strings.HasSuffix(key, "/"+workflow.ContinueID) }

// count reads what is there at the revision of the balance, one range after the other.
func (r *reckoner) count(ctx context.Context) error {
	began := time.Now()
	k, n := r.s.conn.Keys, [4]int64{}
	for i, prefix := range [...]string{k.Mailboxes(), k.Queues(), k.Sends(), k.Deads()} {
		resp, err := r.s.conn.Get(ctx, "count what waits", prefix, clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithRev(r.is.Revision))
		if err != nil {
			return err
		}
		n[i] = resp.Count
	}
	r.counting = time.Since(began)
	r.is.Waiting = store.Waiting{Mailboxes: n[0] - r.is.Rests, Queue: n[1], Sends: n[2], Dead: n[3]}
	return nil
}

// rest is how long a balance is left before what was counted since is put.
func (r *reckoner) rest() time.Duration {
	longest := restEvery * r.how.Every
	if !r.changed {
		return longest
	}
	return min(longest, max(r.how.Every, countShare*r.counting))
}

// save puts what was counted.
func (r *reckoner) save(ctx context.Context) error {
	if err := r.count(ctx); err != nil {
		return err
	}
	r.is.At, r.is.Node = r.how.Now().UTC(), r.how.Node
	r.is.Settle()
	modified, ok, err := r.s.PutBalance(ctx, &r.is, r.modified)
	if err != nil {
		return err
	}
	if !ok {
		return errCountedElsewhere
	}
	r.modified, r.changed, r.put = modified, false, time.Now()
	told := r.is
	r.how.Told(&told)
	return nil
}

// watchedRanges is how many watches there are; each tells of all that a revision changed in
// its range, and they are judged when all are as far.
const watchedRanges = 3

// follow judges what the watches tell, and puts it now and then.
func (r *reckoner) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.put, r.moments = time.Now(), map[int64]*moment{}
	watches, own, err := r.watch(ctx, cancel)
	if err != nil {
		return err
	}
	tick := time.NewTicker(min(time.Second, r.how.Every/2))
	defer tick.Stop()
	for {
		var i int
		var resp clientv3.WatchResponse
		var ok bool
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := r.step(ctx, own); err != nil {
				return err
			}
			continue
		case resp, ok = <-watches[0]:
		case resp, ok = <-watches[1]:
			i = 1
		case resp, ok = <-watches[2]:
			i = 2
		}
		if !ok {
			return errors.New("the watch of what is accepted has ended")
		}
		if err := resp.Err(); err != nil {
			return fmt.Errorf("watch what is accepted: %w", err)
		}
		if err := r.take(i, resp); err != nil {
			return err
		}
	}
}
