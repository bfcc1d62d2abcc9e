package definitions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// VersionUser is something that needs the body of a version.
type VersionUser struct {
	What string // for people: "instance x"
	key  string // it is there while this is
}

// VersionUsers finds for each of these versions one that needs its body, if there is
// one: an instance, finished or not; a command that starts one or gives it a state;
// a send record, a start behind a gate or a dead letter whose stimulus has met its
// triggers; a version of another definition that runs it as an activity.
//
// All are looked for at one revision, so that what one of them becomes (a
// start its instance) is not missed. It costs a read of all that is accepted and not
// done and of the dead letters, until each version has a user; of the instances, those
// of these versions only, and of each version the first.
func (s *Definitions) VersionUsers(ctx context.Context, versions []record.VersionRef) (map[record.VersionRef]VersionUser, error) {
	u := &usage{s: s, wanted: map[record.VersionRef]bool{}, found: map[record.VersionRef]VersionUser{}}
	for _, ref := range versions {
		u.wanted[ref] = true
	}
	look := []func(context.Context) error{u.instances, u.consumers, u.sends, u.gated, u.dead, u.commands}
	for _, in := range look {
		if len(u.wanted) == 0 {
			break
		}
		if err := in(ctx); err != nil {
			return nil, err
		}
	}
	return u.found, nil
}

// StillUsed are those of users that are as they were found.
func (s *Definitions) StillUsed(ctx context.Context, users map[record.VersionRef]VersionUser) (map[record.VersionRef]VersionUser, error) {
	out := map[record.VersionRef]VersionUser{}
	var refs []record.VersionRef
	var reads []clientv3.Op
	ask := func() error {
		if len(reads) == 0 {
			return nil
		}
		resp, err := s.conn.Read(ctx, "look for users of versions", reads...)
		if err != nil {
			return err
		}
		for i, r := range resp.Responses {
			if r.GetResponseRange().Count > 0 {
				out[refs[i]] = users[refs[i]]
			}
		}
		refs, reads = nil, nil
		return nil
	}
	for ref, user := range users {
		refs, reads = append(refs, ref), append(reads, clientv3.OpGet(user.key, clientv3.WithCountOnly()))
		if len(reads) == usersChunk {
			if err := ask(); err != nil {
				return nil, err
			}
		}
	}
	return out, ask()
}

// usersChunk is how many instances or keys one request of a look for users reads.
const usersChunk = 64

// usage is one look for the users of versions.
type usage struct {
	s        *Definitions
	wanted   map[record.VersionRef]bool // no user was found yet
	found    map[record.VersionRef]VersionUser
	revision int64
}

// uses notes a user of a version; it costs nothing to say it of one that nobody
// asked for.
func (u *usage) uses(ref record.VersionRef, what, key string) {
	if u.wanted[ref] {
		delete(u.wanted, ref)
		u.found[ref] = VersionUser{what, key}
	}
}

// each reads a range at the revision of the look.
func (u *usage) each(ctx context.Context, prefix string, many int64, do func(key string, kv *mvccpb.KeyValue) error, opts ...clientv3.OpOption) error {
	for cursor := ""; len(u.wanted) > 0; {
		at := append([]clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(many), clientv3.WithRev(u.revision)}, opts...)
		resp, err := u.s.conn.Get(ctx, "look for users of versions", db.PageFrom(prefix, cursor), at...)
		if err != nil {
			return err
		}
		if u.revision == 0 {
			u.revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			cursor = strings.TrimPrefix(string(kv.Key), prefix)
			if err := do(string(kv.Key), kv); errors.Is(err, db.ErrDamaged) {
				u.s.conn.Left(kv.Key, err) // nobody ever goes on with it
			} else if err != nil {
				return err
			}
		}
		if !resp.More {
			return nil
		}
	}
	return nil
}

// usesPage is how many uses are listed at a time.
const usesPage = 500

// consumers are versions that run a wanted one as an activity.
func (u *usage) consumers(ctx context.Context) error {
	return u.each(ctx, u.s.conn.Keys.Uses(), usesPage, func(key string, _ *mvccpb.KeyValue) error {
		parts := strings.SplitN(strings.TrimPrefix(key, u.s.conn.Keys.Uses()), "/", 3) // consumer, its version, used/version
		if len(parts) < 3 {
			return nil
		}
		by, _ := record.VersionIn(key, u.s.conn.Keys.Uses())
		if ref, ok := record.VersionIn(parts[2], ""); ok {
			u.uses(ref, by.String()+", which runs it as an activity", key)
		}
		return nil
	}, clientv3.WithKeysOnly())
}

// Of these this program has to understand no more than whom they start: the fields
// that a newer one adds are no business of ours.

func (u *usage) sends(ctx context.Context) error {
	return u.each(ctx, u.s.conn.Keys.Sends(), db.MostChunk, func(key string, kv *mvccpb.KeyValue) error {
		var send store.Send
		err := db.Decode(kv.Value, &send)
		u.targets(send.Targets, "stimulus "+send.ID+", which has met its triggers", key)
		return err
	})
}

