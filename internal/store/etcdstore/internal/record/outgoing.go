package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// PutOutgoing puts a send record.
func (s *Conn) PutOutgoing(o *db.Ops, out store.Outgoing) {
	o.Put(s.Keys.Mail(out.InstanceID, out.Command.ID), out.Command)
	if out.Command.Kind == workflow.CommandCancel {
		o.Put(s.Keys.Cancel(out.InstanceID), out.Command.ID)
	}
}

// HoldsGate compares that an instance has a gate: the value is the holder's id, and a gate is never handed over but
// by its holder.
func (s *Conn) HoldsGate(key, id string) []clientv3.Cmp {
	return []clientv3.Cmp{clientv3.Compare(clientv3.Value(key), "=", id)}
}

// maxDead is how large a dead letter is at most, in bytes as it is stored. The rest
// of a request is for what the letter is put with.
const maxDead = db.MaxRequest - 32<<10

// MaxDetail bounds what a dead letter says in words, in bytes.
const MaxDetail = 2 << 10

// PutDead puts a dead letter, which holds one copy of what it is about. It always
// fits: of what is too large to be kept, only its size and its hash are.
func (s *Conn) PutDead(o *db.Ops, d store.DeadLetter) {
	if len(d.Detail) > MaxDetail {
		d.Detail = d.Detail[:MaxDetail] + "…"
	}
	if d.Command != nil {
		cmd := Lean(*d.Command)
		d.Command, d.Stimulus = &cmd, nil
	}
	raw, err := db.EncodeWithin(d, db.MaxPassed)
	if tooLarge := errors.Is(err, db.ErrTooLarge); tooLarge || err == nil && len(raw) > maxDead {
		if d, err = withoutPayload(d); err == nil {
			raw, err = db.EncodeWithin(d, db.MaxPassed)
		}
	}
	if err != nil {
		o.Fail(s.Keys.Dead(d.ID), err)
		return
	}
	o.PutRaw(s.Keys.Dead(d.ID), raw)
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
	if raw, err := workflow.Marshal(st.Payload); err == nil && len(raw) <= MaxDetail {
		out.Payload = st.Payload
	}
	return out
}
