package commits

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/metrics"
)

// committed reads the answer to a commit whose compares held.
func (s *Instances) committed(c *store.Commit, t *Prepared, resp *pb.TxnResponse) (*store.Committed, metrics.CommitOutcome) {
	done := &store.Committed{Modified: resp.Header.Revision, Released: c.Unlocked != nil}
	switch t.last {
	case endsReleasing:
		done.Kept = s.readRelease(t.work, db.LastOf.Nested(resp), resp.Header.Revision)
		if done.Released = done.Kept == nil; !done.Released {
			return done, metrics.CommitKeptLock
		}
	case endsLooking:
		done.Waits = !db.LastOf.Nested(resp).Succeeded
	case endsLocking:
		lockTaken(done, c, db.LastOf.Nested(resp).Succeeded)
	case endsReading:
		done.Kept = s.readOn(c, t.work, db.LastOf.Nested(resp), resp.Header.Revision)
	}
	return done, metrics.CommitCommitted
}

// evidence tells what became of a commit that was refused.
type evidence struct {
	db.Reads
	entry, deleted, instance db.Read
	owner                    db.Read   // of the lock, with a fence, or one that the commit takes
	node, head               db.Read   // without a lock
	holder                   db.Read   // of the gate that the commit takes
	answers                  []db.Read // of the keys that it wants to be unused, where it takes a gate
	places                   []db.Read // of limits, that the commit goes on with
	resp                     *pb.TxnResponse
}

// evidence is read in one request. It is a request of its own, as refusals are rare and
// what a transaction reads in its Else is sent and logged with every commit.
func (s *Instances) evidence(ctx context.Context, c *store.Commit) (*evidence, error) {
	id := c.After.Header.ID
	var e evidence
	e.entry, e.deleted, e.instance = e.Value(s.conn.Keys.Journal(id, c.After.Seq)), e.Value(s.conn.Keys.CommandRecord(id, record.DeletedRecord)), e.Key(s.conn.Keys.Instance(id))
	if c.Fence != nil {
		e.owner = e.First(c.Fence.Prefix)
	}
	if u := c.Unlocked; u != nil { // with the value: an answer of keys only has no lease
		e.node, e.head = e.Value(u.Key), e.Key(s.conn.Keys.Head(u.Definition))
		if u.Lock != nil {
			e.owner = e.First(u.Lock.Prefix)
		}
	}
	if g := takesGate(c); g != nil {
		e.holder = e.Value(s.conn.Keys.GateOf(*g))
		for i := range c.Consumed {
			if key := newKey(&c.Consumed[i]); key != "" {
				e.answers = append(e.answers, e.Key(s.conn.Keys.KeyRecord(key)))
			}
		}
	}
	for _, place := range s.places.Given(c) {
		e.places = append(e.places, e.Count(place))
	}
	var err error
	e.resp, err = s.conn.Read(ctx, "read why the commit of instance "+id+" was refused", e.Ops...)
	return &e, err
}

// classifyRefusal finds out why a commit was refused, in the order of
// docs/keys.md. The evidence is that of an identical commit sent a moment later, which
// is as good: the compares are monotone. Without an answer the outcome stays unknown,
// as an earlier copy may have been applied.
func (s *Instances) classifyRefusal(ctx context.Context, c *store.Commit, t *Prepared) (*store.Committed, metrics.CommitOutcome, error) {
	if c.Unlocked != nil && c.Before != nil {
		return s.settle(ctx, c)
	}
	e, err := s.evidence(ctx, c)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", db.ErrUnknown, err)
	}
	if done, err := e.proof(c); err != nil || done != nil {
		return done, metrics.CommitResolved, err
	}
	if c.Unlocked != nil {
		outcome, err := e.classifyUnlocked(c.Unlocked)
		return nil, outcome, err
	}
	if c.Fence != nil && e.lockIsGone(c.Fence) {
		return nil, metrics.CommitFenced, store.ErrFenced
	}
	if left, err := e.left(c); err != nil || left {
		return nil, metrics.CommitFenced, cmp.Or(err, store.ErrFenced)
	}
	if c.Instead != "" && e.isEntry(c.Instead) {
		return nil, metrics.CommitConflict, store.ErrOvertaken
	}
	if err := e.refusedFor(c); err != nil {
		return nil, metrics.CommitConflict, err
	}
	// Under local coordination the revision is the guard, so that another moved
	// the instance is no breach. Nor is that one appeared: creating takes no lock.
	if moved := e.moved(c); c.Fence == nil || moved && c.Before == nil || !moved && t.foreign > 0 {
		return nil, metrics.CommitConflict, store.ErrConflict
	}
	return nil, metrics.CommitBreach, store.ErrBreach
}

