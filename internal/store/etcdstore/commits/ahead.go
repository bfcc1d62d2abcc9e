package commits

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Parts that are new, and more than one transaction takes, are written ahead of the commit that they are of: an import
// brings all of them at once. Until then they hang on a lease, so that nothing is left of them if their node ends, or the
// commit comes to nothing. The commit takes them off the lease, and writes none of their texts again. Each of these
// writes compares what the commit does. The lease takes all of them away at once, so that the commit compares one.

// aheadTTL is how long parts wait for their commit, in seconds.
const aheadTTL = 120

// keepOp leaves the value of a key as it is, and takes the key off its lease.
var keepOp = clientv3.OpPut("", "", clientv3.WithIgnoreValue())

// ahead prepares a commit again whose new parts are too much for it, after writing those. Else t and err are as they were.
func ahead(ctx context.Context, s *Instances, c *store.Commit, t *Prepared, err error) (*Prepared, error) {
	if c.After.Cut != record.FormWide || c.Ahead != nil || !errors.Is(err, db.ErrTooLarge) && (err != nil || t.parts <= s.conn.Width.Ahead) {
		return t, err
	}
	guard, o := &Prepared{}, s.content(c, &Prepared{})
	s.guard(c, guard)
	var parts []clientv3.Op
	for _, op := range o.Writes {
		if isPart(s.conn.Keys, c, op) {
			parts = append(parts, op)
		}
	}
	if o.Err != nil || len(parts) == 0 {
		return t, err
	}
	lease, err := s.conn.Client.Grant(ctx, aheadTTL)
	if err != nil {
		return nil, fmt.Errorf("commit of instance %s: a lease for its parts: %w", c.After.Header.ID, db.Classify(err))
	}
	c.Ahead, c.AheadLease = map[string]bool{}, int64(lease.ID)
	for err == nil && len(parts) > 0 {
		page := s.conn.Begin("write parts of instance "+c.After.Header.ID, guard.cmps...)
		for len(parts) > 0 && page.Size < lookup.PageBytes {
			key, text := string(parts[0].KeyBytes()), parts[0].ValueBytes()
			held := clientv3.OpPut(key, "", clientv3.WithLease(lease.ID))
			held.WithValueBytes(text)
			page.Add(key, held, len(text))
			c.Ahead[key] = true
			parts = parts[1:]
		}
		var done bool
		if done, err = db.Applied(page.Submit(ctx)); err == nil && !done {
			err = fmt.Errorf("%s: %w", page.What, store.ErrConflict)
		}
	}
	if err == nil {
		t, err = s.Prepare(c)
	}
	if err != nil {
		dropAhead(ctx, s, c)
	}
	return t, err
}

// isPart reports whether an operation puts a part of the instance of a commit.
func isPart(k record.Keys, c *store.Commit, op clientv3.Op) bool {
	return op.IsPut() && strings.HasPrefix(string(op.KeyBytes()), k.PartsOf(c.After.Header.ID))
}

// dropAhead takes away what was written ahead of a commit that did not take it.
func dropAhead(ctx context.Context, s *Instances, c *store.Commit) {
	if c.AheadLease == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.conn.Timeout)
	defer cancel()
	if _, err := s.conn.Client.Revoke(ctx, clientv3.LeaseID(c.AheadLease)); err != nil {
		s.conn.Log.InfoContext(ctx, "a lease of parts that were written ahead of a commit ends by itself, as it could not be revoked", "instanceId", c.After.Header.ID, "error", err)
	}
	c.Ahead, c.AheadLease = nil, 0
}

// keepAhead writes no text of a part that was written ahead, and compares that they hang on their lease: as this never
// becomes true again, a late copy of the commit is refused, too.
func keepAhead(k record.Keys, c *store.Commit, t *Prepared, o *db.Ops) {
	if c.After.Cut != record.FormWide {
		return
	}
	for _, op := range o.Writes {
		key := string(op.KeyBytes())
		switch {
		case !isPart(k, c, op):
		case !c.Ahead[key]:
			t.parts += len(op.ValueBytes())
		default:
			if o.Add(key, db.On(keepOp, key), 0); t.ahead == "" {
				t.ahead = key
				t.cmps = append(t.cmps, clientv3.Compare(clientv3.LeaseValue(key), "=", c.AheadLease))
				t.foreign++
			}
		}
	}
}
