package trace

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Of an instance that waits at many places, the first are looked into.
const (
	situationMarks = 20 // bookmarks
	SituationItems = 50 // queue items of the stimulus of one of them
)

// Situation reads what stands in etcd about one instance: two requests at one
// revision, and one more for the instances that it waits for. Of an instance that is not there
// it looks whether its start waits behind a gate. Of the queue it reads
// the keys only. A record that cannot be read is no error: it is said.
func (s *Trace) Situation(ctx context.Context, id string) (*store.Situation, error) {
	return lookup.Again(func() (*store.Situation, error) { return s.situation(ctx, id) })
}

func (s *Trace) situation(ctx context.Context, id string) (*store.Situation, error) {
	st := &store.Situation{Keys: store.SituationKeys{
		Instance: s.conn.Keys.Instance(id), Mailbox: s.conn.Keys.Mailbox(id), Cancel: s.conn.Keys.Cancel(id), Pause: s.conn.Keys.Pause(),
	}}
	var ask db.Reads
	is, mail, cancel, pause := ask.Value(st.Keys.Instance), ask.Add(s.conn.GetMail(id)), ask.Value(st.Keys.Cancel), ask.Value(st.Keys.Pause)
	resp, err := s.conn.Read(ctx, "explain instance "+id, ask.Ops...)
	if err != nil {
		return nil, err
	}
	st.Revision = resp.Header.Revision
	box := mail.In(resp)
	st.Mail = record.DecodeMail(box.Kvs)
	if len(st.Mail) > record.MailBatch {
		st.Mail = st.Mail[:record.MailBatch]
	}
	st.MailLeft = box.Count - int64(len(st.Mail))
	if kv := cancel.One(resp); kv != nil {
		st.Cancel = string(kv.Value)
	}
	if kv := pause.One(resp); kv != nil {
		st.Paused = string(kv.Value) == "true"
	}
	kv := is.One(resp)
	if kv == nil {
		return st, s.startBehindGate(ctx, st, id)
	}
	rec, damage := record.DecodeRecord(kv)
	if damage == nil && rec.Apart {
		// What is to be run, or is over, is told without the places where it waits; an incident by what is faulted.
		if (len(st.Mail) > 0 || rec.Header.Status == workflow.StatusFinished) && len(rec.Header.Incidents) == 0 {
			damage = lookup.HeadersOf(s.conn).Complete(ctx, rec, st.Revision)
		} else {
			rec, damage = lookup.PartsOf(s.conn).Join(ctx, kv, db.Decode)
		}
	}
	if lookup.IsMoved(damage) {
		return nil, damage
	}
	if st.Damage = damage; damage != nil {
		return st, nil //nolint:nilerr // it is said
	}
	st.Record = rec
	marks := rec.Header.Bookmarks
	if err := s.Beside(ctx, st, marks[:min(len(marks), situationMarks)]); err != nil {
		return nil, err
	}
	return st, s.awaitedChildren(ctx, st)
}

// Beside reads the last commit, and what is queued with the stimuli of bookmarks.
func (s *Trace) Beside(ctx context.Context, st *store.Situation, marks []workflow.Bookmark) error {
	at := clientv3.WithRev(st.Revision)
	var ask db.Reads
	entry := ask.Add(clientv3.OpGet(s.conn.Keys.Journal(st.Record.Header.ID, st.Record.Seq), at))
	holder, behind := db.Read(-1), db.Read(-1)
	if g := st.Record.Gate; g != nil {
		holder, behind = s.askGate(&ask, *g, st.Revision)
	}
	queued := map[string][]db.Read{}
	for i := range marks {
		b := &marks[i]
		if child := b.Child(); child != "" {
			st.Children = append(st.Children, store.ChildState{ID: child})
		} else if _, asked := queued[b.Hash]; !asked {
			for _, from := range s.queuedLike(b.Hash, st.Record.Header.CorrelationID) {
				queued[b.Hash] = append(queued[b.Hash], ask.Add(clientv3.OpGet(from, clientv3.WithPrefix(), clientv3.WithLimit(SituationItems), clientv3.WithKeysOnly(), at)))
			}
		}
	}
	resp, err := s.conn.Read(ctx, "explain instance "+st.Record.Header.ID, ask.Ops...)
	if err != nil {
		return err
	}
	if kv := entry.One(resp); kv != nil {
		var e record.EntryHead
		if db.Decode(kv.Value, &e) == nil {
			st.Commit = &store.LastCommit{Seq: e.Seq, Fence: e.Fence, Node: e.Node, At: e.Ended()}
		}
	}
	if g := st.Record.Gate; g != nil {
		st.Gate = s.gateState(*g, holder, behind, resp)
	}
	for hash, parts := range queued {
		for _, r := range parts {
			for _, kv := range r.In(resp).Kvs {
				if item := s.queuedFor(hash, string(kv.Key)); !slices.Contains(st.Queued, item) {
					st.Queued = append(st.Queued, item)
				}
			}
		}
	}
	return nil
}

