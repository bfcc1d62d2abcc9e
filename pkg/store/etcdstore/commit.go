package etcdstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Records of our own commands live this long; those of callers' keys a day.
const (
	recordTTL = 10 * time.Minute
	keyTTL    = 24 * time.Hour
)

// Commit applies c in one transaction (design: the commit protocol). Sending
// the same c again is safe at any time. Errors: [store.ErrFenced],
// [store.ErrConflict], [store.ErrBreach] and [ErrTooLarge] are definite; an
// error that wraps [ErrUnknown] is not, and wants the same c sent again.
func (s *Store) Commit(ctx context.Context, c *store.Commit) (*store.Committed, error) {
	began := time.Now()
	t, err := s.prepare(c)
	if err != nil {
		return nil, err
	}
	resp, err := s.txn(ctx, "commit "+c.After.Header.ID, t.cmps, t.then, t.otherwise)
	if err != nil {
		return nil, err
	}
	done, outcome, err := s.judge(c, t, resp)
	s.metrics.Commit(outcome, time.Since(began), t.size)
	return done, err
}

// prepared is a commit as etcd sees it.
type prepared struct {
	cmps            []clientv3.Cmp
	then, otherwise []clientv3.Op
	slices          []string // queue slices that the release looks at
	releases        bool     // the last operation is the release
	foreign         int      // compares on what the lock does not protect
	size            int
}

func (s *Store) prepare(c *store.Commit) (*prepared, error) {
	id := c.After.Header.ID
	t := &prepared{}
	o := newOps()
	s.guard(c, t)
	s.writeInstance(c, o)
	s.writeBookmarks(c, o)
	if err := s.consume(c, t, o); err != nil {
		return nil, err
	}
	s.writeSent(c, o)
	if len(t.cmps) > maxCompare {
		return nil, fmt.Errorf("%w: %d compares", ErrTooLarge, len(t.cmps))
	}
	then, err := o.render()
	if err != nil {
		return nil, fmt.Errorf("commit of instance %s: %w", id, err)
	}
	if c.Release && c.Fence != nil {
		var op clientv3.Op
		if op, t.releases = s.release(c, t); t.releases {
			then = append(then, op)
		}
	}
	t.then, t.size = then, o.size
	t.otherwise = []clientv3.Op{
		clientv3.OpGet(s.keys.journal(id, c.After.Seq)),
		clientv3.OpGet(s.keys.commandRecord(id, deletedRecord)),
		clientv3.OpGet(s.keys.instance(id), clientv3.WithKeysOnly()),
	}
	if c.Fence != nil {
		t.otherwise = append(t.otherwise, clientv3.OpGet(c.Fence.Prefix, clientv3.WithFirstCreate()...))
	}
	return t, nil
}

// deletedRecord proves that a delete was applied, as the journal goes with the
// instance.
const deletedRecord = "~deleted"

// guard adds the outer compares: the lock is mine, nothing moved.
func (s *Store) guard(c *store.Commit, t *prepared) {
	id := c.After.Header.ID
	if f := c.Fence; f != nil {
		t.cmps = append(t.cmps, createdAt(f.Key, f.Revision), noneOlder(f.Prefix, f.Revision))
	}
	if c.Before == nil {
		t.cmps = append(t.cmps, absent(s.keys.instance(id)))
		return
	}
	t.cmps = append(t.cmps, modifiedAt(s.keys.instance(id), c.Before.Modified))
}

func (s *Store) writeInstance(c *store.Commit, o *ops) {
	h := &c.After.Header
	var before *workflow.Instance
	if c.Before != nil {
		before = &c.Before.Header
	}
	if c.Delete {
		o.del(s.keys.instance(h.ID))
		o.del(s.keys.indexEntry(before))
		if before.CorrelationID != "" {
			o.del(s.keys.correlation(before.CorrelationID) + h.ID)
		}
		o.del(s.keys.cancel(h.ID))
		s.record(o, s.keys.commandRecord(h.ID, deletedRecord), deletedEntry{Commit: c.ID}, c.At.Add(recordTTL))
		o.tail = append(o.tail, clientv3.OpDelete(s.keys.journalOf(h.ID), clientv3.WithPrefix()))
		s.freeGate(c, o)
		return
	}
	o.put(s.keys.instance(h.ID), c.After)
	entry := journalEntry{Commit: c.ID, Seq: c.After.Seq, Items: c.Journal}
	if c.Fence != nil {
		entry.Fence = c.Fence.Revision
	}
	for _, done := range c.Consumed {
		entry.Commands = append(entry.Commands, done.Command.ID)
	}
	o.put(s.keys.journal(h.ID, c.After.Seq), entry)
	if before == nil || before.Status != h.Status {
		if before != nil {
			o.del(s.keys.indexEntry(before))
		}
		o.putRaw(s.keys.indexEntry(h), nil)
	}
	if before == nil || before.CorrelationID != h.CorrelationID {
		if before != nil && before.CorrelationID != "" {
			o.del(s.keys.correlation(before.CorrelationID) + h.ID)
		}
		if h.CorrelationID != "" {
			o.putRaw(s.keys.correlation(h.CorrelationID)+h.ID, nil)
		}
	}
	if h.Status == workflow.StatusFinished {
		s.freeGate(c, o)
	}
}

