package record

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// Head reads the head of a definition; nil if there is none.
func (s *Conn) Head(ctx context.Context, id string) (*store.DefinitionHead, error) {
	resp, err := s.Get(ctx, "read head of "+id, s.Keys.Head(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return DecodeHead(resp.Kvs[0])
}

// DecodeHead reads the head of a definition.
func DecodeHead(kv *mvccpb.KeyValue) (*store.DefinitionHead, error) {
	h := &store.DefinitionHead{Modified: kv.ModRevision}
	return h, db.Decode(kv.Value, h)
}

// CronKey is where an occurrence lives.
func (s *Conn) CronKey(e *store.CronEntry) string {
	return s.Keys.Cron(e.DefinitionID, e.ActivityID, e.Due)
}

// DecodeTrigger reads a trigger.
func (s *Conn) DecodeTrigger(kv *mvccpb.KeyValue) (store.TriggerRef, error) {
	var e store.TriggerEntry
	if err := db.DecodeWhole(kv.Value, &e); err != nil {
		return store.TriggerRef{}, err
	}
	return store.TriggerRef{Hash: e.Hash, DefinitionID: e.DefinitionID, ActivityID: e.ActivityID, Version: e.Version,
		Activation: e.Activation, Modified: kv.ModRevision}, nil
}
