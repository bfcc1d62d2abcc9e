package etcdstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
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
	met.SentOn, err = (&Upkeep{conn: s.conn}).Requeue(ctx, item)
	return err
}

// Claim moves a queue item into the mailbox of an instance that waits for it,
// as cmd. False: the item or the instance is gone.
//
// If: the item's create revision; the instance exists; no record of the command.
// The bookmark is not compared: if it is burned by then, the commit that finds
// it gone sends the stimulus on.
func (s *Instances) Claim(ctx context.Context, item *store.QueueItem, instance string, cmd workflow.Command) (int64, bool, error) {
	t := s.conn.Begin("claim queue item", db.CreatedAt(item.At, item.Created), db.Exists(s.conn.Keys.Instance(instance)), db.Absent(s.conn.Keys.CommandRecord(instance, cmd.ID)))
	t.Del(item.At)
	if item.Alone > 0 {
		s.conn.Unmark(t.Ops, record.SliceOf(item.At), item.Alone)
	}
	s.conn.PutMail(t.Ops, instance, cmd)
	if cmd.Key != nil {
		s.conn.RecordAccepted(t.Ops, instance, cmd)
	}
	mail := t.Otherwise.Key(s.conn.Keys.Mail(instance, cmd.ID))
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return 0, false, err
	}
	if resp.Succeeded {
		return resp.Header.Revision, true, nil
	}
	// A lost answer shows as the command in the mailbox.
	if kv := mail.One(resp); kv != nil {
		return kv.CreateRevision, true, nil
	}
	return 0, false, nil
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

// Queued is a queue item as its key tells it.
type Queued struct {
	Hash    string
	Created int64 // the key's create revision
	at      string
}

// Queued lists queue items from cursor on, as QueueItems does, keys only. Those behind
// gates are in no shard.
func (s *Upkeep) Queued(ctx context.Context, shard, cursor string, limit int64) ([]Queued, string, error) {
	kvs, next, err := s.conn.Page(ctx, "list queue", s.conn.Keys.Queues()+shard, cursor, limit, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	out := make([]Queued, len(kvs))
	for i, kv := range kvs {
		hash, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Queues()), "/")
		out[i] = Queued{Hash: hash, Created: kv.CreateRevision, at: string(kv.Key)}
	}
	return out, next, nil
}

// QueueItem reads one; nil if it is gone, or not readable here.
func (s *Upkeep) QueueItem(ctx context.Context, q Queued) (*store.QueueItem, error) {
	resp, err := s.conn.Get(ctx, "read queue item", q.at)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	for _, item := range s.conn.QueueItems(nil, resp.Kvs) {
		return &item, nil
	}
	return nil, nil
}

// QueueItems lists queue items from cursor on; shard (the beginning of a hash)
// restricts them, "" lists all. A page may be shorter than its limit and have a next
// one.
func (s *listReader) QueueItems(ctx context.Context, shard, cursor string, limit int64) ([]store.QueueItem, db.PageEnd, error) {
	prefix := s.conn.Keys.Queues() + shard
	var items []store.QueueItem
	end, err := s.conn.Values(ctx, "list queue", prefix, cursor, limit, func(kv *mvccpb.KeyValue) error {
		item := store.QueueItem{Created: kv.CreateRevision, At: string(kv.Key)}
		var err error
		if item.Unreadable = db.DecodeWhole(kv.Value, &item); item.Unreadable != nil {
			err = db.Decode(kv.Value, &item) // what can be shown of it
		}
		if err != nil {
			at := string(kv.Key)
			item = store.QueueItem{ID: record.Decode(at[strings.LastIndexByte(at, '/')+1:]), Created: kv.CreateRevision, At: at, Unreadable: err}
		}
		items = append(items, item)
		return nil
	})
	return items, end, err
}

// ExpireQueueItem turns an item, which has waited for so long, into a dead letter and
// tells its reason; "": it was claimed, or cannot be read here, and stays.
//
// If: the item's create revision. Then: also, if the record of its caller's key is there, put which letter it became.
func (s *Upkeep) ExpireQueueItem(ctx context.Context, q Queued, waited time.Duration, at time.Time) (reason workflow.DeadReason, err error) {
	var ask db.Reads
	found, slice := ask.Value(q.at), ask.Add(clientv3.OpGet(record.SliceOf(q.at), clientv3.WithPrefix(), clientv3.WithLimit(2), clientv3.WithKeysOnly()))
	resp, err := s.conn.Read(ctx, "read queue item", ask.Ops...)
	if err != nil {
		return "", err
	}
	kv := found.One(resp)
	if kv == nil {
		return "", nil
	}
	var item store.QueueItem
	if err := db.DecodeWhole(kv.Value, &item); err != nil {
		s.conn.Left(kv.Key, err)
		return "", nil // with the next mark it is looked at again; as an error all of the queue would be
	}
	dead := expired(&item, waited, at)
	t := s.conn.Begin("expire queue item", db.CreatedAt(q.at, q.Created))
	t.Del(q.at)
	if item.Held == nil && len(slice.In(resp).Kvs) == 1 {
		s.conn.Unmark(t.Ops, record.SliceOf(q.at), resp.Header.Revision)
	}
	s.conn.PutDead(t.Ops, dead)
	if k := item.Key; k != nil && item.Held == nil { // its receipt tells, also when retention took the letter
		then := db.NewOps()
		s.conn.Answer(then, k, &store.Answer{BodyHash: k.BodyHash, Queued: item.ID, Slot: s.conn.Slot(&item.Stimulus), Dead: dead.ID})
		t.Nested([]clientv3.Cmp{db.Exists(s.conn.Keys.KeyRecord(k.Name))}, then, nil)
	}
	if ok, err := db.Applied(t.SubmitSmall(ctx)); err != nil || !ok {
		return "", err
	}
	return dead.Reason, nil
}

