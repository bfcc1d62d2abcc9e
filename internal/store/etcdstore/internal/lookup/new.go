package lookup

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// PutBookmark puts a bookmark, and the shape of an endpoint.
func (s *Conn) PutBookmark(o *db.Ops, b workflow.Bookmark, correlation, instance string) {
	s.PutEndpoint(o, &b)
	o.Put(s.Keys.Bookmark(b.Hash, correlation, b.ID), record.BookmarkEntry{Instance: instance, Type: b.ActivityType, Name: b.Name, Correlation: correlation, Created: b.CreatedAt})
}

// NewInstance is an instance to be created with its start command.
type NewInstance struct {
	Header  workflow.Instance // Pending
	Command workflow.Command
	Gate    *store.Gate
	Trigger *store.TriggerRef // what started it, compared
	Send    *store.Send       // the record of the stimulus that starts it, compared
}

// WriteNew puts a Pending instance, its index entries and its start command.
func (s *Conn) WriteNew(o *db.Ops, n *NewInstance) {
	h := &n.Header
	r := store.Record{Header: *h, Gate: n.Gate, Contents: len(n.Command.Contents) > 0}
	o.Put(s.Keys.Instance(h.ID), r)
	s.WriteIndex(o, nil, &r)
	o.Put(s.Keys.Mail(h.ID, n.Command.ID), n.Command)
	if n.Gate != nil {
		o.PutRaw(s.Keys.GateOf(*n.Gate), []byte(h.ID))
	}
}

// Guard compares: the instance is absent, and was never created by this command
// (a delete leaves the record); none of its id has left the store since that was looked for; the gate is free, unless the caller compares it
// otherwise; the definition's head, the trigger, the send record and files that were put for it are as found. A
// node that stood still must not start what another has put behind the gate since.
func (n *NewInstance) Guard(s *Conn, gate bool) []clientv3.Cmp {
	cmps := []clientv3.Cmp{db.Absent(s.Keys.Instance(n.Header.ID)), db.Absent(s.Keys.CommandRecord(n.Header.ID, n.Command.ID))}
	if gate && n.Gate != nil {
		cmps = append(cmps, db.Absent(s.Keys.GateOf(*n.Gate)))
	}
	st := n.Command.Start
	if st.Head > 0 {
		cmps = append(cmps, db.ModifiedAt(s.Keys.Head(st.DefinitionID), st.Head))
	}
	if st.Free > 0 {
		cmps = append(cmps, db.NotWrittenAfter(s.Keys.CommandRecord(n.Header.ID, record.DeletedRecord), st.Free))
	}
	if t := n.Trigger; t != nil {
		cmps = append(cmps, db.ModifiedAt(s.Keys.Trigger(t.Hash, t.DefinitionID, t.ActivityID), t.Modified))
	}
	cmps = append(cmps, contents.There(s.Conn, n.Header.ID, n.Command.Contents)...)
	return append(cmps, s.SendStands(n.Send)...)
}

// Requeue turns a queue item into a send record again, because something that it meets has come. False: it was claimed.
//
// If: the item's create revision.
func Requeue(ctx context.Context, s *record.Conn, item *store.QueueItem) (bool, error) {
	t := s.Begin("requeue stimulus", db.CreatedAt(item.At, item.Created))
	t.Del(item.At)
	t.Put(s.Keys.Send(item.ID), store.Send{ID: item.ID, Stimulus: item.Stimulus, Key: item.Key, CreatedAt: item.CreatedAt, Trace: item.Trace})
	return db.Applied(t.SubmitSmall(ctx))
}
