package definitions

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Versions that nothing uses go in two steps. First a version is retired: from
// then on nobody begins anything with it. Long after that, when all that had met it
// before is in etcd where [Definitions.VersionUsers] finds it, or is over, its body goes,
// if nobody uses it. A retired version never comes back.

// Retired lists the versions that are retired and whose bodies are there, with the
// revisions at which they were.
func (s *Definitions) Retired(ctx context.Context) (map[record.VersionRef]int64, error) {
	out := map[record.VersionRef]int64{}
	for cursor := ""; ; {
		kvs, next, err := s.conn.Page(ctx, "list retired versions", s.conn.Keys.Retirements(), cursor, page)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			if ref, ok := record.VersionIn(string(kv.Key), s.conn.Keys.Retirements()); ok {
				out[ref] = kv.ModRevision
			}
		}
		if cursor = next; next == "" {
			return out, nil
		}
	}
}

// VersionsUpTo lists the versions of a definition up to n whose bodies are there.
func (s *Definitions) VersionsUpTo(ctx context.Context, id string, n int) ([]int, error) {
	var out []int
	from, end := s.conn.Keys.Body(id, 1), s.conn.Keys.Body(id, n+1)
	for {
		resp, err := s.conn.Get(ctx, "list versions of "+id, from, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(versionsPage))
		if err != nil {
			return nil, err
		}
		for _, kv := range resp.Kvs {
			if ref, ok := record.VersionIn(string(kv.Key), s.conn.Keys.AllBodies()); ok {
				out = append(out, ref.Version)
			}
		}
		if !resp.More {
			return out, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// versionsPage is how many versions one request lists: etcd reads their bodies for it.
const versionsPage = 100

// Begins reports whether something new may begin with a version: its body is there
// and it is not retired. The head was read at the same revision; nil if there is
// none. While the head stands, the answer does.
func (s *Definitions) Begins(ctx context.Context, id string, n int) (*store.DefinitionHead, bool, error) {
	var ask db.Reads
	head, body, retired := ask.Value(s.conn.Keys.Head(id)), ask.Count(s.conn.Keys.Body(id, n)), ask.Count(s.conn.Keys.Retired(id, n))
	resp, err := s.conn.Read(ctx, fmt.Sprintf("look for version %d of %s", n, id), ask.Ops...)
	if err != nil {
		return nil, false, err
	}
	kv := head.One(resp)
	if kv == nil {
		return nil, false, nil
	}
	h, err := record.DecodeHead(kv)
	return h, err == nil && body.Found(resp) && !retired.Found(resp), err
}

// MaxVersions is how many versions one call of [Definitions.RetireVersions] or
// [Definitions.DropVersions] takes.
const MaxVersions = 30

// RetireVersions lets nothing begin with these versions any more. Not for the
// published and the latest one. Errors: [store.ErrHeadMoved], or one that wraps
// [db.ErrUnknown].
func (s *Definitions) RetireVersions(ctx context.Context, st *store.DefinitionState, versions []int) (*store.DefinitionHead, error) {
	c := s.newChange("retire versions of", st, st.Head.UpdatedAt)
	for _, n := range versions {
		c.ops.PutRaw(s.conn.Keys.Retired(st.ID, n), nil)
	}
	return s.apply(ctx, c)
}

// DropVersions deletes the bodies of versions, with what is known of them but that
// their content was published. The caller has found them retired in st, and without
// a user since they were retired. Errors as for RetireVersions.
func (s *Definitions) DropVersions(ctx context.Context, st *store.DefinitionState, versions []int) (*store.DefinitionHead, error) {
	c := s.newChange("drop versions of", st, st.Head.UpdatedAt)
	for _, n := range versions {
		name, err := s.nameOf(ctx, record.VersionRef{ID: st.ID, Version: n})
		if err != nil {
			return nil, err
		}
		if name != "" {
			c.ops.Del(name)
		}
		c.ops.Del(s.conn.Keys.Body(st.ID, n))
		c.ops.Del(s.conn.Keys.Retired(st.ID, n))
		uses := s.conn.Keys.UsesOf(st.ID, n)
		c.ops.Add(uses, clientv3.OpDelete(uses, clientv3.WithPrefix()), 0)
	}
	return s.apply(ctx, c)
}

// nameOf is the key of Elsa's id of a version, if the key is this version's; "" if
// it is not. A transaction that writes it moves the definition's head.
func (s *Definitions) nameOf(ctx context.Context, ref record.VersionRef) (string, error) {
	what := fmt.Sprintf("read version %d of %s", ref.Version, ref.ID)
	resp, err := s.conn.Get(ctx, what, s.conn.Keys.Body(ref.ID, ref.Version))
	if err != nil || len(resp.Kvs) == 0 {
		return "", err
	}
	var v store.DefinitionVersion
	if err := db.Decode(resp.Kvs[0].Value, &v); err != nil || v.VersionID == "" {
		return "", err
	}
	key := s.conn.Keys.VersionID(v.VersionID, ref.ID)
	if resp, err = s.conn.Get(ctx, what, key); err != nil || len(resp.Kvs) == 0 {
		return "", err
	}
	var is record.VersionRef
	if err := db.Decode(resp.Kvs[0].Value, &is); err != nil || is != ref {
		return "", err
	}
	return key, nil
}

// retiredFor is how long a version is retired before its body may go: what had
// met it before is in etcd by then, or over. As long as bodies outlive a delete.
const retiredFor = time.Hour

// LongRetired picks those of retired versions whose bodies may go once nobody uses them.
func LongRetired(retired map[record.VersionRef]int64, age *store.Age) []record.VersionRef {
	var out []record.VersionRef
	for ref, since := range retired {
		if age.Of(since) >= retiredFor {
			out = append(out, ref)
		}
	}
	return out
}