// Requeue turns a queue item into a send record again, because something that it
// matches appeared. The record is as old as the item: what waits behind a gate
// goes in the order of its arrival.
//
// If: the item's create revision.
func (s *Upkeep) Requeue(ctx context.Context, item *store.QueueItem) (bool, error) {
	t := s.conn.Begin("requeue stimulus", db.CreatedAt(item.At, item.Created))
	t.Del(item.At)
	t.Put(s.conn.Keys.Send(item.ID), store.Send{ID: item.ID, Stimulus: item.Stimulus, Key: item.Key, CreatedAt: item.CreatedAt, Trace: item.Trace})
	return db.Applied(t.SubmitSmall(ctx))
}

// Awaited reports, for each hash, whether a trigger or a bookmark of it exists:
// the cheap question of the queue's sweep.
func (s *Upkeep) Awaited(ctx context.Context, hashes []string) (map[string]bool, error) {
	found := map[string]bool{}
	for len(hashes) > 0 {
		n := min(len(hashes), db.MaxLevel/2)
		var ask db.Reads
		triggers, bookmarks := make([]db.Read, n), make([]db.Read, n)
		for i, h := range hashes[:n] {
			triggers[i], bookmarks[i] = ask.Any(s.conn.Keys.Triggers(h)), ask.Any(s.conn.Keys.Bookmarks(h))
		}
		resp, err := s.conn.Read(ctx, "look whether queued stimuli are awaited", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i, h := range hashes[:n] {
			found[h] = triggers[i].One(resp) != nil || bookmarks[i].One(resp) != nil
		}
		hashes = hashes[n:]
	}
	return found, nil
}

// QueueShards are the shards of the queue: the first characters of hashes.
const QueueShards = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// SomeQueued tells which shards of the queue have items, in one request however many
// there are.
func (s *Upkeep) SomeQueued(ctx context.Context) (shards []string, err error) {
	var ask db.Reads
	for i := range QueueShards {
		ask.Any(s.conn.Keys.Queues() + QueueShards[i:i+1])
	}
	resp, err := s.conn.Read(ctx, "look for queued stimuli", ask.Ops...)
	if err != nil {
		return nil, err
	}
	for i := range QueueShards {
		if db.Read(i).One(resp) != nil {
			shards = append(shards, QueueShards[i:i+1])
		}
	}
	return shards, nil
}

const marksPage = 500

// DropMarks deletes the marks of slices that are empty; it looks at some from cursor
// on and returns where to go on, "" at the end. The transaction that takes the last
// item of a slice deletes its marks, as far as it knows; this is for the others, which
// cost each instance that comes to wait there a request.
//
// If, each nested: no mark was put since its slice was seen empty.
func (s *Upkeep) DropMarks(ctx context.Context, cursor string) (next string, err error) {
	kvs, next, err := s.conn.Page(ctx, "list marks of the queue", s.conn.Keys.Marks(), cursor, marksPage, clientv3.WithKeysOnly())
	if err != nil {
		return "", err
	}
	var marked []string // slices
	for _, kv := range kvs {
		key := s.conn.Keys.Queues() + strings.TrimPrefix(record.SliceOf(string(kv.Key)), s.conn.Keys.Marks())
		if n := len(marked); n == 0 || marked[n-1] != key {
			marked = append(marked, key)
		}
	}
	for chunk := range slices.Chunk(marked, MaxFire) {
		var ask db.Reads
		for _, key := range chunk {
			ask.Any(key)
		}
		resp, err := s.conn.Read(ctx, "look for empty slices of the queue", ask.Ops...)
		if err != nil {
			return "", err
		}
		t := s.conn.Begin("drop marks of the queue")
		for i, key := range chunk {
			if db.Read(i).One(resp) == nil {
				s.conn.Unmark(t.Ops, key, resp.Header.Revision)
			}
		}
		if len(t.Tail) == 0 {
			continue
		}
		if _, err := t.SubmitSmall(ctx); err != nil {
			return "", err
		}
	}
	return next, nil
}
