package commits

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// An instance that no live program can run, or whose record nobody can read, can be
// deleted: nothing of its state is asked for. What its keys are says its header if that
// can be read, and a look through the ranges that may have keys of it if not.

// Remove deletes an instance without reading its state: its record, index entries,
// bookmarks, timers, tasks, journal, mail (that of others becomes dead letters), and its
// gate. Children that its header waits for are cancelled, and a parent that waits for
// it is told. It is nothing if there is no such instance. [store.ErrFenced]: the lock
// is gone, or the instance moved. lines are those at which somebody may be given a place of a limit since.
//
// If: the lock is mine; the instance as read; nothing new in its mailbox. The last can
// come true again, and then a late copy deletes what was to be deleted; nobody draws a
// conclusion from a refusal but to look again.
func (s *Instances) Remove(ctx context.Context, f *store.Fence, id string, at time.Time) (lines []limit.Line, err error) {
	for range removeLooks {
		r, err := LookToRemove(ctx, s.conn, f, id, at)
		if err != nil || r == nil {
			return nil, err
		}
		if err := r.BuryMail(ctx); err != nil {
			return nil, err
		}
		done, err := r.Remove(ctx)
		if err != nil {
			return nil, err
		}
		if done {
			return slices.Collect(maps.Keys(r.index.Lines)), nil
		}
	}
	return nil, fmt.Errorf("remove instance %s: %w", id, store.ErrFenced)
}

// removeLooks is how often a removal looks again because mail came.
const removeLooks = 20

// Removal is the delete of one instance, as it was read.
type Removal struct {
	s     *lookup.Conn
	fence *store.Fence
	id    string
	at    time.Time
	rec   *store.Record // of a damaged one only the mod revision
	read  bool          // the header could be read
	seen  int64         // the revision of the look
	told  bool          // that it ends, who waits for it
	index lookup.Index

	Guard  []clientv3.Cmp // that it is as it was read, and who removes it may
	Beside *db.Ops        // what else the last transaction does; nil: nothing
}