// refusedFor is the error of a commit that is refused for a place of a limit, or a gate. That the gate is free is not
// monotone: a refusal for it is one also where it is free by now, or a late copy would be applied beside the next attempt.
func (e *evidence) refusedFor(c *store.Commit) error {
	if !e.moved(c) && slices.ContainsFunc(e.places, func(r db.Read) bool { return !r.Found(e.resp) }) {
		return fmt.Errorf("%w: the place of a limit that instance %s goes on with was not given yet", db.ErrUnknown, c.After.Header.ID)
	}
	if g := takesGate(c); g != nil && !e.moved(c) && !e.answered() {
		refusal := &store.GatedError{Gate: *g, Commit: c.ID}
		if kv := e.holder.One(e.resp); kv != nil {
			refusal.Holder = string(kv.Value)
		}
		return refusal
	}
	return nil
}

// left reports whether a commit of a node that is alone may have been applied by an earlier copy, as the instance that it makes, or
// moves, has left since, and the proof with it. As a conflict it would be run again. In a cluster the lock says so.
func (e *evidence) left(c *store.Commit) (bool, error) {
	deleted, is := e.deleted.One(e.resp), e.instance.One(e.resp)
	switch {
	case c.Fence != nil || deleted == nil:
		return false, nil
	case c.Before == nil:
		return deleted.ModRevision > c.SeenMail, nil
	case is != nil && is.CreateRevision <= c.Before.Modified:
		return false, nil
	}
	from, err := record.DeletedFrom(deleted)
	return from != c.Before.Modified, err
}

// moved reports whether the instance itself is not as it was loaded.
func (e *evidence) moved(c *store.Commit) bool {
	kv := e.instance.One(e.resp)
	if c.Before == nil {
		return kv != nil
	}
	return kv == nil || kv.ModRevision != c.Before.Modified
}

// proof finds the commit id of c where only this commit can have put it: in its journal
// entry or, as the journal goes with the instance, in the record of its delete.
func (e *evidence) proof(c *store.Commit) (*store.Committed, error) {
	at := e.entry
	if c.Delete {
		at = e.deleted
	}
	kv := at.One(e.resp)
	if kv == nil {
		return nil, nil
	}
	id, err := record.CommitIn(kv.Value)
	if err != nil {
		return nil, err
	}
	if id != c.ID {
		return nil, nil
	}
	done := &store.Committed{Resolved: true, Modified: kv.ModRevision, Released: e.released(c)}
	// The copy that was applied may not have compared a mailbox that was followed then.
	done.Waits = done.Released && (c.Release && c.Fence != nil || c.Takes != nil)
	if u := c.Unlocked; u != nil && u.Lock != nil { // it is where the entry was put that the lock key was
		lockTaken(done, c, !e.lockIsGone(&store.Fence{Key: u.Lock.Key, Revision: kv.ModRevision}))
	}
	return done, nil
}

// isEntry reports whether the entry of the commit's number is of the one with this id.
func (e *evidence) isEntry(id string) bool {
	kv := e.entry.One(e.resp)
	if kv == nil {
		return false
	}
	was, err := record.CommitIn(kv.Value)
	return err == nil && was == id
}

// answered reports whether a key that the commit wants to be unused was used.
func (e *evidence) answered() bool {
	return slices.ContainsFunc(e.answers, func(r db.Read) bool { return r.One(e.resp) != nil })
}

// released reports whether my lock key, if I had one, is no longer there.
func (e *evidence) released(c *store.Commit) bool {
	if c.Fence == nil {
		return true
	}
	return e.lockIsGone(c.Fence)
}

// lockIsGone reports whether the oldest key below the lock's name is not mine.
func (e *evidence) lockIsGone(f *store.Fence) bool {
	owner := e.owner.One(e.resp)
	return owner == nil || string(owner.Key) != f.Key || owner.CreateRevision != f.Revision
}
