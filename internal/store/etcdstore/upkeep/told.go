package upkeep

import (
	"context"
	"math"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// Told is how far webhooks have told what ended. Where etcd has compacted what one has not told, it lists what is
// there: so that nothing is missed, what it has not told stays.
type Told struct {
	root string
	at   []map[string]int64 // of each webhook, by the ranges that it tells, below the root
}

// ReadTold reads how far all webhooks are.
func ReadTold(ctx context.Context, s *Upkeep) (*Told, error) {
	resp, err := s.conn.Get(ctx, "read how far webhooks are", s.conn.Keys.WebhookAt(""), clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	t := &Told{root: s.conn.Keys.Root}
	for _, kv := range resp.Kvs {
		var p store.WebhookPosition
		if db.DecodeWhole(kv.Value, &p) != nil {
			p.At = map[string]int64{"": 0} // somebody else knows how far it is
		}
		for of, at := range p.At {
			if strings.HasPrefix(of, "dead/") {
				delete(p.At, of) // dead letters stay when their instance goes
			} else if at > resp.Header.Revision {
				p.At[of] = 0 // it is of another etcd
			}
		}
		if len(p.At) > 0 {
			t.at = append(t.at, p.At)
		}
	}
	return t, nil
}

// UpTo is a revision after which nothing that ended was told by all webhooks; of what ended up to it most was.
func (t *Told) UpTo() int64 {
	least := int64(math.MaxInt64)
	if t == nil {
		return least
	}
	for _, ranges := range t.at {
		most := int64(0)
		for _, at := range ranges {
			most = max(most, at)
		}
		least = min(least, most)
	}
	return least
}

// of reports whether all webhooks that tell what lies at these keys told it up to a revision.
func (t *Told) of(revision int64, keys ...string) bool {
	for _, ranges := range t.at {
		for of, at := range ranges {
			for _, key := range keys {
				if at < revision && strings.HasPrefix(key, t.root+of) {
					return false
				}
			}
		}
	}
	return true
}
