package upkeep

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Finished is an instance that has ended.
type Finished struct {
	ID      string
	At      time.Time // its end, by the clock of who wrote it
	Bytes   int64     // about what it and its journal take in the store
	Stays   bool      // it faulted, or has files, and does not leave the store as long as that may be wanted
	Created int64     // revision at which it ended
	Cursor  string    // its place in the order: a look from there on begins behind it
}

// Finished lists finished instances of a shard, the one that ended first, by the
// clocks of those who wrote, first, from cursor on, up to those that ended at until
// or later (all, if it is zero), and tells how many that is in all; next is "" at the end.
//
// etcd counts all keys of a range, however few it answers with: of a shard with many, a look with
// until costs what it is of, and one without what all are. In its index is also what was deleted
// since it last compacted: a look that begins before that walks over it.
func (s *Upkeep) Finished(ctx context.Context, shard int, cursor string, until time.Time, limit int64) (page []Finished, total int64, next string, err error) {
	prefix := s.conn.Keys.FinishedIn(shard)
	from, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	if cursor != "" {
		from += cursor + "\x00"
	}
	if !until.IsZero() {
		end = prefix + record.Millis(until)
	}
	resp, err := s.conn.Get(ctx, "list finished instances", from, clientv3.WithRange(end), clientv3.WithLimit(limit))
	if err != nil {
		return nil, 0, "", err
	}
	for _, kv := range resp.Kvs {
		place := strings.TrimPrefix(string(kv.Key), prefix)
		at, id, _ := strings.Cut(place, "/")
		bytes, stays := lookup.ReadEnd(kv.Value) // a time that cannot be read counts as long ago
		page = append(page, Finished{ID: id, At: record.FromMillis(at), Bytes: bytes, Stays: stays, Created: kv.CreateRevision, Cursor: place})
	}
	if resp.More {
		next = page[len(page)-1].Cursor
	}
	return page, resp.Count, next, nil
}

// SomeFinished tells which of these shards have finished instances, in one request
// however many there are. It is for shards that are thought to be empty: etcd counts what is in the others.
func (s *Upkeep) SomeFinished(ctx context.Context, shards []int) ([]int, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	var ask db.Reads
	for _, shard := range shards {
		ask.Any(s.conn.Keys.FinishedIn(shard))
	}
	resp, err := s.conn.Read(ctx, "look for finished instances", ask.Ops...)
	if err != nil {
		return nil, err
	}
	var some []int
	for i, shard := range shards {
		if db.Read(i).One(resp) != nil {
			some = append(some, shard)
		}
	}
	return some, nil
}

// MaxPurge is how many instances Upkeep.Purge takes at once. It reads so many records
// in one answer, as they are stored, and decodes one at a time.
const MaxPurge = 30

// Leaving is a finished instance that is to leave the store.
type Leaving struct {
	ID string
	// Early: it ended within the life of records. It is recorded, and it does not go if it stays ([Finished]).
	Early bool
	// Recorded: it leaves a record behind, as a delete does, which refuses late copies of what made the instance, and a start of
	// its id that was planned before.
	Recorded bool
	// Told is who has to have told its end, and its incidents, before; nil: nobody.
	Told *Told
}

// Late are instances that ended before the life of records.
func Late(ids ...string) []Leaving {
	some := make([]Leaving, len(ids))
	for i, id := range ids {
		some[i].ID = id
	}
	return some
}

