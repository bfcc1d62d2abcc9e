package stimuli

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// PutSend accepts a stimulus as a send record, with the answer for its key.
// [store.ErrConflict]: the key was used by another call; read its answer.
//
// If: no record of its id, nor of the caller's key. Then: the send record, both
// records. Else: a record of its id is from an earlier copy, and as good.
func (s *Stimuli) PutSend(ctx context.Context, send store.Send, answer *store.Answer) error {
	rec := s.conn.Keys.CommandRecord("~send", send.ID)
	t := s.conn.Begin("accept stimulus", db.Absent(rec))
	t.Put(s.conn.Keys.Send(send.ID), send)
	s.conn.Record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	if send.Key != nil && answer != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(send.Key.Name)))
		s.conn.Answer(t.Ops, send.Key, answer)
	}
	earlier := t.Otherwise.Count(rec)
	resp, err := t.Submit(ctx)
	if err != nil || resp.Succeeded || earlier.Found(resp) {
		return err
	}
	return fmt.Errorf("%s: %w", t.What, store.ErrConflict)
}

// MatchAgain looks up a send record's stimulus; what is found is delivered, or
// queued, in a transaction that compares the record.
func (s *Stimuli) MatchAgain(ctx context.Context, send *store.Send, hash string) (*lookup.Match, error) {
	m, err := s.conn.Match(ctx, send.Stimulus, hash, "")
	if err != nil {
		return nil, err
	}
	m.Send = send
	return m, nil
}

// BurySend turns a send record into a dead letter.
//
// If: the record's mod revision, and that of the count of what is done of its list.
func (s *Stimuli) BurySend(ctx context.Context, send *store.Send, dead store.DeadLetter) (bool, error) {
	t := s.conn.Begin("bury stimulus", s.conn.SendStands(send)...)
	s.dropSend(t.Ops, send)
	s.conn.PutDead(t.Ops, dead)
	return db.Applied(t.SubmitSmall(ctx))
}

// Left is what is left of the fixed list of a send record, nothing if it is not as it
// was read. It notes in the record how much was done.
func (s *Stimuli) Left(ctx context.Context, send *store.Send) ([]store.Target, error) {
	var ask db.Reads
	counted, there := ask.Value(s.conn.Keys.Sent(send.ID)), ask.Key(s.conn.Keys.Send(send.ID))
	resp, err := s.conn.Read(ctx, "look what is left of stimulus "+send.ID, ask.Ops...)
	if err != nil {
		return nil, err
	}
	if kv := there.One(resp); kv == nil || kv.ModRevision != send.Modified {
		return nil, nil
	}
	var count record.SentCount
	if kv := counted.One(resp); kv != nil {
		send.Counted = kv.ModRevision
		if err := db.DecodeWhole(kv.Value, &count); err != nil {
			s.conn.Left(kv.Key, err)
			return nil, nil
		}
	}
	if count.Done < 0 || count.Done >= len(send.Targets) {
		return nil, fmt.Errorf("what is left of stimulus %s: %d of %d targets are done", send.ID, count.Done, len(send.Targets))
	}
	return send.Targets[count.Done:], nil
}

// Standing leaves out the bookmarks that are gone. Triggers stay: the stimulus is
// for those that it met, also if others were published or they were retracted since.
func (s *Stimuli) Standing(ctx context.Context, targets []store.Target) ([]store.Target, error) {
	var ask db.Reads
	bookmarks := make([]db.Read, len(targets))
	for i, t := range targets {
		if b := t.Bookmark; b != nil {
			bookmarks[i] = ask.Key(s.conn.Keys.Bookmark(b.Hash, b.CorrelationID, b.ID))
		}
	}
	if len(ask.Ops) == 0 {
		return targets, nil
	}
	resp, err := s.conn.Read(ctx, "check targets", ask.Ops...)
	if err != nil {
		return nil, err
	}
	var out []store.Target
	for i, t := range targets {
		if t.Bookmark != nil {
			kv := bookmarks[i].One(resp)
			if kv == nil || t.Bookmark.Created != 0 && kv.CreateRevision != t.Bookmark.Created {
				continue
			}
		}
		out = append(out, t)
	}
	return out, nil
}
