package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/places"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// Instances keeps instances for the node that works them. It is for pkg/client, and
// nothing else commits: see [Instances.Commit].
type Instances struct {
	conn        *lookup.Conn
	places      *places.Places
	KeepEntries int64 // of a journal; 0: all
}

// New is the instances over a connection; of a journal so many entries are kept, 0: all.
func New(c *lookup.Conn, p *places.Places, keepEntries int64) *Instances {
	return &Instances{c, p, keepEntries}
}

// Commit applies c in one transaction (docs/keys.md, Commit). Sending
// the same c again is safe at any time. Errors: [store.ErrFenced],
// [store.ErrConflict], [store.GatedError], [store.ErrOvertaken], [store.ErrHeld], [store.ErrBreach] and [db.ErrTooLarge] are definite; an
// error that wraps [db.ErrUnknown] is not, and wants the same c sent again.
func (s *Instances) Commit(ctx context.Context, c *store.Commit) (done *store.Committed, err error) {
	defer func() {
		if !errors.Is(err, db.ErrUnknown) {
			dropAhead(ctx, s, c)
		}
	}()
	began := time.Now()
	t, err := s.Prepare(c)
	if t, err = ahead(ctx, s, c, t, err); err != nil {
		return nil, err
	}
	resp, err := s.conn.Txn(ctx, "commit "+c.After.Header.ID, t.cmps, t.Then, nil)
	if err != nil {
		return nil, err
	}
	if !resp.Succeeded {
		done, outcome, err := s.classifyRefusal(ctx, c, t)
		if !errors.Is(err, db.ErrUnknown) {
			s.conn.Metrics.Commit(outcome, time.Since(began), t.Size, tracing.TraceID(ctx))
		}
		if done != nil {
			done.Size, done.Lines = t.Size, s.places.Lines(c, nil)
			s.conn.Metrics.CommitCommands(len(c.Consumed))
			s.conn.Metrics.SavesJoined(c.Joined)
		}
		return done, err
	}
	done, outcome := s.committed(c, t, resp)
	s.lookBehind(ctx, c, t, done)
	if t.take != nil {
		s.places.Took(c, t.took(resp), resp.Header.Revision, done)
	}
	done.Lines = s.places.Lines(c, c.Takes)
	done.Size = t.Size
	s.conn.Metrics.Commit(outcome, time.Since(began), t.Size, tracing.TraceID(ctx))
	s.conn.Metrics.CommitCommands(len(c.Consumed))
	s.conn.Metrics.SavesJoined(c.Joined)
	return done, nil
}

// Prepared is a commit as etcd sees it.
type Prepared struct {
	cmps    []clientv3.Cmp
	Then    []clientv3.Op
	last    ending
	work    *newWork     // that the last operation reads
	box     boxLook      // at the mailbox, behind it
	take    *clientv3.Op // takes a place; nil: none does
	reads   bool         // its last operation reads new mail: the burst goes on, or may, as it takes a place
	foreign int          // compares on what the lock does not protect
	parts   int          // bytes of new parts
	ahead   string       // the first that was written ahead; "": none was
	Size    int
}

// ending is what the last operation of a commit does.
type ending int

const (
	endsPlain     ending = iota // nothing else
	endsReleasing               // it releases the lock, or reads what is new
	endsLooking                 // it looks for queued stimuli, without a lock to release
	endsReading                 // it reads the mailbox if there is new mail, as the burst goes on
	endsLocking                 // it takes the lock of an instance that is new, as the burst goes on
)

// Prepare makes the transaction of a commit.
func (s *Instances) Prepare(c *store.Commit) (*Prepared, error) {
	id := c.After.Header.ID
	if !mayBeUnlocked(c) {
		return nil, fmt.Errorf("commit of instance %s: it wants the lock", id)
	}
	if c.Before != nil && c.Before.Unwritten != nil {
		return nil, fmt.Errorf("commit of instance %s: what the commit before it left is not written yet", id)
	}
	if err := places.Brought(c); err != nil {
		return nil, err
	}
	t, err := s.render(c)
	if errors.Is(err, db.ErrTooLarge) && c.Form == store.InParts && c.After.Cut != record.FormWide {
		// Parts are compressed one by one, and take more than one key would: what fits only in that stays in it,
		// or goes back to it. Otherwise nothing could end an instance that was written so.
		c.Form = store.Whole
		if whole, bad := s.render(c); bad == nil {
			return whole, nil
		}
		c.Form = store.InParts
	}
	return t, err
}

