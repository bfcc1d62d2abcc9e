package etcdstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// DeadID is the id of the dead letter of an instance's command. The id of a command comes
// again, of a caller's key after its life, or of the rest of a burst: that is another one. So is
// that of a command which was sent again from its dead letter.
func DeadID(instance string, cmd *workflow.Command) string {
	of := []string{"dead", instance, cmd.ID, cmd.CreatedAt.UTC().Format(time.RFC3339Nano)}
	if cmd.Replays > 0 {
		of = append(of, strconv.Itoa(cmd.Replays))
	}
	return workflow.DeriveID(of...)
}

// StimulusDeadID is the id of the dead letter of a stimulus: that of the stimulus, which its
// sender may know, and when it came. The id comes again, with a caller's key after its life.
func StimulusDeadID(id string, at time.Time) string {
	return id + "@" + at.UTC().Format(time.RFC3339Nano)
}

// maxDead is how large a dead letter is at most, in bytes as it is stored. The rest
// of a request is for what the letter is put with.
const maxDead = db.MaxRequest - 32<<10

// maxDetail bounds what a dead letter says in words, in bytes.
const maxDetail = 2 << 10

// putDead puts a dead letter, which holds one copy of what it is about. It always
// fits: of what is too large to be kept, only its size and its hash are.
func (s *base) putDead(o *db.Ops, d store.DeadLetter) {
	if len(d.Detail) > maxDetail {
		d.Detail = d.Detail[:maxDetail] + "…"
	}
	if d.Command != nil {
		cmd := lean(*d.Command)
		d.Command, d.Stimulus = &cmd, nil
	}
	raw, err := db.EncodeWithin(d, db.MaxPassed)
	if tooLarge := errors.Is(err, db.ErrTooLarge); tooLarge || err == nil && len(raw) > maxDead {
		if d, err = withoutPayload(d); err == nil {
			raw, err = db.EncodeWithin(d, db.MaxPassed)
		}
	}
	if err != nil {
		o.Fail(s.keys.dead(d.ID), err)
		return
	}
	o.PutRaw(s.keys.dead(d.ID), raw)
}

// withoutPayload leaves out what people and programs brought.
func withoutPayload(d store.DeadLetter) (store.DeadLetter, error) {
	raw, err := workflow.Marshal(struct {
		Stimulus *workflow.Stimulus `json:"stimulus,omitempty"`
		Command  *workflow.Command  `json:"command,omitempty"`
	}{d.Stimulus, d.Command})
	if err != nil {
		return d, fmt.Errorf("encode dead letter %s: %w", d.ID, err)
	}
	sum := sha256.Sum256(raw)
	d.Dropped = &store.Dropped{Bytes: int64(len(raw)), SHA256: hex.EncodeToString(sum[:])}
	if d.Stimulus != nil {
		d.Stimulus = bare(d.Stimulus)
	}
	if c := d.Command; c != nil {
		d.Command = &workflow.Command{ID: c.ID, Kind: c.Kind, CreatedAt: c.CreatedAt, Attempts: c.Attempts, Bookmark: c.Bookmark, Timer: c.Timer, Several: c.Several, Trace: c.Trace}
		if c.Start != nil {
			d.Command.Start = &workflow.Start{DefinitionID: c.Start.DefinitionID, Version: c.Start.Version, CorrelationID: c.Start.CorrelationID, Parent: c.Start.Parent, Trigger: c.Start.Trigger}
		}
		if st := c.Stimulus; st != nil {
			d.Command.Stimulus = bare(st)
		}
	}
	return d, nil
}

// bare is a stimulus without what it brings, and with what it is about if that is
// short.
func bare(st *workflow.Stimulus) *workflow.Stimulus {
	out := &workflow.Stimulus{ActivityType: st.ActivityType, CorrelationID: st.CorrelationID, InstanceID: st.InstanceID, BookmarkID: st.BookmarkID}
	if raw, err := workflow.Marshal(st.Payload); err == nil && len(raw) <= maxDetail {
		out.Payload = st.Payload
	}
	return out
}

// decodeDead reads a dead letter. That of a stimulus that a command brought has it.
func decodeDead(kv *mvccpb.KeyValue, decode func([]byte, any) error) (store.DeadLetter, error) {
	d := store.DeadLetter{Created: kv.CreateRevision}
	err := decode(kv.Value, &d)
	if c := d.Command; c != nil {
		whole(c)
		if d.Stimulus == nil {
			d.Stimulus = c.Stimulus
		}
	}
	return d, err
}

// DeadLetter reads one, to take it; nil if there is none. One that cannot be read is
// there beside the error: to be deleted.
func (s *Stimuli) DeadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
	resp, err := s.conn.Get(ctx, "read dead letter", s.conn.keys.dead(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	d, err := decodeDead(resp.Kvs[0], db.DecodeWhole)
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
	t := s.conn.Begin("take dead letter", db.CreatedAt(s.conn.keys.dead(d.ID), d.Created))
	t.Del(s.conn.keys.dead(d.ID))
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
	t.Put(s.conn.keys.send(send.ID), send)
	rec := s.conn.keys.commandRecord("~send", send.ID)
	s.conn.record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	r.earlier = t.Otherwise.Count(rec).Found
	if k := send.Key; k != nil {
		t.When(db.Absent(s.conn.keys.keyRecord(k.Name)))
		s.conn.answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Queued: send.ID, Slot: s.conn.slot(&send.Stimulus)})
		r.used = t.Otherwise.Count(s.conn.keys.keyRecord(k.Name)).Found
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
	mail, rec, void := s.conn.keys.mail(d.InstanceID, cmd.ID), s.conn.keys.commandRecord("~send", id), s.conn.keys.commandRecord("~send", id+"@")
	t := s.conn.Begin("replay command of a dead letter",
		db.CreatedAt(s.conn.keys.dead(d.ID), d.Created), db.Exists(s.conn.keys.instance(d.InstanceID)), db.Absent(mail), db.Absent(void))
	t.Del(s.conn.keys.dead(d.ID))
	s.conn.putMail(t.Ops, d.InstanceID, cmd)
	s.conn.record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	used := func(*pb.TxnResponse) bool { return false }
	if k != nil {
		t.When(db.Absent(s.conn.keys.keyRecord(k.Name)))
		s.conn.answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Targets: []store.Effect{{InstanceID: d.InstanceID, Outcome: workflow.OutcomeAccepted, Command: cmd.ID}}})
		used = t.Otherwise.Count(s.conn.keys.keyRecord(k.Name)).Found
	}
	earlier, letter, instance := t.Otherwise.Count(rec), t.Otherwise.Count(s.conn.keys.dead(d.ID)), t.Otherwise.Count(s.conn.keys.instance(d.InstanceID))
	t.Otherwise.Add(s.conn.void(void, rec))
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
