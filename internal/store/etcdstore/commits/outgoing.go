package commits

import (
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// writeSent puts what the instance hands to others.
func (s *Instances) writeSent(c *store.Commit, o *db.Ops) {
	s.writeChildren(c, o)
	s.writeOutgoing(c, o)
	lookup.Index{Conn: s.conn}.WriteAnswers(c, o)
	for _, send := range c.Sends {
		o.Put(s.conn.Keys.Send(send.ID), send)
	}
	for _, item := range c.Requeue {
		// Through a send record: what is put straight into the queue would escape
		// the send guard.
		o.Put(s.conn.Keys.Send(item.ID), store.Send{ID: item.ID, Stimulus: item.Stimulus, Key: item.Key, CreatedAt: c.At, Trace: item.Trace})
	}
	for _, d := range c.Dead {
		s.conn.PutDead(o, d)
	}
	if c.Continue != nil && !goesOn(c) {
		o.Put(s.conn.Keys.Mail(c.After.Header.ID, c.Continue.ID), c.Continue)
	}
}

// writeOutgoing puts commands for other instances, one nested transaction for
// each instance, so that no key is put in two. Those for a child that this very
// commit creates went with it: compares are evaluated before anything is
// written, so that it would seem not to be there.
func (s *Instances) writeOutgoing(c *store.Commit, o *db.Ops) {
	var order []string
	boxes := map[string]*db.Ops{}
	for _, out := range c.Outgoing {
		switch {
		case slices.ContainsFunc(c.Children, func(ch store.Child) bool { return ch.ID == out.InstanceID }):
		case out.InstanceID == c.After.Header.ID:
			s.conn.PutOutgoing(o, out)
		default:
			if boxes[out.InstanceID] == nil {
				boxes[out.InstanceID] = db.NewContent()
				order = append(order, out.InstanceID)
			}
			s.conn.PutOutgoing(boxes[out.InstanceID], out)
		}
	}
	for _, id := range order {
		o.Nested([]clientv3.Cmp{db.Exists(s.conn.Keys.Instance(id))}, boxes[id], nil)
	}
}

// writeChildren puts each child under its own compares, and says what becomes of
// the gate that this instance has.
func (s *Instances) writeChildren(c *store.Commit, o *db.Ops) {
	own := s.writeGate(c, o)
	spent := map[string]bool{}
	for _, child := range c.Children {
		n := &lookup.NewInstance{Header: lookup.NewHeader(child.ID, child.Command, c.At), Command: child.Command, Gate: child.Gate}
		then, otherwise := db.NewContent(), db.NewOps()
		s.conn.WriteNew(then, n)
		for _, out := range c.Outgoing {
			if out.InstanceID == child.ID {
				s.conn.PutOutgoing(then, out)
			}
		}
		key := ""
		if child.Gate != nil {
			key = s.conn.Keys.GateOf(*child.Gate)
		}
		switch {
		case key != "" && (spent[key] || key == own.retaken):
			// Another of this commit has the gate. Compares see neither, so it is
			// refused here, where both are known.
			s.refuseChild(o, c, child)
			continue
		case key != "" && key == own.freed:
			// The gate passes from the parent that ends to the first of its children
			// that wants it, or becomes free if that child cannot be.
			s.refuseChild(otherwise, c, child)
			free := db.NewOps()
			free.Del(key)
			otherwise.Nested(s.conn.HoldsGate(key, c.After.Header.ID), free, nil)
			o.Nested(append(n.Guard(s.conn, false), s.conn.HoldsGate(key, c.After.Header.ID)...), then, otherwise)
			own.freed = ""
		default:
			s.refuseChild(otherwise, c, child)
			o.Nested(n.Guard(s.conn, true), then, otherwise)
		}
		spent[key] = key != ""
	}
	if own.freed != "" {
		then := db.NewOps()
		then.Del(own.freed)
		o.Nested(s.conn.HoldsGate(own.freed, c.After.Header.ID), then, nil)
	}
}

// gateChange is what a commit does to the gate of its own instance.
type gateChange struct{ freed, retaken string }

// writeGate tells what becomes of the gate that an instance has. One that ends
// frees it. One that a retry, an alteration or an import brings back takes it, or is refused
// (the guard compares that it is free); so does one that gets another gate, which frees its own.
func (s *Instances) writeGate(c *store.Commit, o *db.Ops) (change gateChange) {
	takes := takesGate(c)
	var was *store.Gate
	if c.Before != nil {
		was = c.Before.Gate
	}
	if ends := c.Delete || c.After.Header.Status == workflow.StatusFinished; was != nil && (ends || takes != nil && *takes != *was) {
		change.freed = s.conn.Keys.GateOf(*was)
	}
	if takes != nil {
		change.retaken = s.conn.Keys.GateOf(*takes)
		o.PutRaw(change.retaken, []byte(c.After.Header.ID))
	}
	return change
}

// takesGate is the gate that an instance takes with a commit; nil: none, or it has it.
func takesGate(c *store.Commit) *store.Gate {
	is := c.After.Gate
	if c.Delete || is == nil || c.After.Header.Status == workflow.StatusFinished {
		return nil
	}
	if c.Before == nil { // an import brings it
		return is
	}
	if was := c.Before.Gate; c.Before.Header.Status == workflow.StatusFinished || was == nil || *was != *is {
		return is
	}
	return nil
}

// refuseChild makes a taken id or a held gate an end for the waiting parent, so
// that it never waits for nothing. Of a child that nobody waits for it leaves a dead
// letter, without its input: that is in the same request already.
func (s *Instances) refuseChild(o *db.Ops, c *store.Commit, child store.Child) {
	p := child.Command.Start.Parent
	if p == nil || p.BookmarkID == "" {
		s.conn.PutDead(o, lookup.RefusedChild(c, &child))
		return
	}
	end := record.ChildEnd(p.BookmarkID, child.ID, workflow.Faulted, nil, c.At)
	end.Input["Refused"] = true
	end.Trace = c.Trace
	o.Put(s.conn.Keys.Mail(p.InstanceID, end.ID), end)
}