// render builds a commit in its form.
func (s *Instances) render(c *store.Commit) (*Prepared, error) {
	id := c.After.Header.ID
	t := &Prepared{}
	o := s.content(c, t)
	var err error
	if c.Release && c.Fence != nil && t.take == nil {
		if release, ok := s.release(c, t); ok {
			// Where it does not fit beside the rest, the committer releases.
			if t.Then, err = o.RenderBeside(t.cmps, release); err == nil {
				t.last = endsReleasing
				if t.work.followed {
					t.box = boxReleased
				}
			}
		}
	}
	if look, ok := s.lookUnlocked(c, o); ok && c.Unlocked != nil {
		if t.Then, err = o.RenderBeside(t.cmps, t.beside(look)...); err != nil {
			return nil, fmt.Errorf("commit of instance %s: %w", id, err)
		}
		t.last = endsLooking
	}
	if c.Unlocked != nil && c.Unlocked.Lock != nil {
		if t.Then, err = o.RenderBeside(t.cmps, t.beside(s.takeLock(c.Unlocked.Lock, o))...); err != nil {
			return nil, fmt.Errorf("commit of instance %s: %w", id, err)
		}
		t.last = endsLocking
	}
	if t.reads && t.last == endsPlain {
		// Where it does not fit beside the rest, the committer loads.
		if look, ok := s.readNewMail(c, t); ok {
			if t.Then, err = o.RenderBeside(t.cmps, t.beside(look)...); err == nil {
				t.last = endsReading
			}
		}
	}
	if t.last == endsPlain {
		if t.Then, err = o.RenderBeside(t.cmps, t.beside()...); err != nil {
			return nil, fmt.Errorf("commit of instance %s: %w", id, err)
		}
	}
	t.Size = o.Size + db.SizeOf(t.cmps)
	return t, nil
}

// content is what a commit writes, and adds to t what has to be so for it.
func (s *Instances) content(c *store.Commit, t *Prepared) *db.Ops {
	o := db.NewContent()
	s.guard(c, t)
	if c.Delete {
		s.deleteInstance(c, o)
	} else {
		s.writeInstance(c, o)
		keepAhead(s.conn.Keys, c, t, o)
	}
	s.places.Settle(c, o)
	t.take = s.places.TakeWith(c, o)
	t.reads = c.Continue != nil || t.take != nil && c.Fence != nil
	if c.After.Unwritten == nil {
		s.writeBookmarks(c, o)
	}
	s.consume(c, t, o)
	s.writeSent(c, o)
	return o
}

// guard adds the outer compares: the lock is mine, nothing moved.
//
// That what the commit consumes is there follows from them: bookmarks and mail
// of an existing instance are deleted only together with a write of the
// instance, by the node that holds its lock. So a burst may take more commands than
// etcd would compare one by one.
func (s *Instances) guard(c *store.Commit, t *Prepared) {
	id := c.After.Header.ID
	there := contents.Compares(s.conn.Conn, c)
	for _, place := range s.places.Given(c) {
		there = append(there, db.Exists(place))
	}
	t.foreign = len(there)
	if c.Unlocked != nil {
		t.cmps = append(s.guardUnlocked(c), there...)
		return
	}
	t.cmps = append(fenceCompares(c.Fence), there...)
	switch {
	case c.Before != nil:
		t.cmps = append(t.cmps, db.ModifiedAt(s.conn.Keys.Instance(id), c.Before.Modified))
	case c.Fence != nil:
		t.cmps = append(t.cmps, db.Absent(s.conn.Keys.Instance(id)))
	default:
		// No fence to refuse a late copy after the instance was deleted: it would
		// bring it back. SeenMail is when it was loaded.
		t.cmps = append(t.cmps, db.Absent(s.conn.Keys.Instance(id)), db.NotWrittenAfter(s.conn.Keys.CommandRecord(id, record.DeletedRecord), c.SeenMail))
	}
	if g := takesGate(c); g != nil {
		// It may become free: who was refused commits that, before which a late copy finds the lock or the
		// revision moved; of an instance that an import would bring, the lock.
		t.cmps = append(t.cmps, db.Absent(s.conn.Keys.GateOf(*g)))
		t.foreign++
	}
}

func (s *Instances) writeInstance(c *store.Commit, o *db.Ops) {
	h := &c.After.Header
	c.After.Contents = c.Before != nil && c.Before.Contents || len(c.Files()) > 0
	written := o.Put(s.conn.Keys.Journal(h.ID, c.After.Seq), record.NewJournalEntry(c))
	s.keepJournal(c, written, o)
	if c.Form == store.Undecided && s.placesApart(c) {
		c.Form, c.After.Cut = store.InParts, record.FormWide
	}
	if c.Form == store.Undecided {
		c.After.Cut = 0
		// One that lies in parts stays so if it can: it may have become larger than a transaction. One that waits
		// at many places is smaller whole, as its state repeats what its header says of them.
		if c.Form = store.Whole; c.Before != nil && len(c.Before.Parts) > 0 || s.conn.PartsKnown(record.FormInParts) && !isWide(c) {
			c.Form = store.InParts
		}
	}
	size := lookup.PartsOf(s.conn).Put(o, c.Before, &c.After, c.Form == store.InParts)
	if most := maxRecord(len(h.Bookmarks)); len(c.Created) > 0 && len(h.Bookmarks) >= wholeFrom && c.After.Cut != record.FormWide && size > most {
		o.Fail(s.conn.Keys.Instance(h.ID), fmt.Errorf("%w: the record of the instance, which waits at %d places, has %d bytes after compression (at most %d, so that it can be ended)", db.ErrTooLarge, len(h.Bookmarks), size, most))
	}
	var before *workflow.Instance
	if c.Before != nil {
		before = &c.Before.Header
	}
	s.conn.WriteIndex(o, before, &c.After)
	lookup.Index{Conn: s.conn}.NoteIncidents(c, o)
	if h.Status == workflow.StatusFinished {
		if before != nil && before.FinishedAt != nil && h.FinishedAt != nil && !before.FinishedAt.Equal(*h.FinishedAt) {
			o.PutRaw(s.conn.Keys.IndexEntry(h), record.CommitNumber(&c.After)) // it ended again within one burst: its entry tells webhooks
		}
		s.conn.WriteEnd(o, &c.After, size)
	}
}

