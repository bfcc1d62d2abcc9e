package stimuli

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// DeadLetter reads one, to take it; nil if there is none. One that cannot be read is
// there beside the error: to be deleted.
func (s *Stimuli) DeadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
	resp, err := s.conn.Get(ctx, "read dead letter", s.conn.Keys.Dead(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	d, err := record.DecodeDead(resp.Kvs[0], db.DecodeWhole)
	if err != nil {
		d = store.DeadLetter{ID: id, Created: resp.Kvs[0].CreateRevision}
	}
	return &d, err
}

// TakeDeadLetter deletes a dead letter and, for a replay, puts its stimulus into
// a send record in the same transaction. False: it is gone.
//
// If: its create revision; no record of the replay's key ([store.ErrConflict]: the call was
// answered before). A replay leaves a record, by which a repeat after a lost answer knows
// that it was done.
func (s *Stimuli) TakeDeadLetter(ctx context.Context, d *store.DeadLetter, replay *store.Send) (bool, error) {
	t := s.conn.Begin("take dead letter", db.CreatedAt(s.conn.Keys.Dead(d.ID), d.Created))
	t.Del(s.conn.Keys.Dead(d.ID))
	r := s.resend(t, replay)
	return r.outcome(t.SubmitSmall(ctx))
}

// resent tells what became of a transaction that takes something away to send it again.
type resent struct{ earlier, used func(*pb.TxnResponse) bool }

func (r *resent) outcome(resp *pb.TxnResponse, err error) (bool, error) {
	switch {
	case err != nil || resp.Succeeded:
		return err == nil, err
	case r.earlier(resp):
		return true, nil
	case r.used(resp):
		return false, store.ErrConflict
	}
	return false, nil
}

// resend adds a send record to t, for what is taken away (nil: it only goes), and the answer
// for its key.
func (s *Stimuli) resend(t *db.Txn, send *store.Send) *resent {
	never := func(*pb.TxnResponse) bool { return false }
	r := &resent{never, never}
	if send == nil {
		return r
	}
	t.Put(s.conn.Keys.Send(send.ID), send)
	rec := s.conn.Keys.CommandRecord("~send", send.ID)
	s.conn.Record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	r.earlier = t.Otherwise.Count(rec).Found
	if k := send.Key; k != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(k.Name)))
		s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Queued: send.ID, Slot: s.conn.Slot(&send.Stimulus)})
		r.used = t.Otherwise.Count(s.conn.Keys.KeyRecord(k.Name)).Found
	}
	return r
}

// ReplayOutcome says what became of the replay of a command.
type ReplayOutcome int

// The outcomes of [Stimuli.ReplayCommand].
const (
	Replayed     ReplayOutcome = iota
	ReplayGone                 // the dead letter is gone
	ReplayNobody               // its instance is gone
	ReplayInMail               // a command of its id is in the mailbox: the instance goes on without it
)

// ReplayCommand puts the command of a dead letter into its instance's mailbox again,
// as it was before anybody began it; id names the replay.
//
// If: the dead letter's create revision; the instance exists; the command is not
// there; this replay is not void; no record of the caller's key k ([store.ErrConflict]). Then: delete the one, put the other, and a record of
// the replay, by which a repeat knows. Else: the replay is void, as an instance of this
// id may come, and a ~continue go.
func (s *Stimuli) ReplayCommand(ctx context.Context, d *store.DeadLetter, id string, k *workflow.CommandKey) (ReplayOutcome, error) {
	cmd := *d.Command
	cmd.Attempts, cmd.Begun = 0, nil
	cmd.Replays++
	mail, rec, void := s.conn.Keys.Mail(d.InstanceID, cmd.ID), s.conn.Keys.CommandRecord("~send", id), s.conn.Keys.CommandRecord("~send", id+"@")
	t := s.conn.Begin("replay command of a dead letter",
		db.CreatedAt(s.conn.Keys.Dead(d.ID), d.Created), db.Exists(s.conn.Keys.Instance(d.InstanceID)), db.Absent(mail), db.Absent(void))
	t.Del(s.conn.Keys.Dead(d.ID))
	s.conn.PutMail(t.Ops, d.InstanceID, cmd)
	s.conn.Record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	used := func(*pb.TxnResponse) bool { return false }
	if k != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(k.Name)))
		s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Targets: []store.Effect{{InstanceID: d.InstanceID, Outcome: workflow.OutcomeAccepted, Command: cmd.ID}}})
		used = t.Otherwise.Count(s.conn.Keys.KeyRecord(k.Name)).Found
	}
	earlier, letter, instance := t.Otherwise.Count(rec), t.Otherwise.Count(s.conn.Keys.Dead(d.ID)), t.Otherwise.Count(s.conn.Keys.Instance(d.InstanceID))
	t.Otherwise.Add(s.conn.Void(void, rec))
	resp, err := t.Submit(ctx)
	switch {
	case err != nil:
		return ReplayGone, err
	case resp.Succeeded, earlier.Found(resp): // or a lost answer
		return Replayed, nil
	case used(resp):
		return ReplayGone, store.ErrConflict
	case !letter.Found(resp):
		return ReplayGone, nil
	case !instance.Found(resp):
		return ReplayNobody, nil
	}
	return ReplayInMail, nil
}
