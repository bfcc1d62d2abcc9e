package etcdstore

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// PutOutcome tells what became of a command on its way to a mailbox.
type PutOutcome int

// The outcomes of [Stimuli.PutMail].
const (
	PutDone     PutOutcome = iota // it is in the mailbox
	PutGone                       // the bookmark, or the instance, is gone: look again
	PutConsumed                   // it took effect earlier: read its record
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
	key, rec := s.keys.mail(instance, cmd.ID), s.keys.commandRecord(instance, cmd.ID)
	void := s.keys.commandRecord(instance, attempt(cmd.ID, cmd.CreatedAt))
	cmps := []clientv3.Cmp{exists(s.keys.instance(instance)), absent(rec), absent(key), absent(void)}
	o := newOps()
	s.putMail(o, instance, cmd)
	if cmd.Key != nil {
		cmps = append(cmps, absent(s.keys.keyRecord(cmd.Key.Name)))
		s.recordAccepted(o, instance, cmd)
	}
	if b != nil {
		cmps = append(cmps, s.bookmarkStands(b))
	}
	then, err := o.render()
	if err != nil {
		return PutGone, 0, err
	}
	otherwise := []clientv3.Op{
		clientv3.OpGet(key, clientv3.WithKeysOnly()), clientv3.OpGet(rec, clientv3.WithCountOnly()),
		clientv3.OpGet(s.keys.keyRecord(keyName(cmd.Key)), clientv3.WithCountOnly())}
	if b == nil || b.Created == 0 {
		// That something exists can become true again.
		otherwise = append(otherwise, s.void(void, key, rec))
	}
	resp, err := s.txn(ctx, "put command into the mailbox of "+instance, cmps, then, otherwise)
	switch {
	case err != nil:
		return PutGone, 0, err
	case resp.Succeeded:
		return PutDone, resp.Header.Revision, nil
	}
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		return PutDone, kvs[0].CreateRevision, nil
	}
	if resp.Responses[1].GetResponseRange().Count > 0 || cmd.Key != nil && resp.Responses[2].GetResponseRange().Count > 0 {
		return PutConsumed, 0, nil
	}
	return PutGone, 0, nil
}

