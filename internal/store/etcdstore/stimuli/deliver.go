package stimuli

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// PutMail makes a command durable in its instance's mailbox. created is the
// create revision of its key.
//
// If: the instance exists, the bookmark it is for stands (none for cancel,
// delete, retry and import), no record of the command, no record of its key,
// this attempt is not void, and the command is not there yet. Then: put it;
// cancel and delete also put the interrupt key. Else: the attempt is void, where
// a compare could hold again.
func (s *Stimuli) PutMail(ctx context.Context, instance string, cmd workflow.Command, b *store.BookmarkRef) (record.PutOutcome, int64, error) {
	t := s.conn.Begin("put command into the mailbox of " + instance)
	m := s.conn.Mail(t, instance, cmd, b)
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return record.PutGone, 0, err
	}
	out, created := m.Became(resp)
	return out, created, nil
}

// CreateOutcome tells what became of a new instance.
type CreateOutcome int

// The outcomes of [Stimuli.Create].
const (
	Created      CreateOutcome = iota
	CreateExists               // the id is taken by another start
	CreateGated                // its gate is held
	CreateMoved                // the definition's head, the trigger or the send record is not as it was found
	CreateUsed                 // this very start was done earlier, or the caller's key was used
)

// Create makes an instance durable as Pending, with its start command in its
// mailbox.
//
// If: as newGuard says; no record of the caller's key; this attempt is not void.
// Then: the instance, its gate, its command, the key's record. Else: the attempt
// is void, since an id and a gate become free again, and who was refused must
// not get an instance later.
func (s *Stimuli) Create(ctx context.Context, n *lookup.NewInstance, answer *store.Answer) (CreateOutcome, error) {
	id, mail, rec := n.Header.ID, s.conn.Keys.Mail(n.Header.ID, n.Command.ID), s.conn.Keys.CommandRecord(n.Header.ID, n.Command.ID)
	void := s.conn.Keys.CommandRecord(id, record.Attempt(n.Command.ID, n.Header.CreatedAt))
	t := s.conn.Begin("create instance "+id, append(n.Guard(s.conn, true), db.Absent(void))...)
	s.conn.WriteNew(t.Ops, n)
	if k := n.Command.Key; k != nil && answer != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(k.Name)))
		s.conn.Answer(t.Ops, k, answer)
	}
	inMail, consumed, used := t.Otherwise.Count(mail), t.Otherwise.Count(rec), t.Otherwise.Count(s.conn.Keys.KeyRecord(record.KeyName(n.Command.Key)))
	there, held := t.Otherwise.Count(s.conn.Keys.Instance(id)), db.Read(0)
	if n.Gate != nil {
		held = t.Otherwise.Count(s.conn.Keys.GateOf(*n.Gate))
	}
	t.Otherwise.Add(s.conn.Void(void, mail, rec))
	resp, err := t.SubmitSmall(ctx)
	switch {
	case err != nil:
		return CreateExists, err
	case resp.Succeeded:
		return Created, nil
	}
	switch {
	case inMail.Found(resp) || consumed.Found(resp) || n.Command.Key != nil && used.Found(resp):
		return CreateUsed, nil
	case there.Found(resp):
		return CreateExists, nil
	case n.Gate != nil && held.Found(resp):
		return CreateGated, nil
	}
	return CreateMoved, nil
}

// Delivery is one target of a stimulus with the command it gets: mail for a
// bookmark, or a new instance for a trigger.
type Delivery struct {
	Bookmark *store.BookmarkRef
	Command  workflow.Command
	New      *lookup.NewInstance
	Wait     *store.QueueItem // in the place of New, whose gate is held: what waits there
}

// MaxDeliveries is how many targets one transaction of [Stimuli.Deliver] takes.
const MaxDeliveries = 30

// Deliver puts one command per target in one transaction and, if it came from a
// send record, deletes that or notes what is left of it: rest are its last targets,
// or become its list. False: something moved; look again.
//
// If: every target as found, no record of any command; the send record as read, and
// the count of what is done of its list,
// or, without one, no record of this delivery (a repeat after a lost answer finds
// it in Else, however far the targets have come); no record of the
// caller's key, unless it is that of the send record, whose answer becomes this one. What is to wait behind a gate: the gate is held. That can become
// true again, beside a send record that is as it was: then it still has to wait,
// or was started, and newGuard refuses. Then: the commands, the new instances, the records.
func (s *Stimuli) Deliver(ctx context.Context, targets []Delivery, send *store.Send, rest []store.Target, again []store.Send, key *workflow.CommandKey, answer *store.Answer) (bool, error) {
	t := s.conn.Begin("deliver stimulus")
	ids := make([]string, len(targets))
	for i := range targets {
		d := &targets[i]
		ids[i] = d.Command.ID
		switch {
		case d.Wait != nil:
			t.When(append(d.New.Guard(s.conn, false), db.Exists(s.conn.Keys.GateOf(d.Wait.Held.Gate)))...)
			s.conn.PutQueueItem(t.Ops, *d.Wait)
			continue
		case d.New != nil:
			t.When(d.New.Guard(s.conn, true)...)
			s.conn.WriteNew(t.Ops, d.New)
			continue
		}
		t.When(s.conn.BookmarkStands(d.Bookmark), db.Absent(s.conn.Keys.CommandRecord(d.Bookmark.InstanceID, d.Command.ID)))
		s.conn.PutMail(t.Ops, d.Bookmark.InstanceID, d.Command)
	}
	earlier := func(*pb.TxnResponse) bool { return false }
	switch {
	case send != nil:
		t.When(s.conn.SendStands(send)...)
		s.leave(t.Ops, send, rest)
		if len(targets) == 0 && len(rest) == 0 {
			s.conn.Done(t.Ops, send.ID, workflow.OutcomeAccepted) // nothing else says what became of it
		}
	case len(targets) > 0:
		rec := s.conn.Keys.CommandRecord("~deliver", workflow.DeriveID(ids...))
		t.When(db.Absent(rec))
		s.conn.Record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
		earlier = t.Otherwise.Count(rec).Found
	}
	for _, a := range again {
		t.Put(s.conn.Keys.Send(a.ID), a)
	}
	if key != nil && answer != nil {
		if send == nil { // the key of a send record has an answer since it was accepted: from now on this one
			t.When(db.Absent(s.conn.Keys.KeyRecord(key.Name)))
		}
		s.conn.Answer(t.Ops, key, answer)
	}
	resp, err := t.Submit(ctx)
	if err != nil || resp.Succeeded {
		return err == nil, err
	}
	return earlier(resp), nil
}

// leave notes what is left of a send record. Its stimulus, which a slice has in its
// commands too, is not written again.
func (s *Stimuli) leave(o *db.Ops, send *store.Send, rest []store.Target) {
	switch {
	case len(rest) == 0:
		s.dropSend(o, send)
	case len(send.Targets) == 0:
		left := *send
		left.Targets = rest
		o.Put(s.conn.Keys.Send(send.ID), left)
	default:
		o.Put(s.conn.Keys.Sent(send.ID), record.SentCount{Done: len(send.Targets) - len(rest)})
	}
}

// dropSend deletes a send record, and the count of what is done of its list.
func (s *Stimuli) dropSend(o *db.Ops, send *store.Send) {
	o.Del(s.conn.Keys.Send(send.ID))
	if len(send.Targets) > 0 {
		o.Del(s.conn.Keys.Sent(send.ID))
	}
}