// Purge deletes finished instances with their journals and index entries, and
// tells which. locks gives the prefix of an instance's lock; nil under local
// coordination.
//
// If, for each: its record is as read, and finished in it; nothing is in its
// mailbox; nobody has its lock. A command that is on its way to it, such as a
// retry, or in hand under its lock, so comes first, and the instance stays.
// Mail does not go without a write of the instance, so the first two together
// stay refused; that the lock is free may come true again, and then a late copy
// deletes what may be deleted then. Of what is not Early it only deletes: that has to work when etcd has no
// space. That there is no record of it, as there is after a delete, is why what
// ended within the life of records must be given as Early: a late copy of its start
// would bring it back.
//
// Of a journal of more than a slice, a slice goes first.
//
// What goes was given to keep before, as it was read; nil keeps nothing.
func (s *Upkeep) Purge(ctx context.Context, some []Leaving, locks func(id string) string, keep Keep) (purged []string, err error) {
	var ask db.Reads
	for _, l := range some {
		ask.Value(s.conn.Keys.Instance(l.ID))
	}
	resp, err := s.conn.Read(ctx, "read finished instances", ask.Ops...)
	if err != nil {
		return nil, err
	}
	var stay map[string]bool
	if keep != nil {
		if stay, err = (&keeping{s.conn, keep}).all(ctx, resp, some); err != nil {
			return nil, err
		}
	}
	batch := purge{s: s}
	var failed error
	for i, l := range some {
		kv := db.Read(i).One(resp)
		if kv == nil {
			continue // it is gone, and with it its place in the order
		}
		rec, err := record.WholeRecord(kv)
		if err != nil {
			s.conn.Log.ErrorContext(ctx, "a finished instance cannot be read; it is kept", "instanceId", l.ID, "error", err)
			continue
		}
		if !l.mayGo(s.conn.Keys, rec) || stay[rec.Header.ID] {
			continue
		}
		guard := []clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Instance(l.ID), rec.Modified), db.NoneNewer(s.conn.Keys.Mailbox(l.ID), 0)}
		if locks != nil {
			guard = append(guard, db.NoneNewer(locks(l.ID), 0))
		}
		entries := rec.Seq - record.JournalFrom(rec) + 1
		if entries > record.JournalSlice {
			// It puts, which etcd refuses when it has no space: the others go on.
			if rec, err = lookup.PartsOf(s.conn).Join(ctx, kv, db.DecodeWhole); err == nil {
				err = s.ShortenJournal(ctx, rec, guard)
			}
			if !lookup.IsMoved(err) {
				failed = errors.Join(failed, err)
			}
			continue
		}
		if entries += contents.Weight(rec); batch.entries+entries > record.JournalSlice {
			if purged, err = batch.send(ctx, purged); err != nil {
				return purged, errors.Join(failed, err)
			}
		}
		batch.add(rec, guard, entries, l.Early || l.Recorded)
	}
	purged, err = batch.send(ctx, purged)
	return purged, errors.Join(failed, err)
}

func (l *Leaving) mayGo(k record.Keys, rec *store.Record) bool {
	return rec.Header.Status == workflow.StatusFinished && len(rec.Header.Bookmarks) == 0 && !(l.Early && lookup.Stays(rec)) && l.told(k, rec)
}

// told reports whether webhooks told what they have to tell of a finished instance.
func (l *Leaving) told(k record.Keys, rec *store.Record) bool {
	if l.Told == nil {
		return true
	}
	h := &rec.Header
	keys := []string{k.IndexEntry(h)}
	if len(h.Incidents) > 0 {
		keys = append(keys, k.IncidentsIn(h.DefinitionID, h.ID))
	}
	return l.Told.of(rec.Modified, keys...)
}

// purge is one transaction of Upkeep.Purge: each instance nested, so that one
// that may not go keeps none.
type purge struct {
	s       *Upkeep
	ids     []string
	list    []clientv3.Op
	entries int64 // of their journals
}

func (p *purge) add(rec *store.Record, guard []clientv3.Cmp, entries int64, recorded bool) {
	o := db.NewOps()
	if recorded {
		p.s.conn.Record(o, p.s.conn.Keys.CommandRecord(rec.Header.ID, record.DeletedRecord), record.DeletedEntry{From: rec.Modified})
	}
	o.Del(p.s.conn.Keys.Instance(rec.Header.ID))
	for _, key := range p.s.conn.IndexEntries(&rec.Header) {
		o.Del(key)
	}
	p.s.conn.ForgetIncidents(&rec.Header, o)
	o.Tail = append(o.Tail, clientv3.OpDelete(p.s.conn.Keys.JournalOf(rec.Header.ID), clientv3.WithPrefix()))
	if len(rec.Parts) > 0 {
		lookup.PartsOf(p.s.conn).Delete(o, rec.Header.ID)
	}
	contents.DeleteOf(p.s.conn.Conn, o, rec)
	p.list = append(p.list, clientv3.OpTxn(guard, o.List(), nil))
	p.ids = append(p.ids, rec.Header.ID)
	p.entries += entries
}