type deletedEntry struct {
	Commit string `json:"commit"`
}

func (s *Store) freeGate(c *store.Commit, o *ops) {
	if c.After.Gate == nil {
		return
	}
	// Only my own gate: the value is the holder's id, and a gate is never handed
	// over without being deleted first.
	then := newOps()
	key := s.keys.gateOf(*c.After.Gate)
	then.del(key)
	o.nested([]clientv3.Cmp{clientv3.Compare(clientv3.Value(key), "=", c.After.Header.ID)}, then, nil)
}

// writeBookmarks deletes and puts bookmarks and their timers; a changed
// correlation moves those that stay.
func (s *Store) writeBookmarks(c *store.Commit, o *ops) {
	was, is := "", c.After.Header.CorrelationID
	var kept []workflow.Bookmark
	if c.Before != nil {
		was, kept = c.Before.Header.CorrelationID, c.Before.Header.Bookmarks
	}
	for _, b := range c.Burned {
		o.del(s.keys.bookmark(b.Hash, was, b.ID))
		if b.DueAt != nil {
			o.del(s.keys.timer(timerBookmark, b.ID, *b.DueAt))
		}
	}
	if was != is && !c.Delete {
		for _, b := range kept {
			if slices.ContainsFunc(c.Burned, func(x workflow.Bookmark) bool { return x.ID == b.ID }) {
				continue
			}
			o.del(s.keys.bookmark(b.Hash, was, b.ID))
			s.putBookmark(o, b, is, c.After.Header.ID)
		}
	}
	for _, b := range c.Created {
		s.putBookmark(o, b, is, c.After.Header.ID)
		if b.DueAt != nil {
			o.put(s.keys.timer(timerBookmark, b.ID, *b.DueAt), timerEntry{Instance: c.After.Header.ID, Bookmark: b.ID, Hash: b.Hash, Due: *b.DueAt})
		}
	}
}

func (s *Store) putBookmark(o *ops, b workflow.Bookmark, correlation, instance string) {
	o.put(s.keys.bookmark(b.Hash, correlation, b.ID), bookmarkEntry{Instance: instance, Type: b.ActivityType, Name: b.Name, Correlation: correlation, Created: b.CreatedAt})
}

type bookmarkEntry struct {
	Instance    string    `json:"instance"`
	Type        string    `json:"type"`
	Name        string    `json:"name,omitempty"`
	Correlation string    `json:"correlation,omitempty"`
	Created     time.Time `json:"created"`
}

// consume deletes the commands that the burst processed and leaves their
// records.
func (s *Store) consume(c *store.Commit, t *prepared, o *ops) error {
	id := c.After.Header.ID
	for _, done := range c.Consumed {
		key := s.keys.mail(id, done.Command.ID)
		if done.Created > 0 {
			t.cmps = append(t.cmps, createdAt(key, done.Created))
		}
		// Also when it was in hand: a twin of a keyed call may have put it.
		if done.Created > 0 || done.Command.Key != nil {
			o.del(key)
		}
		if done.Created > 0 && !done.Drop {
			s.record(o, s.keys.commandRecord(id, done.Command.ID), done.Effect, c.At.Add(recordTTL))
		}
		if done.Command.Kind == workflow.CommandCancel || done.Command.Kind == workflow.CommandDelete {
			o.del(s.keys.cancel(id))
		}
		if k := done.Command.Key; k != nil && done.Answer != nil {
			rec := s.keys.keyRecord(k.Name)
			if done.Created == 0 {
				t.cmps = append(t.cmps, absent(rec))
				t.foreign++
			}
			s.record(o, rec, done.Answer, c.At.Add(keyTTL))
		}
	}
	return nil
}