// keepJournal tells the record what is left of the journal after this commit, and
// deletes the oldest entries of one that is longer than configured, a slice at a
// time. What it does depends on the commit alone, so that a copy does the same.
// The newest entries stay: they are what proves a commit whose answer was lost.
func (s *Instances) keepJournal(c *store.Commit, written int64, o *db.Ops) {
	from, bytes := int64(1), int64(0)
	if c.Before != nil {
		from, bytes = record.JournalFrom(c.Before), c.Before.JournalBytes
	}
	if have := c.After.Seq - from; s.KeepEntries > 0 && have >= s.KeepEntries+record.JournalSlack {
		drop := min(have-s.KeepEntries, record.JournalSlice)
		h := &c.After.Header
		o.Tail = append(o.Tail, clientv3.OpDelete(s.conn.Keys.Journal(h.ID, from), clientv3.WithRange(s.conn.Keys.Journal(h.ID, from+drop))))
		if len(h.Incidents) > 0 {
			o.Tail = append(o.Tail, clientv3.OpDelete(s.conn.Keys.Incident(h.DefinitionID, h.ID, from), clientv3.WithRange(s.conn.Keys.Incident(h.DefinitionID, h.ID, from+drop))))
		}
		bytes -= bytes * drop / have
		from += drop
	}
	c.After.JournalBytes = bytes + written
	if c.After.JournalFrom = from; from == 1 {
		c.After.JournalFrom = 0
	}
}

// deleteInstance removes an instance with its journal, of which a record stays:
// the proof of the delete, and what a late copy of a start is refused by.
func (s *Instances) deleteInstance(c *store.Commit, o *db.Ops) {
	id := c.After.Header.ID
	was := record.DeletedEntry{Commit: c.ID}
	if c.Before != nil {
		was.From = c.Before.Modified
	}
	s.conn.Record(o, s.conn.Keys.CommandRecord(id, record.DeletedRecord), was)
	o.Del(s.conn.Keys.Cancel(id))
	if c.Before == nil { // started and deleted within one burst
		return
	}
	o.Del(s.conn.Keys.Instance(id))
	for _, key := range s.conn.IndexEntries(&c.Before.Header) {
		o.Del(key)
	}
	s.conn.ForgetIncidents(&c.Before.Header, o)
	o.Tail = append(o.Tail, clientv3.OpDelete(s.conn.Keys.JournalOf(id), clientv3.WithPrefix()))
	if len(c.Before.Parts) > 0 {
		lookup.PartsOf(s.conn).Delete(o, id)
	}
	contents.DeleteOf(s.conn.Conn, o, c.Before)
}

// consume deletes the commands that the burst processed and leaves their
// records.
func (s *Instances) consume(c *store.Commit, t *Prepared, o *db.Ops) {
	id := c.After.Header.ID
	for _, done := range c.Consumed {
		if goesOn(c) && done.Command.ID == c.Continue.ID {
			continue
		}
		s.conn.Placed(c, &done)
		s.conn.ConsumeOne(id, &done, o)
		if key := newKey(&done); key != "" {
			t.cmps = append(t.cmps, db.Absent(s.conn.Keys.KeyRecord(key)))
			t.foreign++
		}
		if done.Command.Claim != nil {
			stands := claims.Completes(s.conn.Conn, o, &done)
			t.cmps, t.foreign = append(t.cmps, stands...), t.foreign+len(stands)
		}
	}
}

// newKey is the caller's key of a command that was in hand only: nothing may have answered it; "": it has none.
func newKey(done *store.Consumed) string {
	if done.Command.Key == nil || done.Answer == nil || done.Created != 0 {
		return ""
	}
	return done.Command.Key.Name
}

// goesOn tells whether the ~continue that a commit leaves is the one that it took: it lies
// in the mailbox, and is not written again. One that was taken over is: its attempts are
// over with the commit.
func goesOn(c *store.Commit) bool {
	return c.Continue != nil && slices.ContainsFunc(c.Consumed, func(done store.Consumed) bool {
		return done.Command.ID == c.Continue.ID && done.Created > 0 && done.Command.Attempts == 0 && len(done.Command.Begun) == 0
	})
}
