package stimuli

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// Requests are those with a caller's key that leave no record of their own.
type Requests struct{ s *Stimuli }

// RequestsOf are those of the cluster of stimuli.
func RequestsOf(s *Stimuli) Requests { return Requests{s} }

// Begin notes under a caller's key that a request is under way, by a write of its own, and gives the revision of
// that. If something is kept for the key it changes nothing and gives that.
//
// If: nothing is kept for the key.
func (r Requests) Begin(ctx context.Context, k *workflow.CommandKey, write string) (*store.Answer, int64, error) {
	key := r.s.conn.Keys.KeyRecord(k.Name)
	t := r.s.conn.Begin("begin request", db.Absent(key))
	r.s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Began: write})
	there := t.Otherwise.Value(key)
	resp, err := t.Submit(ctx)
	if err != nil || resp.Succeeded {
		return nil, resp.GetHeader().GetRevision(), err
	}
	kv, kept := there.One(resp), new(store.Answer)
	if err := db.Decode(kv.Value, kept); err != nil {
		return nil, 0, err
	}
	if kept.Began == write && kept.Reply == nil { // the transaction was made twice
		kept = nil
	}
	return kept, kv.ModRevision, nil
}

// End puts the reply to a request under way; nil: it did nothing, and its key is free again.
//
// If: the note of the request is as it was at a revision.
func (r Requests) End(ctx context.Context, k *workflow.CommandKey, write string, at int64, reply *store.Reply) error {
	key := r.s.conn.Keys.KeyRecord(k.Name)
	t := r.s.conn.Begin("end request", db.ModifiedAt(key, at))
	if reply == nil {
		t.Del(key)
	} else {
		r.s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Began: write, Reply: reply})
	}
	_, err := t.Submit(ctx)
	return err
}

// Answer reads the record of a caller's Idempotency-Key; nil if there is none.
func (s *Stimuli) Answer(ctx context.Context, key string) (*store.Answer, error) {
	return s.conn.KeptAnswer(ctx, key)
}

// Effect reads what a command did; nil if it did nothing yet, or so long ago
// that its record expired.
func (s *Stimuli) Effect(ctx context.Context, instance, command string) (*store.Effect, error) {
	resp, err := s.conn.Get(ctx, "read command record", s.conn.Keys.CommandRecord(instance, command))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	e := new(store.Effect)
	return e, db.Decode(resp.Kvs[0].Value, e)
}

// Effects reads what several commands did, each named by its instance and its id;
// nil as for [Stimuli.Effect].
func (s *Stimuli) Effects(ctx context.Context, of []store.Effect) ([]*store.Effect, error) {
	var out []*store.Effect
	for chunk := range slices.Chunk(of, db.MaxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, e := range chunk {
			reads[i] = db.Get(s.conn.Keys.CommandRecord(e.InstanceID, e.Command))
		}
		resp, err := s.conn.Read(ctx, "read command records", reads...)
		if err != nil {
			return nil, err
		}
		for _, r := range resp.Responses {
			var e *store.Effect
			if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
				e = new(store.Effect)
				if err := db.Decode(kvs[0].Value, e); err != nil {
					s.conn.Left(kvs[0].Key, err)
					e = nil
				}
			}
			out = append(out, e)
		}
	}
	return out, nil
}
