package commits

import (
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/places"
	"github.com/weft-run/weft/pkg/workflow"
)

// release is the inner transaction: delete the lock key unless there is new
// work, else fetch that work. It is absent when more queue slices would have to
// be compared than fit: then the committer looks for itself, which is as good,
// since the send guard refuses to queue beside a bookmark that is durable.
func (s *Instances) release(c *store.Commit, t *Prepared) (clientv3.Op, bool) {
	id := c.After.Header.ID
	var queue []string // slices that are looked at
	if c.After.Header.Status == workflow.StatusRunning && !c.Delete {
		queue = s.slices(&c.After.Header, append(slices.Clone(c.Created), rekeyed(c)...))
		if len(queue) > record.MaxSlices {
			return clientv3.Op{}, false
		}
		// As many of the older bookmarks as fit: a commit that did not ask for the
		// release did not look for what was queued before its bookmarks.
		for _, b := range c.After.Header.Bookmarks {
			more := s.slices(&c.After.Header, []workflow.Bookmark{b})
			more = slices.DeleteFunc(more, func(key string) bool { return slices.Contains(queue, key) })
			if len(queue)+len(more) > record.MaxSlices {
				break
			}
			queue = append(queue, more...)
		}
	}
	var cmps []clientv3.Cmp
	work, box := &newWork{}, s.conn.Keys.Mailbox(id)
	if work.followed = s.conn.Boxes.Has(box); !work.followed {
		cmps, work = append(cmps, db.NoneNewer(box, c.SeenMail)), workFor(s.conn, id)
	} else if s.conn.Boxes.NewMail(box, c.SeenMail) {
		t.box = boxKept
		return clientv3.Op{}, false
	}
	for _, key := range queue {
		cmps = append(cmps, db.NoneNewer(s.conn.Keys.MarksOf(key), 0))
		if s.conn.Queue.Has(key) {
			work.unread = true
			continue
		}
		work.queue = append(work.queue, sliceRead{key, work.Add(db.Below(getQueueOp, key))})
	}
	t.work = work
	return clientv3.OpTxn(cmps, []clientv3.Op{db.Del(c.Fence.Key)}, work.Ops), true
}

// newWork is what a burst goes on with, read where its lock is not released.
type newWork struct {
	db.Reads
	mail  db.Read
	queue []sliceRead

	unread   bool // there are slices that are followed
	followed bool // the mailbox is, and is not read
}

// sliceRead is the read of a slice of the queue.
type sliceRead struct {
	key string
	db.Read
}

func workFor(s *lookup.Conn, id string) *newWork {
	w := &newWork{}
	w.mail = w.Add(s.GetMail(id))
	return w
}

// readNewMail is the inner transaction of a commit after which the burst goes on:
// nothing if only its own ~continue is new, else all mail. False: the mailbox is followed.
func (s *Instances) readNewMail(c *store.Commit, t *Prepared) (clientv3.Op, bool) {
	id := c.After.Header.ID
	if s.conn.Boxes.Has(s.conn.Keys.Mailbox(id)) {
		t.box = boxGoesOn
		return clientv3.Op{}, false
	}
	t.work = workFor(s.conn, id)
	return clientv3.OpTxn([]clientv3.Cmp{db.NoneNewer(s.conn.Keys.Mailbox(id), c.SeenMail)}, nil, t.work.Ops), true
}

// readOn is what a burst goes on with.
func (s *Instances) readOn(c *store.Commit, work *newWork, resp *pb.TxnResponse, revision int64) *store.Kept {
	if !resp.Succeeded {
		return s.readRelease(work, resp, revision)
	}
	if c.Continue == nil { // it takes a place
		return &store.Kept{Revision: knownAfter(c, revision), Unread: places.WaitsElse(c)}
	}
	// One that was there already stays, or is written over, and is as old as it was.
	created := revision
	for i := range c.Consumed {
		if done := &c.Consumed[i]; done.Command.ID == c.Continue.ID && done.Created > 0 {
			created = done.Created
		}
	}
	return &store.Kept{Revision: knownAfter(c, revision), Mail: []store.Mail{{Command: *c.Continue, Created: created}}}
}