// send deletes what was added, and adds to purged what went.
func (p *purge) send(ctx context.Context, purged []string) ([]string, error) {
	if len(p.list) == 0 {
		return purged, nil
	}
	resp, err := p.s.conn.Txn(ctx, "purge finished instances", nil, p.list, nil)
	if err != nil {
		return purged, err
	}
	for i, id := range p.ids {
		if db.Read(i).Nested(resp).Succeeded {
			purged = append(purged, id)
		}
	}
	p.ids, p.list, p.entries = nil, nil, 0
	return purged, nil
}

// ShortenJournal deletes a slice of the oldest journal entries of a finished
// instance. The guard is that of Upkeep.Purge.
func (s *Upkeep) ShortenJournal(ctx context.Context, rec *store.Record, guard []clientv3.Cmp) error {
	from, have := record.JournalFrom(rec), rec.Seq-record.JournalFrom(rec)+1
	left := *rec
	left.JournalFrom = from + record.JournalSlice
	left.JournalBytes -= left.JournalBytes * record.JournalSlice / have
	t := s.conn.Begin("shorten the journal of "+rec.Header.ID, guard...)
	s.conn.WriteEnd(t.Ops, &left, lookup.PartsOf(s.conn).Put(t.Ops, rec, &left, len(rec.Parts) > 0))
	t.Tail = append(t.Tail, clientv3.OpDelete(s.conn.Keys.Journal(rec.Header.ID, from), clientv3.WithRange(s.conn.Keys.Journal(rec.Header.ID, left.JournalFrom))))
	if h := &rec.Header; len(h.Incidents) > 0 {
		t.Tail = append(t.Tail, clientv3.OpDelete(s.conn.Keys.Incident(h.DefinitionID, h.ID, from), clientv3.WithRange(s.conn.Keys.Incident(h.DefinitionID, h.ID, left.JournalFrom))))
	}
	_, err := t.SubmitSmall(ctx)
	return err
}

// DeadSize is a dead letter as retention sees it.
type DeadSize struct {
	ID      string
	Bytes   int64
	Created int64 // its key's create revision
}

// DeadSizes lists dead letters; next is "" at the end.
func (s *Upkeep) DeadSizes(ctx context.Context, cursor string, limit int64) ([]DeadSize, string, error) {
	var out []DeadSize
	end, err := s.conn.Values(ctx, "list dead letters", s.conn.Keys.Deads(), cursor, limit, func(kv *mvccpb.KeyValue) error {
		var d store.DeadLetter
		if err := db.Decode(kv.Value, &d); err != nil {
			s.conn.Log.ErrorContext(ctx, "a dead letter cannot be read; it is kept", "key", string(kv.Key), "error", err)
			return nil
		}
		out = append(out, DeadSize{ID: record.Decode(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Deads())),
			Bytes: int64(len(kv.Key) + len(kv.Value)), Created: kv.CreateRevision})
		return nil
	})
	return out, end.Next, err
}

// MaxPurgeDead is how many dead letters Upkeep.PurgeDead takes at once.
const MaxPurgeDead = 100

// PurgeDead deletes dead letters and tells how many. If, for each: its create
// revision, so that one that was replayed and failed again stays.
func (s *Upkeep) PurgeDead(ctx context.Context, dead []DeadSize) (n int, err error) {
	list := make([]clientv3.Op, len(dead))
	for i, d := range dead {
		key := s.conn.Keys.Dead(d.ID)
		list[i] = clientv3.OpTxn([]clientv3.Cmp{db.CreatedAt(key, d.Created)}, []clientv3.Op{clientv3.OpDelete(key)}, nil)
	}
	resp, err := s.conn.Txn(ctx, "purge dead letters", nil, list, nil)
	if err != nil {
		return 0, err
	}
	for i := range dead {
		if db.Read(i).Nested(resp).Succeeded {
			n++
		}
	}
	return n, nil
}
