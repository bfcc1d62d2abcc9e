package definitions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Published is what becomes of a head when a version of it is published.
type Published struct {
	Name, Description string
	Activation        string
	AutoUpdate        bool
	Usable            bool
	Set               string                // "": that of before
	Index             store.DefinitionIndex // Version, Generation, Activation and DefinitionID are filled in
}

// PublishDefinition writes v as a new version, makes it the published one, and
// replaces every trigger, cron key and route of the definition, in one
// transaction. v.Version is ignored: the next number is given.
//
// Errors: [store.ErrHeadMoved] (read again), a *[workflow.Error] with code
// route-taken, [db.ErrTooLarge], or one that wraps [db.ErrUnknown].
func (s *Definitions) PublishDefinition(ctx context.Context, st *store.DefinitionState, v store.DefinitionVersion, p Published, at time.Time) (*store.DefinitionHead, error) {
	c := s.newChange("publish", st, at)
	s.writeVersion(c, &v, at)
	return s.publish(ctx, c, &v, p, at)
}

// PublishVersion makes a stored version the published one. If it already is,
// this indexes it again. Errors as for PublishDefinition.
func (s *Definitions) PublishVersion(ctx context.Context, st *store.DefinitionState, v *store.DefinitionVersion, p Published, at time.Time) (*store.DefinitionHead, error) {
	return s.publish(ctx, s.newChange("publish version of", st, at), v, p, at)
}

func (s *Definitions) publish(ctx context.Context, c *change, v *store.DefinitionVersion, p Published, at time.Time) (*store.DefinitionHead, error) {
	h := &c.head
	if h.Published != v.Version {
		h.PublishedAt = at
	}
	h.Published, h.Hash, h.VersionID, h.Uses = v.Version, v.Hash, v.VersionID, v.Uses
	h.Name, h.Description, h.Activation, h.AutoUpdate, h.Usable = p.Name, p.Description, p.Activation, p.AutoUpdate, p.Usable
	h.Deleted, h.Purged, h.Set = nil, false, cmp.Or(p.Set, h.Set)
	if c.before.Seen == 0 {
		c.ops.Put(s.conn.Keys.Content(h.ID, v.Hash), record.VersionRef{ID: h.ID, Version: v.Version})
	}
	if err := s.reindex(c, &p.Index); err != nil {
		return nil, err
	}
	return s.apply(ctx, c)
}

// SaveDraft writes v as a new version and leaves the published one, with its
// triggers, as it is. Errors: [store.ErrHeadMoved], [db.ErrTooLarge], or one that
// wraps [db.ErrUnknown].
func (s *Definitions) SaveDraft(ctx context.Context, st *store.DefinitionState, v store.DefinitionVersion, name, description string, at time.Time) (*store.DefinitionHead, error) {
	c := s.newChange("save draft of", st, at)
	s.writeVersion(c, &v, at)
	if c.head.Published == 0 {
		c.head.Name, c.head.Description = name, description
	}
	c.head.Deleted, c.head.Purged = nil, false
	return s.apply(ctx, c)
}

// writeVersion puts the body under the next number.
func (s *Definitions) writeVersion(c *change, v *store.DefinitionVersion, at time.Time) {
	c.head.Latest++
	v.ID, v.Version, v.CreatedAt = c.head.ID, c.head.Latest, at
	c.head.LatestHash = v.Hash
	c.ops.Put(s.conn.Keys.Body(v.ID, v.Version), v)
	if v.VersionID != "" {
		c.ops.Put(s.conn.Keys.VersionID(v.VersionID, v.ID), record.VersionRef{ID: v.ID, Version: v.Version})
	}
	for _, u := range v.Uses {
		c.ops.PutRaw(s.conn.Keys.Use(v.ID, v.Version, record.UsedVersion{ID: u.ID, Version: u.Version}), nil)
	}
}

// Retract takes the published version back: no new instance starts, running ones
// go on. Errors: [store.ErrHeadMoved], or one that wraps [db.ErrUnknown].
func (s *Definitions) Retract(ctx context.Context, st *store.DefinitionState, at time.Time) (*store.DefinitionHead, error) {
	return s.unpublish(ctx, s.newChange("retract", st, at))
}