// knownAfter is up to where the mailbox is known that nobody looked into after a commit. A
// child that is refused ends in the mailbox of who waits for it, which is this one, with
// the commit: its compares were before that.
func knownAfter(c *store.Commit, revision int64) int64 {
	for i := range c.Children {
		if p := c.Children[i].Command.Start.Parent; p != nil && p.BookmarkID != "" {
			return revision - 1
		}
	}
	return revision
}

var getQueueOp = clientv3.OpGet("", clientv3.WithLimit(record.QueueBatch))

// slices are the queue slices in which items for these bookmarks may lie.
func (s *Instances) slices(h *workflow.Instance, bookmarks []workflow.Bookmark) []string {
	var out []string
	of := []string{record.NoCorrelation}
	for _, sl := range []string{record.Slice(h.CorrelationID), record.Addressed(h.ID)} {
		if !slices.Contains(of, sl) {
			of = append(of, sl)
		}
	}
	seen := make(map[string]bool, len(bookmarks))
	for i := range bookmarks {
		hash := bookmarks[i].Hash
		if seen[hash] {
			continue
		}
		seen[hash] = true
		for _, sl := range of {
			out = append(out, s.conn.Keys.QueueSlice(hash, sl))
		}
	}
	return out
}

// LookQueue reads queue items that may be for these bookmarks of an instance,
// which must be durable. It may return fewer than there are: claim what fits
// and look again.
func (s *Instances) LookQueue(ctx context.Context, h *workflow.Instance, bookmarks []workflow.Bookmark) ([]store.QueueItem, error) {
	var items []store.QueueItem
	for keys := range slices.Chunk(s.slices(h, bookmarks), db.MaxLevel) {
		var ask db.Reads
		var read []sliceRead
		var followed []string
		for _, key := range keys {
			if s.conn.Queue.Has(key) {
				followed = append(followed, key)
				continue
			}
			read = append(read, sliceRead{key, ask.Add(db.Below(getQueueOp, key))})
		}
		if len(read) == 0 {
			ask.Count(s.conn.Keys.Instance(h.ID)) // the revision of now
		}
		resp, err := s.conn.Read(ctx, "look for queued stimuli", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for _, slice := range read {
			items = s.appendSlice(items, slice.key, slice.In(resp), resp.Header.Revision)
		}
		for _, key := range followed {
			if items, err = s.appendFollowed(ctx, items, key, resp.Header.Revision); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// appendFollowed appends what lies in a slice of the queue that is followed, at a revision or later. Those that it
// names are read, and no others.
func (s *Instances) appendFollowed(ctx context.Context, items []store.QueueItem, key string, revision int64) ([]store.QueueItem, error) {
	kvs, n, upTo, ok := s.conn.Queue.At(ctx, key, revision, record.QueueBatch)
	if !ok {
		resp, err := s.conn.Get(ctx, "look for queued stimuli", key, clientv3.WithPrefix(), clientv3.WithLimit(record.QueueBatch))
		if err != nil {
			return nil, err
		}
		return s.appendSlice(items, key, (*pb.RangeResponse)(resp), resp.Header.Revision), nil
	}
	if n == 0 {
		return items, nil
	}
	before := len(items)
	if _, err := s.conn.Queue.Named(ctx, "read queued stimuli", kvs, func(kv *mvccpb.KeyValue) error {
		items = s.conn.QueueItems(items, []*mvccpb.KeyValue{kv})
		return nil
	}); err != nil {
		return nil, err
	}
	if n == 1 && len(items) > before {
		items[before].Alone = upTo
	}
	return items, nil
}

// Release frees the lock unless mail newer than seen is there, which it then
// returns. [store.ErrFenced] means that the lock was gone already. With waits the lock is
// free, and there is mail that counts on who had it.
func (s *Instances) Release(ctx context.Context, f store.Fence, id string, seen int64) (kept *store.Kept, waits bool, err error) {
	if s.conn.Boxes.Has(s.conn.Keys.Mailbox(id)) {
		return s.releaseFollowed(ctx, f, id, seen)
	}
	work := workFor(s.conn, id)
	resp, err := s.conn.Txn(ctx, "release lock of "+id,
		[]clientv3.Cmp{db.CreatedAt(f.Key, f.Revision)},
		[]clientv3.Op{clientv3.OpTxn([]clientv3.Cmp{db.NoneNewer(s.conn.Keys.Mailbox(id), seen)}, []clientv3.Op{db.Del(f.Key)}, work.Ops)}, nil)
	if err != nil {
		return nil, false, err
	}
	if !resp.Succeeded {
		return nil, false, store.ErrFenced
	}
	return s.readRelease(work, db.LastOf.Nested(resp), resp.Header.Revision), false, nil
}

// releaseFollowed is Release where the mailbox is followed.
func (s *Instances) releaseFollowed(ctx context.Context, f store.Fence, id string, seen int64) (kept *store.Kept, waits bool, err error) {
	if s.conn.Boxes.NewMail(s.conn.Keys.Mailbox(id), seen) {
		now, err := s.conn.Get(ctx, "look up instance "+id, s.conn.Keys.Instance(id), clientv3.WithCountOnly()) // the revision of now
		if err != nil {
			return nil, false, err
		}
		kept = &store.Kept{Revision: now.Header.Revision}
		return kept, false, s.keepMail(ctx, id, kept)
	}
	resp, err := s.conn.Txn(ctx, "release lock of "+id, []clientv3.Cmp{db.CreatedAt(f.Key, f.Revision)}, []clientv3.Op{db.Del(f.Key)}, nil)
	if err != nil {
		return nil, false, err
	}
	if !resp.Succeeded {
		return nil, false, store.ErrFenced
	}
	return nil, s.conn.Boxes.CameBefore(ctx, s.conn.Keys.Mailbox(id), seen, resp.Header.Revision), nil
}

// rekeyed are the kept bookmarks that a changed correlation moves: they are new
// in their slice.
func rekeyed(c *store.Commit) []workflow.Bookmark {
	if c.Before == nil || c.Before.Header.CorrelationID == c.After.Header.CorrelationID {
		return nil
	}
	return c.After.Header.Bookmarks
}

// readRelease reads the inner transaction's answer; nil means that the lock is
// released.
func (s *Instances) readRelease(work *newWork, resp *pb.TxnResponse, revision int64) *store.Kept {
	if resp.Succeeded {
		return nil
	}
	kept := &store.Kept{Revision: revision, Unread: work.unread}
	if !work.followed {
		s.conn.Boxes.LookedInto(work.mail.In(resp))
		keeps(kept, record.DecodeMail(work.mail.In(resp).Kvs))
	}
	for _, slice := range work.queue {
		kept.Queue = s.appendSlice(kept.Queue, slice.key, slice.In(resp), revision)
	}
	return kept
}

// keeps notes what was read of a mailbox.
func keeps(kept *store.Kept, mail []store.Mail) {
	if kept.Mail = mail; len(mail) > record.MailBatch {
		// What is left is not seen yet, or the next release would leave it behind.
		kept.Revision = mail[record.MailBatch].Created - 1
		kept.Mail, kept.More = mail[:record.MailBatch], true
	}
}

// appendSlice appends what was read of a slice of the queue.
func (s *Instances) appendSlice(items []store.QueueItem, key string, slice *pb.RangeResponse, revision int64) []store.QueueItem {
	n := len(items)
	if len(slice.Kvs) > 0 {
		s.conn.Queue.Looked(key, slice.Count)
	}
	items = s.conn.QueueItems(items, slice.Kvs)
	if len(slice.Kvs) == 1 && !slice.More && len(items) > n {
		items[n].Alone = revision
	}
	return items
}