// recordAccepted answers the caller's key from now on: a repeat elsewhere must
// not find a bookmark of its own while this command waits.
func (s *conn) recordAccepted(o *ops, instance string, cmd workflow.Command) {
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
func (s *conn) writeNew(o *ops, n *NewInstance) {
	h := &n.Header
	o.put(s.keys.instance(h.ID), store.Record{Header: *h, Gate: n.Gate})
	s.writeIndex(o, nil, h)
	o.put(s.keys.mail(h.ID, n.Command.ID), n.Command)
	if n.Gate != nil {
		o.putRaw(s.keys.gateOf(*n.Gate), []byte(h.ID))
	}
}

// newGuard: the instance is absent, and was never created by this command
// (a delete leaves the record); the gate is free, unless the caller compares it
// otherwise; the definition's head, the trigger and the send record are as found. A
// node that stood still must not start what another has put behind the gate meanwhile.
func (s *conn) newGuard(n *NewInstance, gate bool) []clientv3.Cmp {
	cmps := []clientv3.Cmp{absent(s.keys.instance(n.Header.ID)), absent(s.keys.commandRecord(n.Header.ID, n.Command.ID))}
	if gate && n.Gate != nil {
		cmps = append(cmps, absent(s.keys.gateOf(*n.Gate)))
	}
	if st := n.Command.Start; st.Head > 0 {
		cmps = append(cmps, modifiedAt(s.keys.head(st.DefinitionID), st.Head))
	}
	if t := n.Trigger; t != nil {
		cmps = append(cmps, modifiedAt(s.keys.trigger(t.Hash, t.DefinitionID, t.ActivityID), t.Modified))
	}
	return append(cmps, s.sendStands(n.Send)...)
}

// sendStands: the send record, and the count of what is done of its list, are as read.
func (s *conn) sendStands(send *store.Send) []clientv3.Cmp {
	if send == nil {
		return nil
	}
	cmps := []clientv3.Cmp{modifiedAt(s.keys.send(send.ID), send.Modified)}
	if len(send.Targets) > 0 {
		cmps = append(cmps, modifiedAt(s.keys.sent(send.ID), send.Counted))
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
	void := s.keys.commandRecord(n.Header.ID, attempt(n.Command.ID, n.Header.CreatedAt))
	cmps := append(s.newGuard(n, true), absent(void))
	o := newOps()
	s.writeNew(o, n)
	if k := n.Command.Key; k != nil && answer != nil {
		cmps = append(cmps, absent(s.keys.keyRecord(k.Name)))
		s.answer(o, k, answer)
	}
	then, err := o.render()
	if err != nil {
		return CreateExists, err
	}
	reads := []clientv3.Op{
		clientv3.OpGet(s.keys.mail(n.Header.ID, n.Command.ID), clientv3.WithCountOnly()),
		clientv3.OpGet(s.keys.commandRecord(n.Header.ID, n.Command.ID), clientv3.WithCountOnly()),
		clientv3.OpGet(s.keys.keyRecord(keyName(n.Command.Key)), clientv3.WithCountOnly()),
		clientv3.OpGet(s.keys.instance(n.Header.ID), clientv3.WithCountOnly()),
	}
	if n.Gate != nil {
		reads = append(reads, clientv3.OpGet(s.keys.gateOf(*n.Gate), clientv3.WithCountOnly()))
	}
	reads = append(reads, s.void(void, s.keys.mail(n.Header.ID, n.Command.ID), s.keys.commandRecord(n.Header.ID, n.Command.ID)))
	resp, err := s.txn(ctx, "create instance "+n.Header.ID, cmps, then, reads)
	switch {
	case err != nil:
		return CreateExists, err
	case resp.Succeeded:
		return Created, nil
	}
	count := func(i int) bool { return resp.Responses[i].GetResponseRange().Count > 0 }
	switch {
	case count(0) || count(1) || n.Command.Key != nil && count(2):
		return CreateUsed, nil
	case count(3):
		return CreateExists, nil
	case n.Gate != nil && count(4):
		return CreateGated, nil
	}
	return CreateMoved, nil
}

func newHeader(id string, cmd workflow.Command, at time.Time) workflow.Instance {
	st := cmd.Start
	return workflow.Instance{ID: id, DefinitionID: st.DefinitionID, Version: st.Version, Status: workflow.StatusRunning, SubStatus: workflow.Pending,
		Name: st.Name, CorrelationID: st.CorrelationID, Parent: st.Parent, Input: st.Input, CreatedAt: at, UpdatedAt: at}
}

// NewHeader is the header of an instance that did not run yet.
func NewHeader(id string, cmd workflow.Command, at time.Time) workflow.Instance {
	return newHeader(id, cmd, at)
}

// ChildEnd is the command that tells a waiting parent of its child's end. Its id
// derives from the child's, so that it is delivered once.
func ChildEnd(bookmark, child string, status workflow.SubStatus, output map[string]any, at time.Time) workflow.Command {
	return workflow.Command{ID: "end-" + workflow.DeriveID(bookmark, child), Kind: workflow.CommandChildEnd, CreatedAt: at, Bookmark: bookmark, Input: map[string]any{
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
// it in Else, however far the targets have come meanwhile); no record of the
// caller's key. What is to wait behind a gate: the gate is held. That can become
// true again, beside a send record that is as it was: then it still has to wait,
// or was started meanwhile, and newGuard refuses. Then: the commands, the new instances, the records.
func (s *Stimuli) Deliver(ctx context.Context, targets []Delivery, send *store.Send, rest []store.Target, again []store.Send, key *workflow.CommandKey, answer *store.Answer) (bool, error) {
	o := newOps()
	var cmps []clientv3.Cmp
	ids := make([]string, len(targets))
	for i := range targets {
		d := &targets[i]
		ids[i] = d.Command.ID
		switch {
		case d.Wait != nil:
			cmps = append(append(cmps, s.newGuard(d.New, false)...), exists(s.keys.gateOf(d.Wait.Held.Gate)))
			s.putQueueItem(o, *d.Wait)
			continue
		case d.New != nil:
			cmps = append(cmps, s.newGuard(d.New, true)...)
			s.writeNew(o, d.New)
			continue
		}
		cmps = append(cmps, s.bookmarkStands(d.Bookmark), absent(s.keys.commandRecord(d.Bookmark.InstanceID, d.Command.ID)))
		s.putMail(o, d.Bookmark.InstanceID, d.Command)
	}
	var done []clientv3.Op
	switch {
	case send != nil:
		cmps = append(cmps, s.sendStands(send)...)
		s.leave(o, send, rest)
	case len(targets) > 0:
		rec := s.keys.commandRecord("~deliver", workflow.DeriveID(ids...))
		cmps = append(cmps, absent(rec))
		s.record(o, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
		done = []clientv3.Op{clientv3.OpGet(rec, clientv3.WithCountOnly())}
	}
	for _, a := range again {
		o.put(s.keys.send(a.ID), a)
	}
	if key != nil && answer != nil {
		cmps = append(cmps, absent(s.keys.keyRecord(key.Name)))
		s.answer(o, key, answer)
	}
	then, err := o.renderBeside(cmps)
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "deliver stimulus", cmps, then, done)
	if err != nil || resp.Succeeded {
		return err == nil, err
	}
	return done != nil && resp.Responses[0].GetResponseRange().Count > 0, nil
}

// leave notes what is left of a send record. Its stimulus, which a slice has in its
// commands too, is not written again.
func (s *Stimuli) leave(o *ops, send *store.Send, rest []store.Target) {
	switch {
	case len(rest) == 0:
		s.dropSend(o, send)
	case len(send.Targets) == 0:
		left := *send
		left.Targets = rest
		o.put(s.keys.send(send.ID), left)
	default:
		o.put(s.keys.sent(send.ID), sentCount{Done: len(send.Targets) - len(rest)})
	}
}

// dropSend deletes a send record, and the count of what is done of its list.
func (s *Stimuli) dropSend(o *ops, send *store.Send) {
	o.del(s.keys.send(send.ID))
	if len(send.Targets) > 0 {
		o.del(s.keys.sent(send.ID))
	}
}

// sentCount is how many targets of a fixed list are done, in its order.
type sentCount struct {
	Done int `json:"done"`
}