// queuedLike are the parts of the queue in which what nearly fits is looked for: the beginning of what is
// queued of a hash, and before that what was sent for a correlation that begins as this one does.
func (s *Trace) queuedLike(hash, correlation string) []string {
	all := s.conn.Keys.Queue(hash)
	const group = 3 // bytes that are encoded together
	if same := (len(correlation) - 1) / group * group; same > 0 {
		return []string{all + record.Slice(correlation[:same]), all}
	}
	return []string{all}
}

// queuedFor is what the key of a queue item says.
func (s *Trace) queuedFor(hash, key string) store.QueuedFor {
	slice, id, _ := strings.Cut(strings.TrimPrefix(key, s.conn.Keys.Queue(hash)), "/")
	item := store.QueuedFor{ID: record.Decode(id), Hash: hash}
	if to, addressed := strings.CutPrefix(slice, "@"); addressed {
		item.InstanceID = to
	} else if raw, err := base64.RawURLEncoding.DecodeString(slice); err == nil && slice != record.NoCorrelation {
		item.CorrelationID = string(raw)
	}
	return item
}

func (s *Trace) awaitedChildren(ctx context.Context, st *store.Situation) error {
	ids := make([]string, len(st.Children))
	for i, c := range st.Children {
		ids[i] = c.ID
	}
	damaged := map[int]bool{}
	_, err := s.conn.Records(ctx, ids, lookup.AsListed, 0, func(i int, r *store.Record, damage error) bool {
		if r != nil {
			st.Children[i].Header = &r.Header
		}
		damaged[i] = damage != nil
		return false
	})
	if err != nil {
		return err
	}
	return s.untold(ctx, st, damaged)
}

// untold finds out which children have ended without the end being in the mailbox of who waits for it. It is
// asked after the children, as an end is mail in the very commit that ends a child, and of an
// instance that has not moved since: it would have taken the mail.
func (s *Trace) untold(ctx context.Context, st *store.Situation, damaged map[int]bool) error {
	bookmarks := map[string]string{}
	for i := range st.Record.Header.Bookmarks {
		b := &st.Record.Header.Bookmarks[i]
		bookmarks[b.Child()] = b.ID
	}
	var ask db.Reads
	own := ask.Value(s.conn.Keys.Instance(st.Record.Header.ID))
	mails := map[int]db.Read{}
	for i, c := range st.Children {
		if !damaged[i] && (c.Header == nil || c.Header.Status == workflow.StatusFinished) {
			mails[i] = ask.Add(clientv3.OpGet(s.conn.Keys.Mail(st.Record.Header.ID, store.ChildEndCommand(bookmarks[c.ID], c.ID)), clientv3.WithCountOnly()))
		}
	}
	if len(mails) == 0 {
		return nil
	}
	resp, err := s.conn.Read(ctx, "look for the ends of children", ask.Ops...)
	if err != nil {
		return err
	}
	if kv := own.One(resp); kv == nil || kv.ModRevision != st.Record.Modified {
		return nil
	}
	for i, mail := range mails {
		st.Children[i].Untold = mail.In(resp).Count == 0
	}
	return nil
}

// askGate asks who holds a gate, and how many starts wait behind it.
func (s *Trace) askGate(ask *db.Reads, g store.Gate, revision int64) (holder, behind db.Read) {
	at := clientv3.WithRev(revision)
	return ask.Add(clientv3.OpGet(s.conn.Keys.GateOf(g), at)), ask.Add(clientv3.OpGet(s.conn.Keys.GatedQueue(g), clientv3.WithPrefix(), clientv3.WithCountOnly(), at))
}

