package upkeep

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Starts that wait behind a gate. What an accepted stimulus means to start is a
// queue item below queue/~gated/<gate>/ while somebody holds the gate. It is put
// only while the gate is held (Stimuli.Deliver compares that), and the node that frees a
// gate looks afterwards: raft orders the two, so the later one sees the earlier.
// Nothing else looks at these items: no bookmark can take them.

// NextHeld tells whether a gate is held, and the oldest start that waits behind
// it; nil if none does. It reads that one only: what waits may be large. bad is what
// is wrong with the first of those in front of it that cannot be read: they hold up
// nobody, however many they are.
func (s *Upkeep) NextHeld(ctx context.Context, g store.Gate) (held bool, item *store.QueueItem, bad error, err error) {
	from, limit := s.conn.Keys.GatedQueue(g), int64(1)
	end := clientv3.WithRange(clientv3.GetPrefixRangeEnd(from))
	for {
		var ask db.Reads
		gate, behind := ask.Count(s.conn.Keys.GateOf(g)), ask.Add(clientv3.OpGet(from, end, clientv3.WithLimit(limit)))
		resp, err := s.conn.Read(ctx, "look behind a gate", ask.Ops...)
		if err != nil {
			return false, nil, nil, err
		}
		held = gate.Found(resp)
		kvs := behind.In(resp).Kvs
		for _, kv := range kvs {
			is := &store.QueueItem{Created: kv.CreateRevision, At: string(kv.Key)}
			err := db.DecodeWhole(kv.Value, is)
			if err == nil && is.Held == nil {
				err = errors.New("it says nothing about a start")
			}
			if err == nil {
				return held, is, bad, nil
			}
			if bad == nil {
				bad = fmt.Errorf("queue item %s: %w", strings.TrimPrefix(is.At, s.conn.Keys.Root), err)
			}
		}
		if int64(len(kvs)) < limit {
			return held, nil, bad, nil
		}
		from, limit = string(kvs[len(kvs)-1].Key)+"\x00", record.QueueBatch
	}
}

// HeldOutcome tells what became of a start that waited behind a gate.
type HeldOutcome int

// The outcomes of Upkeep.StartHeld.
const (
	HeldStarted HeldOutcome = iota
	HeldWaits               // somebody holds the gate (again)
	HeldGone                // the item has become something else
	HeldDone                // this very start was done earlier: drop the item
)

// StartHeld makes the start of an item an instance, which holds the gate then.
//
// If: the item's create revision; the instance absent, no record of its start; the
// gate free. That the gate is free can become true again, and does no harm: the
// item, whose revision never comes back, starts at most once, and nobody draws a
// conclusion from a refusal while it is there.
func (s *Upkeep) StartHeld(ctx context.Context, item *store.QueueItem, n *lookup.NewInstance) (HeldOutcome, error) {
	t := s.conn.Begin("start behind a gate", append(n.Guard(s.conn, true), db.CreatedAt(item.At, item.Created))...)
	t.Del(item.At)
	s.conn.WriteNew(t.Ops, n)
	waits, there := t.Otherwise.Key(item.At), t.Otherwise.Count(s.conn.Keys.Instance(n.Header.ID))
	earlier := t.Otherwise.Count(s.conn.Keys.CommandRecord(n.Header.ID, n.Command.ID))
	resp, err := t.SubmitSmall(ctx)
	switch {
	case err != nil:
		return HeldWaits, err
	case resp.Succeeded:
		return HeldStarted, nil
	}
	if kv := waits.One(resp); kv == nil || kv.CreateRevision != item.Created {
		return HeldGone, nil
	}
	if there.Found(resp) || earlier.Found(resp) {
		return HeldDone, nil
	}
	return HeldWaits, nil
}

// DropHeld deletes an item whose start was done, and says so.
//
// If: its create revision.
func (s *Upkeep) DropHeld(ctx context.Context, item *store.QueueItem) error {
	t := s.conn.Begin("drop queue item", db.CreatedAt(item.At, item.Created))
	t.Del(item.At)
	s.conn.Done(t.Ops, item.ID, workflow.OutcomeAccepted)
	_, err := t.SubmitSmall(ctx)
	return err
}

// BuryHeld turns an item whose start is too large into a dead letter. False: it is gone.
//
// If: its create revision.
func (s *Upkeep) BuryHeld(ctx context.Context, item *store.QueueItem, detail string, at time.Time) (bool, error) {
	dead := expired(item, 0, at)
	dead.Reason, dead.Detail = workflow.DeadTooLarge, detail
	t := s.conn.Begin("bury what waited behind a gate", db.CreatedAt(item.At, item.Created))
	t.Del(item.At)
	s.conn.PutDead(t.Ops, dead)
	return db.Applied(t.SubmitSmall(ctx))
}

// gatesPage is how many items one look for gates reads, keys only.
const gatesPage = 1000

// FreedGates lists the gates behind which starts wait and that nobody holds, from
// cursor on, and how many starts it met, of all gates; next is "" at the end.
func (s *Upkeep) FreedGates(ctx context.Context, cursor string) (freed []store.Gate, n int, next string, err error) {
	prefix := s.conn.Keys.GatedQueues()
	kvs, next, err := s.conn.Page(ctx, "list gates", prefix, cursor, gatesPage, clientv3.WithKeysOnly())
	if err != nil {
		return nil, 0, "", err
	}
	var gates []store.Gate
	for _, kv := range kvs {
		g, ok := gateIn(strings.TrimPrefix(string(kv.Key), prefix))
		if ok && (len(gates) == 0 || gates[len(gates)-1] != g) {
			gates = append(gates, g)
		}
	}
	for chunk := range slices.Chunk(gates, db.MaxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, g := range chunk {
			reads[i] = clientv3.OpGet(s.conn.Keys.GateOf(g), clientv3.WithCountOnly())
		}
		resp, err := s.conn.Read(ctx, "look whether gates are held", reads...)
		if err != nil {
			return nil, 0, "", err
		}
		for i, r := range resp.Responses {
			if r.GetResponseRange().Count == 0 {
				freed = append(freed, chunk[i])
			}
		}
	}
	return freed, len(kvs), next, nil
}

// gateIn reads the gate of an item's key.
func gateIn(key string) (g store.Gate, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 {
		return g, false
	}
	if parts[0] != "*" {
		g.Definition = parts[0]
	}
	if parts[1] != record.NoCorrelation {
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil {
			return g, false
		}
		g.Correlation = string(raw)
	}
	return g, true
}

// expired is the dead letter of a queue item whose time is over. What waited behind
// a gate is for that trigger only, also when it is sent again: others that the
// stimulus met have had theirs.
func expired(item *store.QueueItem, waited time.Duration, at time.Time) store.DeadLetter {
	d := store.DeadLetter{ID: record.StimulusDeadID(item.ID, item.CreatedAt), Reason: workflow.DeadExpired, Stimulus: &item.Stimulus, InstanceID: item.Stimulus.InstanceID, CreatedAt: at,
		Detail: fmt.Sprintf("nothing waited for it within %v", waited)}
	if h := item.Held; h != nil {
		d.Reason, d.Targets = workflow.DeadGated, []store.Target{{Trigger: &h.Trigger}}
		d.Detail = fmt.Sprintf("it would have started definition %s, of which other instances held the gate for %v", h.Trigger.DefinitionID, waited)
	}
	return d
}
