package definitions

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Definitions keeps workflow definitions, their versions, and the triggers, routes and
// schedules of what is published. It is for the catalog.
type Definitions struct{ conn *lookup.Conn }

// New is the definitions over a connection.
func New(c *lookup.Conn) *Definitions { return &Definitions{c} }

// Age is Upkeep.Age, for what the catalog lets go because it is old.
func (s *Definitions) Age(ctx context.Context) (*store.Age, error) { return s.conn.Age(ctx) }

// Head reads one head; nil if there never was one. A deleted definition has one
// that says so.
func (s *Definitions) Head(ctx context.Context, id string) (*store.DefinitionHead, error) {
	return s.conn.Head(ctx, id)
}

// Version reads the body of one version; nil if there is none.
func (s *Definitions) Version(ctx context.Context, id string, n int) (*store.DefinitionVersion, error) {
	resp, err := s.conn.Get(ctx, "read version of "+id, s.conn.Keys.Body(id, n))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	v := new(store.DefinitionVersion)
	return v, db.DecodeWhole(resp.Kvs[0].Value, v)
}

// Needs reads what a program must have to compile some versions, and the declared activity types that they use as if
// they were of the program, in as many requests at most: of
// small sources each has up to 64, of large ones fewer. looked is how many of versions, from the
// first, it looked at; beside an error too. It leaves out a version that is not there, cannot be
// read, or was written by a program that did not say it.
func (s *Definitions) Needs(ctx context.Context, versions []record.VersionRef, requests int) (needs map[record.VersionRef][]string, looked int, err error) {
	needs = map[record.VersionRef][]string{}
	var bytes db.Budget
	for ; requests > 0 && looked < len(versions); requests-- {
		chunk := versions[looked:min(len(versions), looked+bytes.Batch())]
		var ask db.Reads
		for _, ref := range chunk {
			ask.Value(s.conn.Keys.Body(ref.ID, ref.Version))
		}
		resp, err := s.conn.Read(ctx, "read needs of versions", ask.Ops...)
		if err != nil {
			return needs, looked, err
		}
		for i, ref := range chunk {
			kv := db.Read(i).One(resp)
			if kv == nil {
				continue
			}
			bytes.Count(kv.Value)
			var v struct {
				Needs []string            `json:"needs"`
				Types map[string]struct{} `json:"types"`
			}
			if db.Decode(kv.Value, &v) == nil && len(v.Needs) > 0 {
				needs[ref] = v.Needs
				for typ := range v.Types {
					needs[ref] = append(needs[ref], "activity:"+typ)
				}
			}
		}
		looked += len(chunk)
	}
	return needs, looked, nil
}

// FindVersionID finds the version that the notation calls versionID: the newest
// one of definition id that came with it, or if id has none ("" has none), of
// the definition that brought it first. False: there is none.
func (s *Definitions) FindVersionID(ctx context.Context, versionID, id string) (definition string, version int, ok bool, err error) {
	if versionID == "" {
		return "", 0, false, nil
	}
	var ask db.Reads
	newest, first := ask.Value(s.conn.Keys.VersionID(versionID, id)), ask.First(s.conn.Keys.VersionIDs(versionID))
	resp, err := s.conn.Read(ctx, "find definition version", ask.Ops...)
	if err != nil {
		return "", 0, false, err
	}
	kv := cmp.Or(newest.One(resp), first.One(resp))
	if kv == nil {
		return "", 0, false, nil
	}
	var e record.VersionRef
	if err := db.Decode(kv.Value, &e); err != nil {
		return "", 0, false, err
	}
	return e.ID, e.Version, true, nil
}

// ReadDefinition reads everything that a change of a definition starts from, at
// one revision. contentHash asks whether that content was ever published under
// the id; "" asks nothing.
func (s *Definitions) ReadDefinition(ctx context.Context, id, contentHash string) (*store.DefinitionState, error) {
	for {
		st, err := s.readDefinition(ctx, id, contentHash)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between its two reads
			return st, err
		}
	}
}

