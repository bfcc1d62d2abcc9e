package etcdstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Due is a timer, or an occurrence of a schedule, whose time has come.
type Due struct {
	At    time.Time
	Shard int
	Place string // in its shard
	// Schedule is the occurrence; nil: it is a timer.
	Schedule *store.CronEntry
	// Misplaced: it lies where a program of before put it, between others that are due sooner.
	Misplaced bool
	// Trace is the W3C traceparent of what fires it, handed on with the command.
	Trace string
	// Unreadable: this program cannot read all of it, and leaves it.
	Unreadable bool
	// Damaged tells of a listed one why it cannot be read: of it is known what its key
	// says. "": it can.
	Damaged string

	key     string
	created int64
	entry   record.TimerEntry
	lease   store.TaskLease // of a worker's claim, in the place of the timer
}

// Origin tells which trace set the timer, and when; "" without one.
func (d Due) Origin() (trace string, set time.Time) { return d.entry.Trace, d.entry.Set }

// Instance is the instance whose bookmark the timer resumes.
func (d Due) Instance() string { return d.entry.Instance }

// TimerShards is how many shards [Upkeep.Due] has.
const TimerShards = record.TimerShards

// MaxFire is how many timers one call of [Upkeep.FireTimers] takes.
const MaxFire = 40

// FireTimers turns due timers into commands in their instances'
// mailboxes, in one transaction; it returns the instances that got one. Each
// timer is guarded on its own.
//
// If: the timer's create revision. Then: delete it, and if its instance exists
// put the command, whose id derives from the bookmark. A timer without an
// instance goes too, or it would be due for ever.
func (s *Upkeep) FireTimers(ctx context.Context, due []Due, now time.Time) ([]string, error) {
	o := db.NewOps()
	for i := range due {
		d := &due[i]
		cmd := workflow.Command{ID: store.TimerCommand(d.entry.Bookmark), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: d.entry.Bookmark,
			Timer: true, Due: &d.At, Trace: d.Trace}
		then, mail := db.NewOps(), db.NewOps()
		mail.Put(s.conn.Keys.Mail(d.entry.Instance, cmd.ID), cmd)
		then.Del(d.key)
		then.Nested([]clientv3.Cmp{db.Exists(s.conn.Keys.Instance(d.entry.Instance))}, mail, nil)
		o.Nested([]clientv3.Cmp{db.CreatedAt(d.key, d.created)}, then, nil)
	}
	if err := o.Check(0); err != nil {
		return nil, err
	}
	resp, err := s.conn.Txn(ctx, "fire timers", nil, o.List(), nil) // one level, so that each answer is where its timer is
	if err != nil {
		return nil, err
	}
	var fired []string
	for i := range due {
		if t := db.Read(i).Nested(resp); t.Succeeded && db.LastOf.Nested(t).Succeeded {
			fired = append(fired, due[i].entry.Instance)
		}
	}
	return fired, nil
}

// Timers lists timers to come, the soonest first.
func (s *listReader) Timers(ctx context.Context, cursor string, limit int64) ([]Due, db.PageEnd, error) {
	kvs, end, err := s.soonest(ctx, "list timers", s.conn.Keys.Timers, cursor, limit, 0)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	var out []Due
	for _, kv := range kvs {
		d := Due{key: string(kv.Key), created: kv.CreateRevision}
		if err := db.Decode(kv.Value, &d.entry); err != nil {
			parts := strings.Split(d.key, "/")
			bookmark := record.Decode(parts[len(parts)-1])
			instance, _ := workflow.SplitBookmarkID(bookmark)
			d.entry = record.TimerEntry{Instance: instance, Bookmark: bookmark, Due: record.FromMillis(parts[len(parts)-2])}
			d.Damaged = err.Error()
		}
		d.At = d.entry.Due
		out = append(out, d)
	}
	return out, end, nil
}

// Bookmark is the id of the bookmark that the timer resumes.
func (d Due) Bookmark() string { return d.entry.Bookmark }

// soonest reads a page of what is due, of all shards, in the order of its time and then of its
// name, at a revision (0: the present one). It reads the beginning of each shard behind the
// cursor, and gives what surely stands before all that it has not read: a page may be shorter
// than its limit, and is not empty before the end.
func (s *listReader) soonest(ctx context.Context, what string, shard func(int) string, cursor string, limit, revision int64) ([]*mvccpb.KeyValue, db.PageEnd, error) {
	ask := db.Reads{Ops: make([]clientv3.Op, record.TimerShards)}
	for i := range ask.Ops {
		ask.Ops[i] = clientv3.OpGet(db.PageFrom(shard(i), cursor), clientv3.WithRange(clientv3.GetPrefixRangeEnd(shard(i))), clientv3.WithLimit(max(4, limit/4)), clientv3.WithRev(revision))
	}
	resp, err := s.conn.Read(ctx, what, ask.Ops...)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	end := db.PageEnd{Revision: cmp.Or(revision, resp.Header.Revision)}
	place := map[*mvccpb.KeyValue]string{} // behind its shard
	var all []*mvccpb.KeyValue
	sure := "" // what stands behind it may have others before it; "": nothing has
	for i := range ask.Ops {
		r := db.Read(i).In(resp)
		for _, kv := range r.Kvs {
			place[kv] = strings.TrimPrefix(string(kv.Key), shard(i))
		}
		if all = append(all, r.Kvs...); r.More && len(r.Kvs) > 0 {
			if last := place[r.Kvs[len(r.Kvs)-1]]; sure == "" || last < sure {
				sure = last
			}
		}
	}
	slices.SortFunc(all, func(a, b *mvccpb.KeyValue) int { return strings.Compare(place[a], place[b]) })
	n := len(all)
	if sure != "" {
		n = slices.IndexFunc(all, func(kv *mvccpb.KeyValue) bool { return place[kv] == sure }) + 1
	}
	if n = min(n, int(limit)); n < len(all) || sure != "" {
		end.Next = place[all[n-1]]
	}
	return all[:n], end, nil
}
