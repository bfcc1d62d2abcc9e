package claims

import (
	"cmp"
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// Records reads instances with all places where they wait, as many as a page holds, and gives each to do: nil if it is
// not there or damaged. It tells how many of ids it has looked at.
type Records func(ctx context.Context, ids []string, do func(i int, r *store.Record, damage error)) (int, error)

// Claims keeps who has which task. It is for internal/tasks.
type Claims struct {
	conn    *record.Conn
	records Records
}

// New is the claims over a connection.
func New(c *record.Conn, records Records) *Claims { return &Claims{c, records} }

// Free is a task that nobody has, as far as was read.
type Free struct {
	Place   string // in the list of all that are free: the oldest of a name comes first
	Created int64  // create revision of its entry
	Past    store.TaskPast
}

// Task is what its place says of it.
func (f *Free) Task() workflow.Bookmark {
	b, _ := record.TaskOf(f.Place)
	return b
}

// Most is how many tasks one call of [Claims.Claim] takes.
const Most = 40

// inHand is of how many tasks the instances are read with the claim: more of them might be more than a node should hold.
const inHand = 8

// Got is a task that was claimed.
type Got struct {
	Task       workflow.Bookmark // whole
	Definition string            // of its instance
	Instance   string
	Claim      store.TaskClaim
}

// Retried tells whether the task's activity has a retry.
func (g *Got) Retried() bool {
	terms := task.Of(&g.Task)
	return terms.Retried()
}

// Attempt is which attempt at the task this is, from 1.
func (g *Got) Attempt() int {
	terms := task.Of(&g.Task)
	return max(g.Claim.Attempt, int(terms.Attempt))
}

// Named is what names the claim, for who has it.
func (g *Got) Named() *workflow.TaskClaim {
	return &workflow.TaskClaim{ID: g.Claim.ID, Name: g.Task.Name, Created: task.Rank(&g.Task), Revision: g.Claim.Revision, Until: g.Claim.Until, Worker: g.Claim.Worker, Since: g.Claim.Since, Attempt: g.Attempt(), DoneBy: g.Claim.DoneBy, Retried: g.Retried()}
}

// held is a claim that was put, before its instance was looked at.
type held struct {
	place    string
	claim    store.TaskClaim
	instance *mvccpb.KeyValue // nil: it was not read
	read     bool
}

func (h *held) task() workflow.Bookmark {
	b, _ := record.TaskOf(h.place)
	return b
}

// Claim takes those of up to [Most] tasks that are still free, and gives them. What more than a page holds of them is
// left free. Their instances say what they are: one that does not wait there any more is forgotten.
//
// Each is nested. If: the create revision of the free entry; it is not taken. Then: delete it, put the claim and the
// entry of its lease, and instead of the limit for it the one for the end of the task; of few the instance is read. Else: the claim is read, as an earlier copy may have put it.
func (s *Claims) Claim(ctx context.Context, free []Free, by store.TaskClaim) ([]Got, error) {
	o, inline := db.NewOps(), len(free) <= inHand
	claims := make([]store.TaskClaim, len(free))
	for i := range free {
		b := free[i].Task()
		c := &claims[i]
		*c = by
		past := &free[i].Past
		c.Attempt, c.Retried, c.DoneBy = past.Attempts+1, past.Retried, past.DoneBy
		c.Last, c.Definition, c.FairBy = past.Why, past.Definition, past.FairBy
		task, taken := s.conn.Keys.Task(&b), s.conn.Keys.Taken.Task(&b)
		then, otherwise := db.NewOps(), db.NewOps()
		then.Del(task)
		s.putLease(then, &b, c)
		if past.DoneWithin > 0 {
			c.DoneBy = c.Since.Add(past.DoneWithin).Truncate(time.Millisecond)
			s.conn.Keys.Taken.PutLimit(then, &b, store.LimitDone, c.DoneBy, past.DoneWithin)
		}
		if !past.ClaimBy.IsZero() {
			then.Del(s.conn.Keys.Taken.Limit(b.ID, store.LimitClaim, past.ClaimBy))
		}
		then.Put(taken, c)
		if inline {
			id, _ := workflow.SplitBookmarkID(b.ID)
			then.Tail = append(then.Tail, db.Get(s.conn.Keys.Instance(id)))
		}
		otherwise.Tail = append(otherwise.Tail, db.Get(taken))
		o.Nested([]clientv3.Cmp{db.CreatedAt(task, free[i].Created), db.Absent(taken)}, then, otherwise)
	}
	if err := o.Check(0); err != nil {
		return nil, err
	}
	resp, err := s.conn.Txn(ctx, "claim tasks", nil, o.List(), nil)
	if err != nil {
		return nil, err
	}
	var all []held
	for i := range free {
		h, ok := put(db.Read(i).Nested(resp), &claims[i], resp.Header.Revision)
		if h.place = free[i].Place; ok {
			all = append(all, h)
		}
	}
	return s.look(ctx, all)
}

// put tells whether a claim was put, by this copy or an earlier one.
func put(t *pb.TxnResponse, c *store.TaskClaim, revision int64) (h held, ok bool) {
	h.claim = *c
	if t.Succeeded {
		h.claim.Revision = revision
		if last := t.Responses[len(t.Responses)-1].GetResponseRange(); last != nil {
			h.instance, h.read = db.LastOf.One(t), true
		}
		return h, true
	}
	kv := db.LastOf.One(t)
	if kv == nil {
		return h, false
	}
	is, err := readClaim(kv)
	h.claim.Revision = is.Revision
	return h, err == nil && is.ID == c.ID
}

func readClaim(kv *mvccpb.KeyValue) (store.TaskClaim, error) {
	c := store.TaskClaim{Revision: kv.CreateRevision, Modified: kv.ModRevision}
	return c, db.DecodeWhole(kv.Value, &c)
}

func (s *Claims) putLease(o *db.Ops, b *workflow.Bookmark, c *store.TaskClaim) {
	o.Put(s.conn.Keys.Taken.Lease(b.ID, c.Until), store.TaskLease{Task: b.ID, Name: b.Name, Created: b.CreatedAt, Claim: c.ID})
}

// look reads the instances of what was claimed.
func (s *Claims) look(ctx context.Context, all []held) ([]Got, error) {
	got, found := make([]Got, 0, len(all)), make([]bool, len(all))
	var rest []int // whose instances were not read, or not all of them
	for i := range all {
		rec := &store.Record{}
		h := &all[i]
		if !h.read || h.instance != nil && (db.Decode(h.instance.Value, rec) != nil || rec.Header.MoreWaits > 0) {
			rest = append(rest, i)
			continue
		}
		if g := h.of(rec); g != nil {
			got, found[i] = append(got, *g), true
		}
	}
	looked := 0
	if len(rest) > 0 {
		ids := make([]string, len(rest))
		for n, i := range rest {
			b := all[i].task()
			ids[n], _ = workflow.SplitBookmarkID(b.ID)
		}
		var err error
		looked, err = s.records(ctx, ids, func(n int, r *store.Record, damage error) {
			h := &all[rest[n]]
			if damage != nil {
				found[rest[n]] = true // it stays taken, so that it is not in the way of others
				s.conn.Left([]byte(s.conn.Keys.Instance(ids[n])), damage)
			} else if g := h.of(r); g != nil {
				got, found[rest[n]] = append(got, *g), true
			}
		})
		if err != nil && len(got) == 0 {
			return nil, err // the leases end
		}
		if err != nil {
			return got, nil //nolint:nilerr // the leases of the others end
		}
	}
	back := map[int]bool{}
	for _, i := range rest[looked:] {
		back[i] = true
	}
	return got, s.undo(ctx, all, found, back)
}

// of is what was claimed, as the instance has it; nil: it does not wait there any more.
func (h *held) of(r *store.Record) *Got {
	b := h.task()
	if r == nil {
		return nil
	}
	for i := range r.Header.Bookmarks {
		if is := &r.Header.Bookmarks[i]; is.ID == b.ID && is.ActivityType == workflow.TaskType {
			return &Got{Task: *is, Definition: r.Header.DefinitionID, Instance: r.Header.ID, Claim: h.claim}
		}
	}
	return nil
}

// undo forgets the claims of tasks that wait no more, and frees those that a page has no room for.
//
// Each is nested. If: the create revision of the claim. Then: delete it and its lease; put the free entry of those that
// wait.
func (s *Claims) undo(ctx context.Context, all []held, found []bool, back map[int]bool) error {
	o := db.NewOps()
	for i := range all {
		if found[i] {
			continue
		}
		h := &all[i]
		b := h.task()
		var past *store.TaskPast
		if back[i] {
			p := h.claim.Past(false, h.claim.Since, "")
			past = &p
		}
		s.end(o, &b, &h.claim, db.CreatedAt(s.conn.Keys.Taken.Task(&b), h.claim.Revision), past)
	}
	if len(o.Tail) == 0 {
		return nil
	}
	_, err := s.conn.Txn(ctx, "undo claims of tasks", nil, o.List(), nil)
	return err
}

// end adds the end of a claim; past: the task is free again.
func (s *Claims) end(o *db.Ops, b *workflow.Bookmark, c *store.TaskClaim, is clientv3.Cmp, past *store.TaskPast) {
	then := db.NewOps()
	then.Del(s.conn.Keys.Taken.Task(b))
	then.Del(s.conn.Keys.Taken.Lease(b.ID, c.Until))
	if past != nil {
		then.Put(s.conn.Keys.Task(b), past)
	}
	o.Nested([]clientv3.Cmp{is}, then, nil)
}

// ErrLost says that a claim is not the one that a task has.
var ErrLost = errors.New("the claim has ended")

// Of is the claim that a task has; nil: nobody has it.
func (s *Claims) Of(ctx context.Context, task string, c *workflow.TaskClaim) (*store.TaskClaim, error) {
	resp, err := s.conn.Get(ctx, "read the claim of a task", s.conn.Keys.Taken.Task(record.Claimed(task, c)))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	is, err := readClaim(resp.Kvs[0])
	return &is, err
}

// mine reads a claim that is to be the named one; else [ErrLost], with the one that there is.
func (s *Claims) mine(ctx context.Context, task string, c *workflow.TaskClaim) (*store.TaskClaim, error) {
	is, err := s.Of(ctx, task, c)
	if err == nil && (is == nil || is.Revision != c.Revision) {
		err = ErrLost
	}
	return is, err
}

// Beat is what a worker says of a task that it has.
type Beat struct {
	Progress *float64 // nil: as it was
	Text     string   // "": as it was
}

const mostLooks = 3

// Heartbeat extends a claim from now on by its lease, never shortens it, and keeps what the worker said. [ErrLost]: it
// is another's, which is given, or nobody's.
//
// If: the mod revision of the claim as read. Then: put it. The entry of its lease stays: who finds it looks at the claim.
func (s *Claims) Heartbeat(ctx context.Context, task string, c *workflow.TaskClaim, beat Beat, now time.Time) (*store.TaskClaim, error) {
	for range mostLooks {
		is, err := s.mine(ctx, task, c)
		if err != nil {
			return is, err
		}
		if until := now.Add(is.Lease); until.After(is.Until) {
			is.Until = until
		}
		is.Heard, is.Text = now, cmp.Or(beat.Text, is.Text)
		if beat.Progress != nil {
			is.Progress = beat.Progress
		}
		key := s.conn.Keys.Taken.Task(record.Claimed(task, c))
		t := s.conn.Begin("extend the claim of a task", db.ModifiedAt(key, is.Modified))
		t.Put(key, is)
		if done, err := db.Applied(t.Submit(ctx)); err != nil || done {
			return is, err
		}
	}
	return nil, db.ErrUnknown
}

// Release frees a task whose worker does not go on with it, and gives the claim that it was, unless an earlier copy did
// so. failed: the attempt counts. [ErrLost]: the claim is another's, which is given, or nobody's.
//
// If: the mod revision of the claim as read. Then: delete it and the entry of its lease, put the free entry.
func (s *Claims) Release(ctx context.Context, task string, c *workflow.TaskClaim, failed bool, why string, now time.Time) (*store.TaskClaim, error) {
	b := record.Claimed(task, c)
	for range mostLooks {
		is, err := s.mine(ctx, task, c)
		if is == nil && errors.Is(err, ErrLost) && s.freed(ctx, b, c) {
			return nil, nil // by a copy of this call, or the end of its lease
		}
		if err != nil {
			return is, err
		}
		key := s.conn.Keys.Taken.Task(b)
		t := s.conn.Begin("release a task", db.ModifiedAt(key, is.Modified))
		t.Del(key)
		t.Del(s.conn.Keys.Taken.Lease(task, c.Until))
		t.Put(s.conn.Keys.Task(b), is.Past(failed, now, why))
		if done, err := db.Applied(t.Submit(ctx)); err != nil || done {
			return is, err
		}
	}
	return nil, db.ErrUnknown
}

// freed tells whether a task is free since the end of a claim.
func (s *Claims) freed(ctx context.Context, b *workflow.Bookmark, c *workflow.TaskClaim) bool {
	resp, err := s.conn.Get(ctx, "read a free task", s.conn.Keys.Task(b))
	if err != nil || len(resp.Kvs) == 0 {
		return false
	}
	return pastOf(resp.Kvs[0]).Claim == c.ID
}