func (s *Definitions) readDefinition(ctx context.Context, id, contentHash string) (*store.DefinitionState, error) {
	what := "read definition " + id
	var ask db.Reads
	head, indexed, content := ask.Value(s.conn.Keys.Head(id)), ask.Value(s.conn.Keys.Indexed(id)), ask.Value(s.conn.Keys.Content(id, contentHash))
	retired := ask.Add(clientv3.OpGet(s.conn.Keys.Retirements()+id+"/", clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	resp, err := s.conn.Read(ctx, what, ask.Ops...)
	if err != nil {
		return nil, err
	}
	st := &store.DefinitionState{ID: id, Revision: resp.Header.Revision}
	if kv := head.One(resp); kv != nil {
		st.Head = &store.DefinitionHead{Modified: kv.ModRevision}
		if err := db.DecodeWhole(kv.Value, st.Head); err != nil {
			return nil, err
		}
	}
	if kv := indexed.One(resp); kv != nil {
		if err := db.DecodeWhole(kv.Value, &st.Indexed); err != nil {
			return nil, err
		}
	}
	if kv := content.One(resp); kv != nil && contentHash != "" {
		var e record.VersionRef
		if err := db.Decode(kv.Value, &e); err != nil {
			return nil, err
		}
		st.Seen = e.Version
	}
	for _, kv := range retired.In(resp).Kvs {
		if ref, ok := record.VersionIn(string(kv.Key), s.conn.Keys.Retirements()); ok {
			st.Retired = append(st.Retired, ref.Version)
		}
	}
	if st.Indexed.Crons {
		st.Crons, err = s.crons(ctx, what, id, st.Revision)
	}
	return st, err
}

// crons reads the cron keys of one definition, as they were at revision. They
// share a shard with those of others.
func (s *Definitions) crons(ctx context.Context, what, id string, revision int64) ([]store.CronEntry, error) {
	var out []store.CronEntry
	prefix := s.conn.Keys.Crons(record.TimerShard(id))
	from := prefix
	for {
		resp, err := s.conn.Get(ctx, what, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)),
			clientv3.WithRev(revision), clientv3.WithLimit(page))
		if err != nil {
			return nil, err
		}
		for _, kv := range resp.Kvs {
			if s.conn.Keys.CronOwner(string(kv.Key)) != id {
				continue
			}
			e, err := record.DecodeCron(kv)
			if errors.Is(err, db.ErrDamaged) {
				parts := strings.Split(string(kv.Key), "/") // to be taken back, it is enough
				e, err = record.CronAt(kv), nil
				e.DefinitionID, e.ActivityID = id, record.Decode(parts[len(parts)-1])
			}
			if err != nil {
				return nil, err
			}
			out = append(out, *e)
		}
		if !resp.More {
			return out, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// page is how many keys one range request reads.
const page = 500

// errBadCursor says that a cursor was not made by the list that it was given to.
var errBadCursor = workflow.Fail(workflow.CodeInvalid, "the cursor is not one of this list")

// ListDefinitions lists the definitions that are not deleted, by id, at most
// limit, at one revision.
func (s *Definitions) ListDefinitions(ctx context.Context, cursor string, limit int) (heads []store.DefinitionHead, end db.PageEnd, err error) {
	from := s.conn.Keys.Definitions()
	if cursor != "" {
		if workflow.CheckID("cursor", cursor) != nil {
			return nil, end, errBadCursor
		}
		from = s.conn.Keys.Head(cursor) + "\x00"
	}
	limit = max(limit, 1)
	for {
		chunk := max(db.FirstChunk, min(page, limit+1-len(heads))) // one more tells whether there are more
		resp, err := s.conn.Get(ctx, "list definitions", from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(s.conn.Keys.Definitions())), clientv3.WithLimit(int64(chunk)), clientv3.WithRev(end.Revision))
		if errors.Is(err, rpctypes.ErrCompacted) && end.Revision != 0 { // between two reads: what was read is a page
			end.Next = s.definitionOf(strings.TrimSuffix(from, "\x00"))
			return heads, end, nil
		}
		if err != nil {
			return nil, db.PageEnd{}, err
		}
		end.Revision = cmp.Or(end.Revision, resp.Header.Revision)
		for _, kv := range resp.Kvs {
			h, err := record.DecodeHead(kv)
			if err != nil {
				h = &store.DefinitionHead{ID: s.definitionOf(string(kv.Key)), Modified: kv.ModRevision, Damaged: err.Error()}
			}
			if h.Deleted != nil {
				continue
			}
			if len(heads) == limit {
				end.Next = heads[limit-1].ID
				return heads, end, nil
			}
			heads = append(heads, *h)
		}
		if !resp.More {
			return heads, end, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// definitionOf is the id of the definition whose head has a key.
func (s *Definitions) definitionOf(key string) string {
	return strings.TrimSuffix(strings.TrimPrefix(key, s.conn.Keys.Definitions()), "/head")
}

// ChangedHeads reads every head that changed after a revision, deleted ones
// included, at one revision; after 0 it reads all. As heads are never deleted,
// what it gives on top of what was known is all there is.
func (s *Definitions) ChangedHeads(ctx context.Context, after int64) (store.HeadChanges, error) {
	var out store.HeadChanges
	from := s.conn.Keys.Definitions()
	for {
		opts := []clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(s.conn.Keys.Definitions())),
			clientv3.WithMinModRev(after + 1), clientv3.WithLimit(page)}
		if out.Revision != 0 {
			opts = append(opts, clientv3.WithRev(out.Revision))
		}
		resp, err := s.conn.Get(ctx, "read heads", from, opts...)
		if err != nil {
			return store.HeadChanges{}, err
		}
		if out.Revision == 0 {
			out.Revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			h, err := record.DecodeHead(kv)
			if err != nil {
				s.conn.Left(kv.Key, err) // the others are known for that
				continue
			}
			out.Heads = append(out.Heads, *h)
		}
		if !resp.More {
			return out, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// WatchHeads gives the changes of heads after a revision, until ctx ends or the
// watch breaks; then it closes the channel, in the second case after a last
// value with Err. It is a hint: have [Definitions.ChangedHeads] behind it. It does not wait
// until the watch has begun, which a member of etcd that hangs delays: nothing is missed,
// since the revision says from where it goes on.
//
// Revision is that of the last head given, never the store's: a watcher that is
// behind gets what it missed in batches of whole revisions, and each has in its
// header the revision at which the store is, with the changes in between still to
// come.
func (s *Definitions) WatchHeads(ctx context.Context, after int64) <-chan store.HeadChanges {
	out := make(chan store.HeadChanges)
	go func() {
		defer close(out)
		events := s.conn.Client.Watch(clientv3.WithRequireLeader(ctx), s.conn.Keys.Definitions(), clientv3.WithPrefix(), clientv3.WithRev(after+1), clientv3.WithFilterDelete())
		broken := errors.New("the watch of the definitions ended")
		for resp := range events {
			c := store.HeadChanges{Err: resp.Err()}
			for _, ev := range resp.Events {
				h, err := record.DecodeHead(ev.Kv)
				if err != nil {
					s.conn.Left(ev.Kv.Key, err)
					continue
				}
				c.Heads = append(c.Heads, *h)
				c.Revision = h.Modified
			}
			if c.Err != nil {
				broken = c.Err
				break
			}
			select {
			case out <- c:
			case <-ctx.Done():
				return
			}
		}
		select {
		case out <- store.HeadChanges{Err: broken}:
		case <-ctx.Done():
		}
	}()
	return out
}
