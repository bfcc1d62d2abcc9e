package record

import (
	"reflect"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// Placed notes where a command came to, for who looks at its record later: the commit, the
// dead letter, the slice of the queue.
func (s *Conn) Placed(c *store.Commit, done *store.Consumed) {
	if !c.Delete {
		done.Effect.Seq = c.After.Seq
	}
	done.Effect.Dead = LetterOf(c.Dead, done.Command.ID)
	if done.Answer == nil {
		return
	}
	a := *done.Answer
	done.Answer = &a
	if len(a.Targets) > 0 {
		e := done.Effect
		if id := done.Command.ID; id != done.Command.Key.Name {
			e.Command = id
		}
		a.Targets = []store.Effect{e}
	}
	for _, item := range c.Requeue {
		if item.ID == a.Queued {
			a.Slot = s.Slot(&item.Stimulus)
		}
	}
}

// LetterOf is the dead letter of a command; "": it is none.
func LetterOf(dead []store.DeadLetter, command string) string {
	for i := range dead {
		if d := &dead[i]; d.Command != nil && d.Command.ID == command {
			return d.ID
		}
	}
	return ""
}

// ConsumeOne puts that a command took effect, and the answer to its caller's key.
func (s *Conn) ConsumeOne(id string, done *store.Consumed, o *db.Ops) {
	cmd := &done.Command
	// Also when it was in hand: a twin of a keyed call on another node may have
	// put it into the mailbox, and waits for its record.
	if durable := done.Created > 0 || cmd.Key != nil; durable {
		o.Del(s.Keys.Mail(id, cmd.ID))
		if !done.Drop {
			s.Record(o, s.Keys.CommandRecord(id, cmd.ID), done.Effect)
		}
	}
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		o.Del(s.Keys.Cancel(id))
	}
	if cmd.Key != nil && done.Answer != nil {
		s.Answer(o, cmd.Key, done.Answer)
	}
}

// GetMail reads one command more than a burst takes: to know that it is there.
func (s *Conn) GetMail(id string) clientv3.Op {
	return db.Below(getMailOp, s.Keys.Mailbox(id))
}

var getMailOp = clientv3.OpGet("", clientv3.WithLimit(MailBatch+1), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))

// PutOutcome tells what became of a command on its way to a mailbox.
type PutOutcome int

// The outcomes of putting mail.
const (
	PutDone     PutOutcome = iota // it is in the mailbox
	PutGone                       // the bookmark, or the instance, is gone: look again
	PutConsumed                   // it took effect earlier: read its record
	PutMoved                      // the job that it is of was written since, or is gone
)

// Mailing is what a transaction that puts a command reads if it does not.
type Mailing struct{ there, consumed, used db.Read }

// Mail makes a transaction one that puts a command.
func (s *Conn) Mail(t *db.Txn, instance string, cmd workflow.Command, b *store.BookmarkRef) (m Mailing) {
	key, rec := s.Keys.Mail(instance, cmd.ID), s.Keys.CommandRecord(instance, cmd.ID)
	void := s.Keys.CommandRecord(instance, Attempt(cmd.ID, cmd.CreatedAt))
	t.When(db.Exists(s.Keys.Instance(instance)), db.Absent(rec), db.Absent(key), db.Absent(void))
	s.PutMail(t.Ops, instance, cmd)
	if cmd.Key != nil {
		t.When(db.Absent(s.Keys.KeyRecord(cmd.Key.Name)))
		s.RecordAccepted(t.Ops, instance, cmd)
	}
	if b != nil {
		t.When(s.BookmarkStands(b))
	}
	if cmd.Claim != nil {
		t.When(s.ClaimStands(cmd.Bookmark, cmd.Claim))
	}
	m.there, m.consumed = t.Otherwise.Key(key), t.Otherwise.Count(rec)
	m.used = t.Otherwise.Count(s.Keys.KeyRecord(KeyName(cmd.Key)))
	if b == nil || b.Created == 0 {
		// That something exists can become true again.
		t.Otherwise.Add(s.Void(void, key, rec))
	}
	return m
}

// Became tells what became of the command, and the create revision of its key.
func (m *Mailing) Became(resp *pb.TxnResponse) (PutOutcome, int64) {
	if resp.Succeeded {
		return PutDone, resp.Header.Revision
	}
	if kv := m.there.One(resp); kv != nil {
		return PutDone, kv.CreateRevision
	}
	if m.consumed.Found(resp) || m.used.Found(resp) {
		return PutConsumed, 0
	}
	return PutGone, 0
}

// RecordAccepted answers the caller's key from now on: a repeat elsewhere must
// not find a bookmark of its own while this command waits.
func (s *Conn) RecordAccepted(o *db.Ops, instance string, cmd workflow.Command) {
	s.Answer(o, cmd.Key, &store.Answer{BodyHash: cmd.Key.BodyHash,
		Targets: []store.Effect{{InstanceID: instance, Outcome: workflow.OutcomeAccepted, Command: cmd.ID}}})
}

// SendStands compares that the send record, and the count of what is done of its list, are as read.
func (s *Conn) SendStands(send *store.Send) []clientv3.Cmp {
	if send == nil {
		return nil
	}
	cmps := []clientv3.Cmp{db.ModifiedAt(s.Keys.Send(send.ID), send.Modified)}
	if len(send.Targets) > 0 {
		cmps = append(cmps, db.ModifiedAt(s.Keys.Sent(send.ID), send.Counted))
	}
	return cmps
}

// MailBatch is how many commands one burst takes at most.
const MailBatch = 50

// PutMail puts a command into the mailbox of an instance, and where it is found if it
// is to end that.
func (s *Conn) PutMail(o *db.Ops, instance string, cmd workflow.Command) {
	o.Put(s.Keys.Mail(instance, cmd.ID), Lean(cmd))
	if cmd.Kind == workflow.CommandCancel || cmd.Kind == workflow.CommandDelete {
		o.Put(s.Keys.Cancel(instance), cmd.ID)
	}
}

// Lean leaves out of a command what its stimulus says too: it is stored once.
func Lean(cmd workflow.Command) workflow.Command {
	if cmd.Stimulus != nil && len(cmd.Input) > 0 && reflect.DeepEqual(cmd.Input, cmd.Stimulus.Input) {
		cmd.Input = nil
	}
	return cmd
}

// Whole is what lean left, as it was.
func Whole(cmd *workflow.Command) {
	if cmd.Stimulus != nil && cmd.Input == nil {
		cmd.Input = cmd.Stimulus.Input
	}
}

// BookmarkStands holds while the bookmark is where it was found.
func (s *Conn) BookmarkStands(b *store.BookmarkRef) clientv3.Cmp {
	key := s.Keys.Bookmark(b.Hash, b.CorrelationID, b.ID)
	if b.Unindexed {
		return db.ModifiedAt(s.Keys.Instance(b.InstanceID), b.Moved)
	}
	if b.Created > 0 {
		return db.CreatedAt(key, b.Created)
	}
	return db.Exists(key)
}

// ClaimStands holds while a task is claimed so.
func (s *Conn) ClaimStands(task string, c *workflow.TaskClaim) clientv3.Cmp {
	return db.CreatedAt(s.Keys.Taken.Task(Claimed(task, c)), c.Revision)
}

// KeyName is the name of a caller's key; "" if there is none.
func KeyName(k *workflow.CommandKey) string {
	if k == nil {
		return ""
	}
	return k.Name
}