func (s *Definitions) unpublish(ctx context.Context, c *change) (*store.DefinitionHead, error) {
	h := &c.head
	h.Published, h.Hash, h.VersionID, h.Activation, h.AutoUpdate, h.Usable, h.Uses = 0, "", "", "", false, false, nil
	h.PublishedAt = time.Time{}
	if err := s.reindex(c, &store.DefinitionIndex{}); err != nil {
		return nil, err
	}
	return s.apply(ctx, c)
}

// DeleteDefinition removes a definition with its triggers, cron keys and routes.
// Unless it is forced it refuses with a *[workflow.Error] of code
// definition-in-use while instances run. The bodies of the versions stay for
// now, so that instances that still run, or start at this moment, go on as they
// began; see [Definitions.PurgeDefinition]. Other errors as for Retract.
func (s *Definitions) DeleteDefinition(ctx context.Context, st *store.DefinitionState, force bool, at time.Time) (*store.DefinitionHead, error) {
	c := s.newChange("delete", st, at)
	c.head.Deleted, c.head.Set = &at, ""
	if !force {
		inUse := func() error {
			return workflow.Fail(workflow.CodeDefinitionInUse, fmt.Sprintf("instances of definition %s are running; wait for their end, cancel them, or delete with force", st.ID))
		}
		runs, err := s.runs(ctx, c.what, st.ID, st.Revision)
		if errors.Is(err, rpctypes.ErrCompacted) {
			return nil, store.ErrHeadMoved // too long ago: read again
		}
		if err != nil {
			return nil, err
		}
		if runs {
			return nil, inUse()
		}
		// The ranges were empty, so the compares are cheap. They can hold again when an
		// instance ends, so they are guards.
		for _, in := range s.conn.Keys.Running(st.ID) {
			c.guards = append(c.guards, db.NoneNewer(in, st.Revision))
		}
		c.refused = func(*pb.TxnResponse) error { return inUse() }
	}
	return s.unpublish(ctx, c)
}

// runs reports whether an instance of a definition runs, at a revision (0: now).
func (s *Definitions) runs(ctx context.Context, what, id string, revision int64) (bool, error) {
	var reads []clientv3.Op
	for _, in := range s.conn.Keys.Running(id) {
		reads = append(reads, clientv3.OpGet(in, clientv3.WithPrefix(), clientv3.WithRev(revision), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
	}
	resp, err := s.conn.Read(ctx, what, reads...)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(resp.Responses, func(r *pb.ResponseOp) bool { return len(r.GetResponseRange().Kvs) > 0 }), nil
}

// purgeSlice is how many bodies one transaction deletes.
const purgeSlice = 200

// PurgeDefinition removes the bodies of a deleted definition if no instance of
// it runs. It reports false if one does, or if the definition is not, or not any
// more, a deleted one.
//
//	If    ModRevision(head) = as read
//	Then  delete a slice of bodies; with the last slice put head, purged
func (s *Definitions) PurgeDefinition(ctx context.Context, id string) (bool, error) {
	head, err := s.Head(ctx, id)
	if err != nil || head == nil || head.Deleted == nil || head.Purged {
		return false, err
	}
	what := "purge definition " + id
	if runs, err := s.runs(ctx, what, id, 0); err != nil || runs {
		return false, err
	}
	cmps := []clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Head(id), head.Modified)}
	for from := 1; ; from += purgeSlice {
		to := from + purgeSlice
		then := []clientv3.Op{
			clientv3.OpDelete(s.conn.Keys.Body(id, from), clientv3.WithRange(s.conn.Keys.Body(id, to))),
			clientv3.OpDelete(s.conn.Keys.Retired(id, from), clientv3.WithRange(s.conn.Keys.Retired(id, to))),
			clientv3.OpDelete(s.conn.Keys.UsesOf(id, from), clientv3.WithRange(s.conn.Keys.UsesOf(id, to))),
		}
		last := from+purgeSlice > head.Latest
		if last {
			head.Purged = true
			raw, err := db.Encode(head)
			if err != nil {
				return false, err
			}
			then = append(then, clientv3.OpPut(s.conn.Keys.Head(id), string(raw)))
		}
		resp, err := s.conn.Txn(ctx, what, cmps, then, nil)
		if err != nil || !resp.Succeeded || last {
			return err == nil && resp.Succeeded, err
		}
	}
}
