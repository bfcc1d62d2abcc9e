package claims

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// Lease is the entry of a claim whose lease is over, or was extended, or of a limit of a task.
type Lease struct {
	store.TaskLease
	Key     string
	Created int64
}

// task is the task that the entry is of.
func (l *Lease) task() *workflow.Bookmark {
	return &workflow.Bookmark{ID: l.Task, ActivityType: workflow.TaskType, Name: l.Name, CreatedAt: l.TaskLease.Created}
}

// Ended is what became of leases and limits that were over.
type Ended struct {
	Freed  int      // tasks
	Failed []string // instances that were told that an attempt failed: their tasks have a retry, or were late
}

// EndLeases ends the claims whose leases are over at a time, moves the entries of those that were extended, and ends the
// tasks whose limits are over; up to [Most]. A task that was late, and one whose activity has a retry, is neither free nor
// taken then: its instance has a command that says so.
//
// Each is nested, of a task once. If: the create revision of the entry; of what ends, the mod revision of the claim or the free entry as
// read. Then: delete the entry; and put it where the lease ends now, or delete the claim or the free entry, and put the
// free entry, or the command if there is the instance.
func (s *Claims) EndLeases(ctx context.Context, due []Lease, now time.Time) (all Ended, err error) {
	for len(due) > 0 && err == nil {
		var once, rest []Lease // one transaction has one end of each task
		tasks := map[string]bool{}
		for _, l := range due {
			if tasks[l.Task] {
				rest = append(rest, l)
				continue
			}
			tasks[l.Task] = true
			once = append(once, l)
		}
		due, err = rest, s.endLeases(ctx, once, now, &all)
	}
	return all, err
}

// endLeases ends leases and limits of different tasks.
func (s *Claims) endLeases(ctx context.Context, due []Lease, now time.Time, all *Ended) error {
	var ask db.Reads
	for i := range due {
		b := due[i].task()
		ask.Value(s.conn.Keys.Taken.Task(b))
		ask.Value(s.conn.Keys.Task(b))
	}
	resp, err := s.conn.Read(ctx, "read claims whose leases are over", ask.Ops...)
	if err != nil {
		return err
	}
	o := db.NewOps()
	var ends []*lapse
	for i := range due {
		l := &lapse{s: s, Lease: &due[i], now: now, cmps: []clientv3.Cmp{db.CreatedAt(due[i].Key, due[i].Created)}, then: db.NewOps()}
		l.then.Del(l.Key)
		if l.decide(db.Read(2*i).One(resp), db.Read(2*i+1).One(resp)) != nil {
			continue // a node that can read it ends it
		}
		o.Nested(l.cmps, l.then, nil)
		ends = append(ends, l)
	}
	if len(ends) == 0 {
		return nil
	}
	if err := o.Check(0); err != nil {
		return err
	}
	done, err := s.conn.Txn(ctx, "end leases of tasks", nil, o.List(), nil)
	if err != nil {
		return err
	}
	for i, l := range ends {
		switch {
		case !db.Read(i).Nested(done).Succeeded:
		case l.frees:
			all.Freed++
		case l.fails != "":
			all.Failed = append(all.Failed, l.fails)
		}
	}
	return nil
}

// lapse is what happens to one entry.
type lapse struct {
	s *Claims
	*Lease
	now   time.Time
	cmps  []clientv3.Cmp
	then  *db.Ops
	frees bool
	fails string // the instance
}