func (s *Trace) gateState(g store.Gate, holder, behind db.Read, resp *pb.TxnResponse) *store.GateState {
	st := &store.GateState{Gate: g, Behind: behind.In(resp).Count, Key: s.conn.Keys.GateOf(g)}
	if kv := holder.One(resp); kv != nil {
		st.Holder = string(kv.Value)
	}
	return st
}

// MostHeldStarts is how many items are read at most whose key does not say which instance they
// start: fewer, if they are large ([db.PageBytes]).
const MostHeldStarts = 50

// startBehindGate looks for the start of an instance that is not there.
func (s *Trace) startBehindGate(ctx context.Context, st *store.Situation, id string) error {
	item, err := s.heldStart(ctx, id, st.Revision)
	if err != nil || item == nil {
		return err
	}
	var ask db.Reads
	holder, behind := s.askGate(&ask, item.Held.Gate, st.Revision)
	resp, err := s.conn.Read(ctx, "look at the gate of "+id, ask.Ops...)
	if err != nil {
		return err
	}
	st.Gate = s.gateState(item.Held.Gate, holder, behind, resp)
	st.Gate.Start = item
	return nil
}

// heldStart is what waits behind a gate to start an instance; nil: nothing, as far as is looked.
// An item of a stimulus with several targets has the instance in its id, one of a single target
// has the id of its stimulus.
func (s *Trace) heldStart(ctx context.Context, id string, revision int64) (*store.QueueItem, error) {
	if !workflow.Generated(id) { // the ids of such starts are
		return nil, nil
	}
	at := clientv3.WithRev(revision)
	var others []string
	looked := 0
	for cursor := ""; looked < mostGatedKeys; {
		kvs, next, err := s.conn.Page(ctx, "look behind gates", s.conn.Keys.GatedQueues(), cursor, 1000, clientv3.WithKeysOnly(), at)
		if err != nil {
			return nil, err
		}
		looked += len(kvs)
		for _, kv := range kvs {
			switch item := gatedItem(string(kv.Key)); {
			case item == store.GatedItem(id):
				return s.itemThatStarts(ctx, id, string(kv.Key), revision)
			case len(others) < MostHeldStarts && !strings.HasPrefix(item, store.GatedItem("")):
				others = append(others, string(kv.Key))
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	var b db.Budget
	for len(others) > 0 {
		chunk := others[:min(len(others), b.Chunk())]
		others = others[len(chunk):]
		var ask db.Reads
		for _, key := range chunk {
			ask.Add(clientv3.OpGet(key, at))
		}
		resp, err := s.conn.Read(ctx, "read queue items", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i := range chunk {
			kv := db.Read(i).One(resp)
			if kv == nil {
				continue
			}
			if !b.Takes(kv.Value) {
				return nil, nil // no more is looked at
			}
			if item := startOf(id, kv.Value); item != nil {
				return item, nil
			}
		}
	}
	return nil, nil
}

// gatedItem is the id of the queue item that lies at a key behind a gate.
func gatedItem(key string) string {
	_, id, _ := strings.Cut(key[strings.LastIndexByte(key, '/')+1:], "-") // behind the time
	return record.Decode(id)
}

// itemThatStarts reads a queue item, if it is the start of an instance.
func (s *Trace) itemThatStarts(ctx context.Context, id, key string, revision int64) (*store.QueueItem, error) {
	resp, err := s.conn.Get(ctx, "read queue item", key, clientv3.WithRev(revision))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return startOf(id, resp.Kvs[0].Value), nil
}

// startOf is a queue item, if it is the start of an instance; nil: it is not.
func startOf(id string, value []byte) *store.QueueItem {
	item := &store.QueueItem{}
	if damage := db.Decode(value, item); damage != nil || item.Held == nil {
		return nil // nobody knows what it starts, and it holds up nobody
	}
	if t := &item.Held.Trigger; store.TriggeredInstance(item.Held.Event, t.DefinitionID, t.ActivityID) != id {
		return nil
	}
	return item
}