func (u *usage) gated(ctx context.Context) error {
	return u.each(ctx, u.s.conn.Keys.GatedQueues(), db.MostChunk, func(key string, kv *mvccpb.KeyValue) error {
		var item store.QueueItem
		err := db.Decode(kv.Value, &item)
		if h := item.Held; h != nil {
			u.uses(record.VersionRef{ID: h.Trigger.DefinitionID, Version: h.Trigger.Version}, "the start by stimulus "+item.ID+", which waits behind a gate", key)
		}
		return err
	})
}

func (u *usage) dead(ctx context.Context) error {
	return u.each(ctx, u.s.conn.Keys.Deads(), db.MostChunk, func(key string, kv *mvccpb.KeyValue) error {
		d, err := record.DecodeDead(kv, db.Decode)
		u.targets(d.Targets, "dead letter "+d.ID, key)
		if d.Command != nil {
			u.command(d.Command, "dead letter "+d.ID, key)
		}
		return err
	})
}

func (u *usage) commands(ctx context.Context) error {
	return u.each(ctx, u.s.conn.Keys.Mailboxes(), db.MostChunk, func(key string, kv *mvccpb.KeyValue) error {
		var cmd workflow.Command
		err := db.Decode(kv.Value, &cmd)
		u.command(&cmd, "command "+cmd.ID+", which waits for its instance", key)
		return err
	})
}

func (u *usage) targets(targets []store.Target, what, key string) {
	for _, t := range targets {
		if t.Trigger != nil {
			u.uses(record.VersionRef{ID: t.Trigger.DefinitionID, Version: t.Trigger.Version}, what, key)
		}
	}
}

// command: a start names its version, an import that of the state it brings, a migration
// the one that it leads to.
func (u *usage) command(cmd *workflow.Command, what, key string) {
	if cmd.Start != nil {
		u.uses(record.VersionRef{ID: cmd.Start.DefinitionID, Version: cmd.Start.Version}, what, key)
	}
	if cmd.Alter != nil {
		for _, alt := range cmd.Alter.Alterations {
			if alt.Type == workflow.AlterMigrate {
				u.uses(record.VersionRef{ID: cmd.Alter.Definition, Version: alt.Version}, what, key)
			}
		}
	}
	var in struct {
		Instance of `json:"instance"`
	}
	if cmd.Kind == workflow.CommandImport && workflow.Unmarshal(cmd.State, &in) == nil {
		u.uses(record.VersionRef(in.Instance), what, key)
	}
}

// of is what says of an instance whose it is.
type of struct {
	ID      string `json:"definitionId"`
	Version int    `json:"version"`
}

// instances of a wanted version are in the index; their records are read as they are now: one
// that is gone needs nothing, and one that came later began with a version that was
// not retired.
func (u *usage) instances(ctx context.Context) error {
	for _, ref := range slices.Collect(maps.Keys(u.wanted)) {
		for _, sub := range record.SubStatuses {
			prefix := u.s.conn.Keys.IndexOfVersion(sub, ref.ID, ref.Version)
			for cursor := ""; u.wanted[ref]; {
				ids, next, err := u.page(ctx, prefix, cursor)
				if err != nil {
					return err
				}
				if err := u.records(ctx, ids); err != nil {
					return err
				}
				if cursor = next; next == "" {
					break
				}
			}
		}
	}
	return nil
}

// page reads the ids of some instances of a list; next is "" at the end.
func (u *usage) page(ctx context.Context, prefix, cursor string) (ids []string, next string, err error) {
	resp, err := u.s.conn.Get(ctx, "look for users of versions", db.PageFrom(prefix, cursor), clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)),
		clientv3.WithLimit(usersChunk), clientv3.WithKeysOnly(), clientv3.WithRev(u.revision))
	if err != nil {
		return nil, "", err
	}
	if u.revision == 0 {
		u.revision = resp.Header.Revision
	}
	for _, kv := range resp.Kvs {
		cursor = strings.TrimPrefix(string(kv.Key), prefix)
		ids = append(ids, cursor[strings.LastIndexByte(cursor, '/')+1:])
	}
	if resp.More {
		next = cursor
	}
	return ids, next, nil
}

func (u *usage) records(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	reads := make([]clientv3.Op, len(ids))
	for i, id := range ids {
		reads[i] = db.Get(u.s.conn.Keys.Instance(id))
	}
	resp, err := u.s.conn.Read(ctx, "look for users of versions", reads...)
	if err != nil {
		return err
	}
	for i, r := range resp.Responses {
		for _, kv := range r.GetResponseRange().Kvs {
			var rec struct {
				Header of `json:"header"`
			}
			if err := db.Decode(kv.Value, &rec); err != nil {
				u.s.conn.Left(kv.Key, err)
				continue
			}
			u.uses(record.VersionRef(rec.Header), "instance "+ids[i], string(kv.Key))
		}
	}
	return nil
}