// record puts a record and its entry in the expiry index.
func (s *Store) record(o *ops, key string, v any, expires time.Time) {
	o.put(key, v)
	o.putRaw(s.keys.expiry(expires, key), nil)
}

// writeSent puts what the instance hands to others.
func (s *Store) writeSent(c *store.Commit, o *ops) {
	for _, child := range c.Children {
		s.createChild(c, child, o)
	}
	for _, out := range c.Outgoing {
		then := newOps()
		then.put(s.keys.mail(out.InstanceID, out.Command.ID), out.Command)
		if out.Command.Kind == workflow.CommandCancel {
			then.put(s.keys.cancel(out.InstanceID), out.Command.ID)
		}
		o.nested([]clientv3.Cmp{exists(s.keys.instance(out.InstanceID))}, then, nil)
	}
	for _, send := range c.Sends {
		o.put(s.keys.send(send.ID), send)
	}
	for _, item := range c.Requeue {
		// Through a send record: what is put straight into the queue would escape
		// the send guard.
		o.put(s.keys.send(item.ID), store.Send{ID: item.ID, Stimulus: item.Stimulus, Key: item.Key, CreatedAt: c.At})
	}
	for _, d := range c.Dead {
		o.put(s.keys.dead(d.ID), d)
	}
	if c.Continue != nil {
		o.put(s.keys.mail(c.After.Header.ID, c.Continue.ID), c.Continue)
	}
}

// release is the inner transaction: delete the lock key unless there is new
// work, else fetch that work. It is absent when more queue slices would have to
// be compared than fit: then the committer looks for itself, which is as good,
// since the send guard refuses to queue beside a bookmark that is durable.
func (s *Store) release(c *store.Commit, t *prepared) (clientv3.Op, bool) {
	id := c.After.Header.ID
	if c.After.Header.Status == workflow.StatusRunning && !c.Delete {
		t.slices = s.slices(&c.After.Header, append(slices.Clone(c.Created), rekeyed(c)...))
	}
	if len(t.slices) > maxSlices {
		return clientv3.Op{}, false
	}
	cmps := []clientv3.Cmp{noneNewer(s.keys.mailbox(id), c.SeenMail)}
	fetch := []clientv3.Op{s.getMail(id)}
	for _, key := range t.slices {
		cmps = append(cmps, noneNewer(key, 0))
		fetch = append(fetch, clientv3.OpGet(key, clientv3.WithPrefix(), clientv3.WithLimit(queueBatch)))
	}
	return clientv3.OpTxn(cmps, []clientv3.Op{clientv3.OpDelete(c.Fence.Key)}, fetch), true
}

const (
	maxSlices  = 24 // queue slices compared in one release
	queueBatch = 10 // items of one slice read at once
)