// decide reads the claim that the task has and the entry that it has among the free ones, nil if it has none.
func (l *lapse) decide(taken, free *mvccpb.KeyValue) error {
	var c store.TaskClaim
	var err error
	if taken != nil {
		if c, err = readClaim(taken); err != nil {
			l.s.conn.Left(taken.Key, err)
			return err
		}
	}
	switch {
	case l.Limit != "" && taken != nil:
		if late := l.Limit == store.LimitDone && !c.DoneBy.IsZero() && !c.DoneBy.After(l.now); late {
			l.then.Del(l.s.conn.Keys.Taken.Lease(l.Task, c.Until))
			l.fail(taken, c.DoneBy, &c, failure("the time for the task ended while worker "+c.Worker+" had it", l.overdue()+had(&c)))
		}
	case l.Limit != "" && free != nil:
		var past store.TaskPast
		if len(free.Value) > 0 {
			err = db.DecodeWhole(free.Value, &past)
		}
		if err != nil {
			l.s.conn.Left(free.Key, err)
			return err
		}
		l.late(free, &past)
	case l.Limit != "" || taken == nil || c.ID != l.Claim: // it was done or given back, or another has it
	case c.Until.After(l.now):
		l.s.putLease(l.then, l.task(), &c)
	case c.Retried:
		l.fail(taken, c.Until, &c, failure("the lease of worker "+c.Worker+" ended", "lease-ended: "+had(&c)+", until its lease ended"))
	default:
		l.ends(taken)
		l.frees = true
		l.then.Put(l.s.conn.Keys.Task(l.task()), c.Past(true, c.Until, "its lease ended"))
	}
	return nil
}

// late ends a task that is free and should not be any more.
func (l *lapse) late(free *mvccpb.KeyValue, past *store.TaskPast) {
	over := func(by time.Time) bool { return !by.IsZero() && !by.After(l.now) }
	switch {
	case l.Limit == store.LimitClaim && over(past.ClaimBy):
		l.fail(free, past.ClaimBy, nil, task.LateClaim(l.Within))
	case l.Limit == store.LimitDone && over(past.DoneBy):
		why := l.overdue() + "nobody has it"
		if past.Worker != "" {
			why += ", and worker " + past.Worker + " had it last: " + past.Why
		}
		l.fail(free, past.DoneBy, nil, failure("the time for the task ended while nobody had it", why))
	}
}

// failure is what resumes the activity of a task that time ended.
func failure(what, why string) map[string]any {
	return map[string]any{task.Timeout: what, task.Error: why}
}

func (l *lapse) overdue() string {
	return fmt.Sprintf("overdue: it was not done within %v of its first claim; ", l.Within)
}

// had says of a claim who had it, and what that one said.
func had(c *store.TaskClaim) string {
	why := fmt.Sprintf("worker %s had it since %s", c.Worker, c.Since.UTC().Format(time.RFC3339))
	if c.Progress != nil {
		why += fmt.Sprintf(", was at %g %%", *c.Progress)
	}
	if c.Text != "" {
		why += ", said last: " + c.Text
	}
	return why
}

// ends deletes the claim, or the free entry, as it was read.
func (l *lapse) ends(kv *mvccpb.KeyValue) {
	l.cmps = append(l.cmps, db.ModifiedAt(string(kv.Key), kv.ModRevision))
	l.then.Del(string(kv.Key))
}

// fail ends the task as it was read, and puts the command that says to its instance what time did, if there is the
// instance; c is the claim that ends, nil if nobody has it.
func (l *lapse) fail(kv *mvccpb.KeyValue, at time.Time, c *store.TaskClaim, input map[string]any) {
	l.ends(kv)
	l.fails, _ = workflow.SplitBookmarkID(l.Task)
	if c != nil {
		input[task.Worker], input[task.Attempt], input[task.Since] = c.Worker, int64(c.Attempt), c.Since.UTC().Format(time.RFC3339)
	}
	cmd := workflow.Command{ID: store.TaskCommand(l.Task), Kind: workflow.CommandResume, CreatedAt: l.now, Bookmark: l.Task, Timer: true, Due: &at, Input: input}
	mail := db.NewOps()
	mail.Put(l.s.conn.Keys.Mail(l.fails, cmd.ID), cmd)
	l.then.Nested([]clientv3.Cmp{db.Exists(l.s.conn.Keys.Instance(l.fails))}, mail, nil)
}
