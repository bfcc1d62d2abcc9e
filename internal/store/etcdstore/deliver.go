package etcdstore

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// PutOutcome tells what became of a command on its way to a mailbox.
type PutOutcome int

// The outcomes of [Stimuli.PutMail].
const (
	PutDone     PutOutcome = iota // it is in the mailbox
	PutGone                       // the bookmark, or the instance, is gone: look again
	PutConsumed                   // it took effect earlier: read its record
	PutMoved                      // the job that it is of was written since, or is gone
)

// PutMail makes a command durable in its instance's mailbox. created is the
// create revision of its key.
//
// If: the instance exists, the bookmark it is for stands (none for cancel,
// delete, retry and import), no record of the command, no record of its key,
// this attempt is not void, and the command is not there yet. Then: put it;
// cancel and delete also put the interrupt key. Else: the attempt is void, where
// a compare could hold again.
func (s *Stimuli) PutMail(ctx context.Context, instance string, cmd workflow.Command, b *store.BookmarkRef) (PutOutcome, int64, error) {
	t := s.conn.Begin("put command into the mailbox of " + instance)
	m := s.conn.mail(t, instance, cmd, b)
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return PutGone, 0, err
	}
	out, created := m.became(resp)
	return out, created, nil
}

// mailing is what a transaction that puts a command reads if it does not.
type mailing struct{ there, consumed, used db.Read }

// mail makes a transaction one that puts a command.
func (s *base) mail(t *db.Txn, instance string, cmd workflow.Command, b *store.BookmarkRef) (m mailing) {
	key, rec := s.keys.mail(instance, cmd.ID), s.keys.commandRecord(instance, cmd.ID)
	void := s.keys.commandRecord(instance, attempt(cmd.ID, cmd.CreatedAt))
	t.When(db.Exists(s.keys.instance(instance)), db.Absent(rec), db.Absent(key), db.Absent(void))
	s.putMail(t.Ops, instance, cmd)
	if cmd.Key != nil {
		t.When(db.Absent(s.keys.keyRecord(cmd.Key.Name)))
		s.recordAccepted(t.Ops, instance, cmd)
	}
	if b != nil {
		t.When(s.bookmarkStands(b))
	}
	m.there, m.consumed = t.Otherwise.Key(key), t.Otherwise.Count(rec)
	m.used = t.Otherwise.Count(s.keys.keyRecord(keyName(cmd.Key)))
	if b == nil || b.Created == 0 {
		// That something exists can become true again.
		t.Otherwise.Add(s.void(void, key, rec))
	}
	return m
}

