package etcdstore

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// LinkKey gives the key that the cluster's resume links are signed with. The first
// node that asks makes it what it proposes.
//
// If: there is none yet; it is never changed. A repeat finds its own.
func (s *Store) LinkKey(ctx context.Context, proposed []byte) ([]byte, error) {
	raw, err := db.Encode(record.LinkKey{Key: proposed})
	if err != nil {
		return nil, err
	}
	key := s.conn.Keys.Links()
	t := s.conn.Begin("agree on the key of links", db.Absent(key))
	t.PutRaw(key, raw)
	there := t.Otherwise.Value(key)
	resp, err := t.Submit(ctx)
	if err != nil {
		return nil, err
	}
	if resp.Succeeded {
		return proposed, nil
	}
	var k record.LinkKey
	err = db.Decode(there.One(resp).Value, &k)
	if err == nil && len(k.Key) < resumelink.MinKey {
		err = fmt.Errorf("%w: it has %d bytes, at least %d make a key", db.ErrDamaged, len(k.Key), resumelink.MinKey)
	}
	if err != nil {
		return nil, fmt.Errorf("the key of resume links, %s, cannot be read: start the nodes with --link-key-file, or let weft fsck --repair make a new key, which voids the links that were handed out: %w", key, err)
	}
	return k.Key, nil
}
