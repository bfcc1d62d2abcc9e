package upkeep

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// TimerShards is how many shards Upkeep.Due has.
const TimerShards = record.TimerShards

// MaxFire is how many timers one call of Upkeep.FireTimers takes.
const MaxFire = 40

// FireTimers turns due timers into commands in their instances'
// mailboxes, in one transaction; it returns the instances that got one. Each
// timer is guarded on its own.
//
// If: the timer's create revision. Then: delete it, and if its instance exists
// put the command, whose id derives from the bookmark. A timer without an
// instance goes too, or it would be due for ever.
func (s *Upkeep) FireTimers(ctx context.Context, due []record.Due, now time.Time) ([]string, error) {
	o := db.NewOps()
	for i := range due {
		d := &due[i]
		cmd := workflow.Command{ID: store.TimerCommand(d.Entry.Bookmark), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: d.Entry.Bookmark,
			Timer: true, Due: &d.At, Trace: d.Trace}
		then, mail := db.NewOps(), db.NewOps()
		mail.Put(s.conn.Keys.Mail(d.Entry.Instance, cmd.ID), cmd)
		then.Del(d.Key)
		then.Nested([]clientv3.Cmp{db.Exists(s.conn.Keys.Instance(d.Entry.Instance))}, mail, nil)
		o.Nested([]clientv3.Cmp{db.CreatedAt(d.Key, d.Created)}, then, nil)
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
			fired = append(fired, due[i].Entry.Instance)
		}
	}
	return fired, nil
}
