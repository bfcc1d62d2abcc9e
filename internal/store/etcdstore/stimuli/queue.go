package stimuli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Enqueue keeps a stimulus that matched nothing when it was looked up, unless
// something it would match has appeared since (false: look again), or its id or
// key has been used (store.ErrConflict: read the record).
//
// If: no bookmark in the slices that the look read, and no trigger of the hash,
// is newer than the look; addressed: the instance is as it was looked at; no
// record of the item; no record of its key; this attempt is not void. Else: the
// attempt is void, since a bookmark that came between may be burned again, and by
// then the stimulus has gone elsewhere.
//
// From a send record: its mod revision stands for the records and the void. A
// record that is gone has become something else already: true.
//
// Where what waits is followed, its range is not compared, as that costs what it has lost. There
// a look follows: a bookmark that was created before the item was put has not met it in its
// commit, so the item goes on as a send record. One that is created later meets it.
func (s *Stimuli) Enqueue(ctx context.Context, item store.QueueItem, met *lookup.Match) (bool, error) {
	t := s.conn.Begin("queue stimulus", met.Guard(s.conn)...)
	s.conn.PutQueueItem(t.Ops, item)
	if met.Send != nil {
		return s.enqueueSend(ctx, t, &item, met)
	}
	rec := s.conn.Keys.CommandRecord("~queue", item.ID)
	void := s.conn.Keys.CommandRecord("~queue", item.ID+"@"+strconv.FormatInt(met.Revision, 10))
	t.When(db.Absent(rec), db.Absent(void))
	s.conn.Record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	if item.Key != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(item.Key.Name)))
		s.conn.Answer(t.Ops, item.Key, &store.Answer{BodyHash: item.Key.BodyHash, Queued: item.ID, Slot: item.Hash + "/" + record.SliceFor(&item.Stimulus)})
	}
	earlier, used := t.Otherwise.Count(rec), t.Otherwise.Count(s.conn.Keys.KeyRecord(record.KeyName(item.Key)))
	there := t.Otherwise.Key(s.conn.QueueKey(&item))
	t.Otherwise.Add(s.conn.Void(void, rec))
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return false, err
	}
	if resp.Succeeded {
		return true, s.missed(ctx, &item, met, resp.Header.Revision)
	}
	if earlier.Found(resp) { // a lost answer: it is in
		if kv := there.One(resp); kv != nil {
			return true, s.missed(ctx, &item, met, kv.CreateRevision)
		}
		return true, nil
	}
	if item.Key != nil && used.Found(resp) {
		return false, store.ErrConflict
	}
	return false, nil
}

func (s *Stimuli) enqueueSend(ctx context.Context, t *db.Txn, item *store.QueueItem, met *lookup.Match) (bool, error) {
	key := s.conn.Keys.Send(met.Send.ID)
	t.What = "queue sent stimulus"
	t.When(db.ModifiedAt(key, met.Send.Modified))
	t.Del(key)
	there, in := t.Otherwise.Key(key), t.Otherwise.Key(s.conn.QueueKey(item))
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return false, err
	}
	if resp.Succeeded {
		return true, s.missed(ctx, item, met, resp.Header.Revision)
	}
	if kv := in.One(resp); kv != nil { // a lost answer
		return true, s.missed(ctx, item, met, kv.CreateRevision)
	}
	return there.One(resp) == nil, nil
}

// missed sends an item on that was put into the queue at a revision without a compare of what waits
// for it, if something did then. Between the two transactions the node may vanish: then the sweep of the queue
// does it. Its error says so much: the item is in the queue, and what waits is not known.
func (s *Stimuli) missed(ctx context.Context, item *store.QueueItem, met *lookup.Match, created int64) error {
	if !met.Followed {
		return nil
	}
	prefix := met.Range(s.conn.Keys)
	_, n, _, ok := s.conn.Waiting.At(ctx, prefix, created, 1)
	if !ok {
		resp, err := s.conn.Get(ctx, "look up what waits for queued stimulus "+item.ID, prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil {
			return fmt.Errorf("%w: %w", db.ErrUnknown, err)
		}
		n = len(resp.Kvs)
	}
	if n == 0 {
		return nil
	}
	item.At, item.Created = s.conn.QueueKey(item), created
	var err error
	met.SentOn, err = lookup.Requeue(ctx, s.conn.Conn, item)
	return err
}

// FindQueueItem reads the queue item of an id; nil if there is none. It looks at the keys of
// the whole queue, which are in the order of what they wait for.
func (s *Stimuli) FindQueueItem(ctx context.Context, id string) (*store.QueueItem, error) {
	end := record.Encode(id)
	for cursor := ""; ; {
		kvs, next, err := s.conn.Page(ctx, "look for a queue item", s.conn.Keys.Queues(), cursor, 1000, clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			key := string(kv.Key)
			last := key[strings.LastIndexByte(key, '/')+1:]
			if last != end && !(strings.HasPrefix(key, s.conn.Keys.GatedQueues()) && strings.HasSuffix(last, "-"+end)) {
				continue
			}
			resp, err := s.conn.Get(ctx, "read queue item", key)
			if err != nil || len(resp.Kvs) == 0 {
				return nil, err
			}
			item := &store.QueueItem{Created: resp.Kvs[0].CreateRevision, At: key}
			if err := db.DecodeWhole(resp.Kvs[0].Value, item); err != nil {
				item.ID, item.Unreadable = id, err
			}
			if item.ID == id {
				return item, nil
			}
		}
		if cursor = next; next == "" {
			return nil, nil
		}
	}
}

// TakeQueueItem deletes a queue item and, if send is given, puts that in its place in the
// same transaction. False: it is gone.
//
// If: its create revision; no record of the key of send ([store.ErrConflict]). Of one that
// only goes a record says so, by which a repeat after a lost answer knows that it was done.
func (s *Stimuli) TakeQueueItem(ctx context.Context, item *store.QueueItem, send *store.Send) (bool, error) {
	t := s.conn.Begin("take queue item", db.CreatedAt(item.At, item.Created))
	t.Del(item.At)
	r := s.resend(t, send)
	if send == nil {
		there := t.Otherwise.Value(s.conn.Done(t.Ops, item.ID, workflow.OutcomeDropped))
		r.earlier = func(resp *pb.TxnResponse) bool {
			var e store.Effect
			kv := there.One(resp)
			return kv != nil && db.Decode(kv.Value, &e) == nil && e.Outcome == workflow.OutcomeDropped
		}
	}
	return r.outcome(t.SubmitSmall(ctx))
}