// became tells what became of the command, and the create revision of its key.
func (m *mailing) became(resp *pb.TxnResponse) (PutOutcome, int64) {
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

// recordAccepted answers the caller's key from now on: a repeat elsewhere must
// not find a bookmark of its own while this command waits.
func (s *base) recordAccepted(o *db.Ops, instance string, cmd workflow.Command) {
	s.answer(o, cmd.Key, &store.Answer{BodyHash: cmd.Key.BodyHash,
		Targets: []store.Effect{{InstanceID: instance, Outcome: workflow.OutcomeAccepted, Command: cmd.ID}}})
}

// NewInstance is an instance to be created with its start command.
type NewInstance struct {
	Header  workflow.Instance // Pending
	Command workflow.Command
	Gate    *store.Gate
	Trigger *store.TriggerRef // what started it, compared
	Send    *store.Send       // the record of the stimulus that starts it, compared
}

// writeNew puts a Pending instance, its index entries and its start command.
func (s *conn) writeNew(o *db.Ops, n *NewInstance) {
	h := &n.Header
	r := store.Record{Header: *h, Gate: n.Gate}
	o.Put(s.keys.instance(h.ID), r)
	s.writeIndex(o, nil, &r)
	o.Put(s.keys.mail(h.ID, n.Command.ID), n.Command)
	if n.Gate != nil {
		o.PutRaw(s.keys.gateOf(*n.Gate), []byte(h.ID))
	}
}

// newGuard: the instance is absent, and was never created by this command
// (a delete leaves the record); the gate is free, unless the caller compares it
// otherwise; the definition's head, the trigger and the send record are as found. A
// node that stood still must not start what another has put behind the gate since.
func (s *conn) newGuard(n *NewInstance, gate bool) []clientv3.Cmp {
	cmps := []clientv3.Cmp{db.Absent(s.keys.instance(n.Header.ID)), db.Absent(s.keys.commandRecord(n.Header.ID, n.Command.ID))}
	if gate && n.Gate != nil {
		cmps = append(cmps, db.Absent(s.keys.gateOf(*n.Gate)))
	}
	if st := n.Command.Start; st.Head > 0 {
		cmps = append(cmps, db.ModifiedAt(s.keys.head(st.DefinitionID), st.Head))
	}
	if t := n.Trigger; t != nil {
		cmps = append(cmps, db.ModifiedAt(s.keys.trigger(t.Hash, t.DefinitionID, t.ActivityID), t.Modified))
	}
	return append(cmps, s.sendStands(n.Send)...)
}

// sendStands: the send record, and the count of what is done of its list, are as read.
func (s *base) sendStands(send *store.Send) []clientv3.Cmp {
	if send == nil {
		return nil
	}
	cmps := []clientv3.Cmp{db.ModifiedAt(s.keys.send(send.ID), send.Modified)}
	if len(send.Targets) > 0 {
		cmps = append(cmps, db.ModifiedAt(s.keys.sent(send.ID), send.Counted))
	}
	return cmps
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
func (s *Stimuli) Create(ctx context.Context, n *NewInstance, answer *store.Answer) (CreateOutcome, error) {
	id, mail, rec := n.Header.ID, s.conn.keys.mail(n.Header.ID, n.Command.ID), s.conn.keys.commandRecord(n.Header.ID, n.Command.ID)
	void := s.conn.keys.commandRecord(id, attempt(n.Command.ID, n.Header.CreatedAt))
	t := s.conn.Begin("create instance "+id, append(s.conn.newGuard(n, true), db.Absent(void))...)
	s.conn.writeNew(t.Ops, n)
	if k := n.Command.Key; k != nil && answer != nil {
		t.When(db.Absent(s.conn.keys.keyRecord(k.Name)))
		s.conn.answer(t.Ops, k, answer)
	}
	inMail, consumed, used := t.Otherwise.Count(mail), t.Otherwise.Count(rec), t.Otherwise.Count(s.conn.keys.keyRecord(keyName(n.Command.Key)))
	there, held := t.Otherwise.Count(s.conn.keys.instance(id)), db.Read(0)
	if n.Gate != nil {
		held = t.Otherwise.Count(s.conn.keys.gateOf(*n.Gate))
	}
	t.Otherwise.Add(s.conn.void(void, mail, rec))
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

func newHeader(id string, cmd workflow.Command, at time.Time) workflow.Instance {
	st := cmd.Start
	return workflow.Instance{ID: id, DefinitionID: st.DefinitionID, Version: st.Version, Status: workflow.StatusRunning, SubStatus: workflow.Pending,
		Name: st.Name, CorrelationID: st.CorrelationID, Labels: st.Labels, Parent: st.Parent, Input: st.Input, CreatedAt: at, UpdatedAt: at}
}

// NewHeader is the header of an instance that did not run yet.
func NewHeader(id string, cmd workflow.Command, at time.Time) workflow.Instance {
	return newHeader(id, cmd, at)
}

// ChildEnd is the command that tells a waiting parent of its child's end. Its id
// derives from the child's, so that it is delivered once.
func ChildEnd(bookmark, child string, status workflow.SubStatus, output map[string]any, at time.Time) workflow.Command {
	return workflow.Command{ID: store.ChildEndCommand(bookmark, child), Kind: workflow.CommandChildEnd, CreatedAt: at, Bookmark: bookmark, Input: map[string]any{
		"WorkflowInstanceId": child, "WorkflowStatus": string(status.Status()), "WorkflowSubStatus": string(status), "WorkflowOutput": output,
	}}
}

// Delivery is one target of a stimulus with the command it gets: mail for a
// bookmark, or a new instance for a trigger.
type Delivery struct {
	Bookmark *store.BookmarkRef
	Command  workflow.Command
	New      *NewInstance
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
			t.When(append(s.conn.newGuard(d.New, false), db.Exists(s.conn.keys.gateOf(d.Wait.Held.Gate)))...)
			s.conn.putQueueItem(t.Ops, *d.Wait)
			continue
		case d.New != nil:
			t.When(s.conn.newGuard(d.New, true)...)
			s.conn.writeNew(t.Ops, d.New)
			continue
		}
		t.When(s.conn.bookmarkStands(d.Bookmark), db.Absent(s.conn.keys.commandRecord(d.Bookmark.InstanceID, d.Command.ID)))
		s.conn.putMail(t.Ops, d.Bookmark.InstanceID, d.Command)
	}
	earlier := func(*pb.TxnResponse) bool { return false }
	switch {
	case send != nil:
		t.When(s.conn.sendStands(send)...)
		s.leave(t.Ops, send, rest)
		if len(targets) == 0 && len(rest) == 0 {
			s.conn.done(t.Ops, send.ID, workflow.OutcomeAccepted) // nothing else says what became of it
		}
	case len(targets) > 0:
		rec := s.conn.keys.commandRecord("~deliver", workflow.DeriveID(ids...))
		t.When(db.Absent(rec))
		s.conn.record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
		earlier = t.Otherwise.Count(rec).Found
	}
	for _, a := range again {
		t.Put(s.conn.keys.send(a.ID), a)
	}
	if key != nil && answer != nil {
		if send == nil { // the key of a send record has an answer since it was accepted: from now on this one
			t.When(db.Absent(s.conn.keys.keyRecord(key.Name)))
		}
		s.conn.answer(t.Ops, key, answer)
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
		o.Put(s.conn.keys.send(send.ID), left)
	default:
		o.Put(s.conn.keys.sent(send.ID), sentCount{Done: len(send.Targets) - len(rest)})
	}
}

// dropSend deletes a send record, and the count of what is done of its list.
func (s *Stimuli) dropSend(o *db.Ops, send *store.Send) {
	o.Del(s.conn.keys.send(send.ID))
	if len(send.Targets) > 0 {
		o.Del(s.conn.keys.sent(send.ID))
	}
}

// sentCount is how many targets of a fixed list are done, in its order.
type sentCount struct {
	Done int `json:"done"`
}