func (s *Store) getMail(id string) clientv3.Op {
	return clientv3.OpGet(s.keys.mailbox(id), clientv3.WithPrefix(), clientv3.WithLimit(mailBatch),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
}

// slices are the queue slices in which items for these bookmarks may lie.
func (s *Store) slices(h *workflow.Instance, bookmarks []workflow.Bookmark) []string {
	var out []string
	for _, b := range bookmarks {
		for _, sl := range []string{noCorrelation, slice(h.CorrelationID), addressed(h.ID)} {
			if key := s.keys.queueSlice(b.Hash, sl); !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// LookQueue reads queue items that may be for these bookmarks of an instance,
// which must be durable. It may return fewer than there are: claim what fits
// and look again.
func (s *Store) LookQueue(ctx context.Context, h *workflow.Instance, bookmarks []workflow.Bookmark) ([]store.QueueItem, error) {
	var items []store.QueueItem
	for keys := range slices.Chunk(s.slices(h, bookmarks), maxLevel) {
		reads := make([]clientv3.Op, len(keys))
		for i, key := range keys {
			reads[i] = clientv3.OpGet(key, clientv3.WithPrefix(), clientv3.WithLimit(queueBatch))
		}
		resp, err := s.read(ctx, "look for queued stimuli", reads...)
		if err != nil {
			return nil, err
		}
		for _, r := range resp.Responses {
			if items, err = appendQueueItems(items, r.GetResponseRange().Kvs); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// Release frees the lock unless mail newer than seen is there, which it then
// returns. [store.ErrFenced] means that the lock was gone already.
func (s *Store) Release(ctx context.Context, f store.Fence, id string, seen int64) (*store.Kept, error) {
	resp, err := s.txn(ctx, "release lock of "+id,
		[]clientv3.Cmp{createdAt(f.Key, f.Revision)},
		[]clientv3.Op{clientv3.OpTxn([]clientv3.Cmp{noneNewer(s.keys.mailbox(id), seen)},
			[]clientv3.Op{clientv3.OpDelete(f.Key)}, []clientv3.Op{s.getMail(id)})}, nil)
	if err != nil {
		return nil, err
	}
	if !resp.Succeeded {
		return nil, store.ErrFenced
	}
	return s.readRelease(resp.Responses[0].GetResponseTxn(), resp.Header.Revision)
}

// rekeyed are the kept bookmarks that a changed correlation moves: they are new
// in their slice.
func rekeyed(c *store.Commit) []workflow.Bookmark {
	if c.Before == nil || c.Before.Header.CorrelationID == c.After.Header.CorrelationID {
		return nil
	}
	return c.After.Header.Bookmarks
}

// judge tells what a transaction's answer means, in the order that the design
// gives.
func (s *Store) judge(c *store.Commit, t *prepared, resp *clientv3.TxnResponse) (*store.Committed, metrics.CommitOutcome, error) {
	if resp.Succeeded {
		done := &store.Committed{Modified: resp.Header.Revision}
		outcome := metrics.CommitCommitted
		if t.releases {
			kept, err := s.readRelease(resp.Responses[len(resp.Responses)-1].GetResponseTxn(), resp.Header.Revision)
			if err != nil {
				return nil, outcome, err
			}
			if done.Kept = kept; kept != nil {
				outcome = metrics.CommitKeptLock
			}
			done.Released = kept == nil
		}
		return done, outcome, nil
	}
	if done, err := s.readProof(c, resp); err != nil || done != nil {
		return done, metrics.CommitResolved, err
	}
	if c.Fence != nil {
		owner := resp.Responses[3].GetResponseRange().Kvs
		if len(owner) == 0 || string(owner[0].Key) != c.Fence.Key || owner[0].CreateRevision != c.Fence.Revision {
			return nil, metrics.CommitFenced, store.ErrFenced
		}
	}
	// Under local coordination the revision is the guard, so that another moved
	// the instance is no breach.
	if c.Fence == nil || t.foreign > 0 && !s.moved(c, resp) {
		return nil, metrics.CommitConflict, store.ErrConflict
	}
	return nil, metrics.CommitBreach, store.ErrBreach
}

// moved reports whether the instance itself is not as it was loaded.
func (s *Store) moved(c *store.Commit, resp *clientv3.TxnResponse) bool {
	kvs := resp.Responses[2].GetResponseRange().Kvs
	if c.Before == nil {
		return len(kvs) > 0
	}
	return len(kvs) == 0 || kvs[0].ModRevision != c.Before.Modified
}

// readProof finds the commit id of c where only this commit can have put it.
func (s *Store) readProof(c *store.Commit, resp *clientv3.TxnResponse) (*store.Committed, error) {
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 && !c.Delete {
		var e journalEntry
		if err := Decode(kvs[0].Value, &e); err != nil {
			return nil, err
		}
		if e.Commit == c.ID {
			return &store.Committed{Resolved: true, Modified: kvs[0].ModRevision, Released: s.gone(c, resp)}, nil
		}
	}
	if kvs := resp.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 && c.Delete {
		var e deletedEntry
		if err := Decode(kvs[0].Value, &e); err != nil {
			return nil, err
		}
		if e.Commit == c.ID {
			return &store.Committed{Resolved: true, Released: s.gone(c, resp)}, nil
		}
	}
	return nil, nil
}

// gone reports whether my lock key is no longer there.
func (s *Store) gone(c *store.Commit, resp *clientv3.TxnResponse) bool {
	if c.Fence == nil {
		return true
	}
	owner := resp.Responses[3].GetResponseRange().Kvs
	return len(owner) == 0 || string(owner[0].Key) != c.Fence.Key || owner[0].CreateRevision != c.Fence.Revision
}

// readRelease reads the inner transaction's answer; nil means that the lock is
// released.
func (s *Store) readRelease(resp *pb.TxnResponse, revision int64) (*store.Kept, error) {
	if resp.Succeeded {
		return nil, nil
	}
	kept := &store.Kept{Revision: revision}
	var err error
	if kept.Mail, err = decodeMail(resp.Responses[0].GetResponseRange().Kvs); err != nil {
		return nil, err
	}
	for _, r := range resp.Responses[1:] {
		if kept.Queue, err = appendQueueItems(kept.Queue, r.GetResponseRange().Kvs); err != nil {
			return nil, err
		}
	}
	return kept, nil
}