// LookToRemove is nil if there is no such instance.
func LookToRemove(ctx context.Context, s *lookup.Conn, f *store.Fence, id string, at time.Time) (*Removal, error) {
	resp, err := s.Get(ctx, "read instance "+id, s.Keys.Instance(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	r := &Removal{s: s, fence: f, id: id, at: at, seen: resp.Header.Revision, index: lookup.Index{Conn: s, Lines: map[limit.Line]bool{}}, Guard: append(fenceCompares(f), db.ModifiedAt(s.Keys.Instance(id), resp.Kvs[0].ModRevision))}
	if r.rec, err = lookup.PartsOf(s).Places(ctx, resp.Kvs[0], resp.Header.Revision); err == nil && r.rec.Header.ID == id {
		r.read = true
		return r, nil
	}
	r.rec = &store.Record{Header: workflow.Instance{ID: id}, Modified: resp.Kvs[0].ModRevision}
	s.Log.WarnContext(ctx, "a damaged instance is removed", "instanceId", id, "error", err)
	return r, nil
}

// BuryMail sets aside what lies in the mailbox, each command alone: that always fits.
func (r *Removal) BuryMail(ctx context.Context) error {
	for {
		work := workFor(r.s, r.id)
		resp, err := r.s.Read(ctx, "read mail of "+r.id, work.Ops...)
		if err != nil {
			return err
		}
		r.seen = resp.Header.Revision
		mail := record.DecodeMail(work.mail.In(resp).Kvs)
		if len(mail) == 0 {
			return nil
		}
		for _, m := range mail {
			var dead []store.DeadLetter
			if m.Unreadable == nil && m.Command.Kind == workflow.CommandResume && !m.Command.Timer {
				dead = append(dead, store.DeadLetter{ID: record.DeadID(r.id, &m.Command), Reason: workflow.DeadInstanceGone, Command: &m.Command, InstanceID: r.id, CreatedAt: r.at})
			}
			done := store.Consumed{Command: m.Command, Created: m.Created, Effect: store.Effect{InstanceID: r.id, Outcome: workflow.OutcomeRefused, Code: string(workflow.CodeInstanceNotFound)}}
			if err := discard(ctx, r.s, r.fence, r.id, r.rec, []store.Consumed{done}, dead); err != nil {
				return err
			}
		}
	}
}

// Readable reports whether all mail can be read. What this program cannot read it
// does not throw away: damaged mail is set aside first, by itself.
func (r *Removal) Readable(ctx context.Context) (bool, error) {
	all := true
	err := r.each(ctx, r.s.Keys.Mailbox(r.id), func(kv *mvccpb.KeyValue) {
		var cmd workflow.Command
		all = all && db.DecodeWhole(kv.Value, &cmd) == nil && cmd.Kind.Known()
	})
	return all, err
}

// Remove deletes the keys; false: something moved. What does not fit beside the rest
// goes first, and the record, which tells that something is left to do, last.
func (r *Removal) Remove(ctx context.Context) (bool, error) {
	if done, err := r.narrow(ctx); err != nil || !done {
		return false, err
	}
	keys, err := r.keys(ctx)
	if err != nil {
		return false, err
	}
	begin := func() *db.Txn { return r.s.Begin("remove instance "+r.id, r.Guard...) }
	for len(keys) > removeChunk {
		t := begin()
		for _, key := range keys[:removeChunk] {
			t.Del(key)
		}
		if done, err := db.Applied(t.Submit(ctx)); err != nil || !done {
			return false, err
		}
		keys = keys[removeChunk:]
	}
	gate, err := r.gate(ctx)
	if err != nil {
		return false, err
	}
	t := begin()
	t.When(db.NoneNewer(r.s.Keys.Mailbox(r.id), r.seen))
	if r.Beside != nil {
		t.Ops = r.Beside
	}
	for _, key := range keys {
		t.Del(key)
	}
	if gate != "" {
		then := db.NewOps()
		then.Del(gate)
		t.Nested(r.s.HoldsGate(gate, r.id), then, nil)
	}
	if err := r.tell(ctx, t.Ops); err != nil {
		return false, err
	}
	t.Del(r.s.Keys.Instance(r.id))
	t.Del(r.s.Keys.Cancel(r.id))
	if r.rec.Unwritten != nil {
		t.Del(r.s.Keys.Mail(r.id, workflow.ContinueID))
	}
	r.s.Record(t.Ops, r.s.Keys.CommandRecord(r.id, record.DeletedRecord), record.DeletedEntry{From: r.rec.Modified})
	r.s.ForgetIncidents(&r.rec.Header, t.Ops)
	t.Tail = append(t.Tail, clientv3.OpDelete(r.s.Keys.JournalOf(r.id), clientv3.WithPrefix()))
	lookup.PartsOf(r.s).Delete(t.Ops, r.id)
	contents.Delete(r.s.Conn, t.Ops, r.id)
	return db.Applied(t.Submit(ctx))
}

// narrow takes the bookmarks of a wide instance away under one decision, as a commit does
// ([Decide]): an owner goes on, if this ends, and needs no program for it. Before, it writes
// what a commit has left. False: something moved.
func (r *Removal) narrow(ctx context.Context) (bool, error) {
	if r.rec.Unwritten != nil {
		done, err := r.index.WritePages(ctx, r.Guard, r.rec)
		if r.told = r.rec.Unwritten.Delete; err != nil || !done || r.told {
			return done, err
		}
	}
	if done, err := r.cancelChildren(ctx); err != nil || !done {
		return false, err
	}
	if len(r.rec.Header.Bookmarks) <= removeChunk/3 || r.Beside != nil {
		return true, nil
	}
	d := Decide(&store.Commit{Delete: true, Before: r.rec, After: *r.rec, Burned: r.rec.Header.Bookmarks, At: r.at})
	t := r.s.Begin("decide that instance "+r.id+" is removed", r.Guard...)
	t.When(db.NoneNewer(r.s.Keys.Mailbox(r.id), r.seen))
	if d.After.Apart = false; r.rec.Cut == record.FormWide {
		lookup.PartsOf(r.s).Put(t.Ops, r.rec, &d.After, true)
	} else {
		d.After.Parts = nil
		t.Put(r.s.Keys.Instance(r.id), &d.After)
		lookup.PartsOf(r.s).Delete(t.Ops, r.id)
	}
	t.Put(r.s.Keys.Mail(r.id, workflow.ContinueID), d.Continue)
	if err := r.tell(ctx, t.Ops); err != nil {
		return false, err
	}
	resp, err := t.Submit(ctx)
	if err != nil || !resp.Succeeded {
		return false, err
	}
	left := d.After
	left.Modified, r.seen = resp.Header.Revision, resp.Header.Revision
	r.rec, r.told = &left, true
	r.Guard = append(fenceCompares(r.fence), db.ModifiedAt(r.s.Keys.Instance(r.id), left.Modified))
	return r.index.WritePages(ctx, r.Guard, r.rec)
}

// cancelChildren ends the children that only the instance waits for, as far as its header
// tells, a slice at a time. They go before it: of what is deleted nobody knows them.
func (r *Removal) cancelChildren(ctx context.Context) (bool, error) {
	var ids []string
	for i := range r.rec.Header.Bookmarks {
		if b := &r.rec.Header.Bookmarks[i]; b.Child() != "" && slices.Contains(ChildTypes, b.ActivityType) {
			ids = append(ids, b.Child())
		}
	}
	for slice := range slices.Chunk(ids, removedChildren) {
		t := r.s.Begin("remove instance "+r.id, r.Guard...)
		for _, child := range slice {
			cancel := db.NewOps()
			r.s.PutOutgoing(cancel, store.Outgoing{InstanceID: child, Command: workflow.Command{ID: store.CancelCommand(r.id, child), Kind: workflow.CommandCancel, CreatedAt: r.at}})
			t.Nested([]clientv3.Cmp{db.Exists(r.s.Keys.Instance(child))}, cancel, nil)
		}
		if done, err := db.Applied(t.Submit(ctx)); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

const (
	removeChunk     = 1000 // keys of an instance that one transaction deletes
	removedChildren = 100  // that one transaction cancels
)

// keys are those of index entries, bookmarks, timers and tasks.
func (r *Removal) keys(ctx context.Context) ([]string, error) {
	k := r.s.Keys
	if r.read {
		keys := r.s.IndexEntries(&r.rec.Header)
		for _, b := range r.rec.Header.Bookmarks {
			keys = append(keys, k.Bookmark(b.Hash, r.rec.Header.CorrelationID, b.ID))
			keys = append(keys, k.TimersOf(&b)...)
			if b.ActivityType == workflow.TaskType {
				keys = append(keys, k.Taken.KeysOf(&b)...)
			}
			keys = append(keys, k.Limits.KeysOf(&b)...)
			r.index.NoteLine(&b)
		}
		return keys, nil
	}
	var keys []string
	for _, in := range []struct {
		prefix   string
		fromID   int  // parts from the end of the key to the id
		bookmark bool // the id is a bookmark's
	}{{k.Indexes(), 1, false}, {k.Root + "by-correlation/", 1, false}, {k.Root + "by-parent/", 1, false}, {k.Labels(), 1, false}, {k.FinishedIn(record.Shard(r.id, record.FinishedShards)), 1, false},
		{k.Tasks(""), 2, false}, {k.Taken.Tasks(""), 2, false}, {k.People.Lists(), 2, false}, {k.Limits.Waits(), 2, false}, {k.Limits.Places(), 2, false}, {k.Incidents(), 2, false}, {k.Root + "bookmark/", 2, false}, {k.Root + "timer/", 1, true}} {
		err := r.each(ctx, in.prefix, func(kv *mvccpb.KeyValue) {
			parts := strings.Split(string(kv.Key), "/")
			id := record.Decode(parts[len(parts)-in.fromID])
			if in.bookmark {
				id, _ = workflow.SplitBookmarkID(id)
			}
			if id == r.id {
				keys = append(keys, string(kv.Key))
				if in.prefix == k.Limits.Waits() || in.prefix == k.Limits.Places() {
					r.index.Lines[record.LineIn(strings.TrimPrefix(string(kv.Key), in.prefix))] = true
				}
			}
		}, clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// gate is the key of the gate that the instance holds; "" if it holds none.
func (r *Removal) gate(ctx context.Context) (key string, err error) {
	if r.read {
		if r.rec.Gate != nil {
			key = r.s.Keys.GateOf(*r.rec.Gate)
		}
		return key, nil
	}
	err = r.each(ctx, r.s.Keys.Root+"gate/", func(kv *mvccpb.KeyValue) {
		if string(kv.Value) == r.id {
			key = string(kv.Key)
		}
	})
	return key, err
}

func (r *Removal) each(ctx context.Context, prefix string, do func(*mvccpb.KeyValue), opts ...clientv3.OpOption) error {
	for cursor := ""; ; {
		kvs, next, err := r.s.Page(ctx, "look for keys of "+r.id, prefix, cursor, removeChunk, opts...)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			do(kv)
		}
		if cursor = next; next == "" {
			return nil
		}
	}
}

// ChildTypes are the activities whose bookmarks wait for children.
var ChildTypes = []string{"Elsa.ExecuteWorkflow", "Elsa.DispatchWorkflow", "Elsa.BulkDispatchWorkflows"}

// tell ends what waits for the instance.
func (r *Removal) tell(ctx context.Context, o *db.Ops) error {
	if r.told {
		return nil
	}
	h := &r.rec.Header
	var parents []workflow.Parent
	switch {
	case !r.read:
		found, err := r.parents(ctx)
		if err != nil {
			return err
		}
		parents = found
	case h.Status == workflow.StatusRunning && h.Parent != nil && h.Parent.BookmarkID != "":
		parents = append(parents, *h.Parent)
	}
	for _, p := range parents {
		end := db.NewOps()
		r.s.PutOutgoing(end, store.Outgoing{InstanceID: p.InstanceID, Command: record.ChildEnd(p.BookmarkID, r.id, workflow.Cancelled, nil, r.at)})
		o.Nested([]clientv3.Cmp{db.Exists(r.s.Keys.Instance(p.InstanceID))}, end, nil)
	}
	return nil
}

// parents are the bookmarks that wait for the instance's end: they are found by what
// they wait for.
func (r *Removal) parents(ctx context.Context) ([]workflow.Parent, error) {
	var out []workflow.Parent
	for _, typ := range ChildTypes {
		hash, err := workflow.Hash(typ, map[string]any{"childInstanceId": r.id})
		if err != nil {
			return nil, fmt.Errorf("look for parents of %s: %w", r.id, err)
		}
		kvs, _, err := r.s.Page(ctx, "look for parents of "+r.id, r.s.Keys.Bookmarks(hash), "", db.MostChunk, clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			parts := strings.Split(string(kv.Key), "/")
			id := parts[len(parts)-2]
			out = append(out, workflow.Parent{InstanceID: id, BookmarkID: workflow.BookmarkID(id, record.Decode(parts[len(parts)-1]))})
		}
	}
	return out, nil
}

// KeepJournal copies the journal below damaged/, before the instance takes it along:
// it says what the instance did.
func (r *Removal) KeepJournal(ctx context.Context) (bool, error) {
	const most = db.MaxRequest / 4
	begin := func() *db.Txn { return r.s.Begin("repair", r.Guard...) }
	all, t := true, begin()
	send := func() error {
		if len(t.Writes) == 0 || !all {
			return nil
		}
		done, err := db.Applied(t.Submit(ctx))
		all, t = done, begin()
		return err
	}
	for cursor := ""; ; {
		kvs, next, err := r.s.Page(ctx, "read journal of "+r.id, r.s.Keys.JournalOf(r.id), cursor, db.MostChunk)
		if err != nil {
			return false, err
		}
		for _, kv := range kvs {
			if t.Size+len(kv.Value) > most {
				if err := send(); err != nil {
					return false, err
				}
			}
			t.PutRaw(r.s.Keys.Aside(string(kv.Key), kv.ModRevision, 0), kv.Value)
		}
		if cursor = next; next == "" {
			err := send()
			return all, err
		}
	}
}
