package commits

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Answer reads the record of a caller's Idempotency-Key; nil if there is none.
func (s *Instances) Answer(ctx context.Context, key string) (*store.Answer, error) {
	return s.conn.KeptAnswer(ctx, key)
}

// Claim moves a queue item into the mailbox of an instance that waits for it,
// as cmd. False: the item or the instance is gone.
//
// If: the item's create revision; the instance exists; no record of the command.
// The bookmark is not compared: if it is burned by then, the commit that finds
// it gone sends the stimulus on.
func (s *Instances) Claim(ctx context.Context, item *store.QueueItem, instance string, cmd workflow.Command) (int64, bool, error) {
	t := s.conn.Begin("claim queue item", db.CreatedAt(item.At, item.Created), db.Exists(s.conn.Keys.Instance(instance)), db.Absent(s.conn.Keys.CommandRecord(instance, cmd.ID)))
	t.Del(item.At)
	if item.Alone > 0 {
		s.conn.Unmark(t.Ops, record.SliceOf(item.At), item.Alone)
	}
	s.conn.PutMail(t.Ops, instance, cmd)
	if cmd.Key != nil {
		s.conn.RecordAccepted(t.Ops, instance, cmd)
	}
	mail := t.Otherwise.Key(s.conn.Keys.Mail(instance, cmd.ID))
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return 0, false, err
	}
	if resp.Succeeded {
		return resp.Header.Revision, true, nil
	}
	// A lost answer shows as the command in the mailbox.
	if kv := mail.One(resp); kv != nil {
		return kv.CreateRevision, true, nil
	}
	return 0, false, nil
}
