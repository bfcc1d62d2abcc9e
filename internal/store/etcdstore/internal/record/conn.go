package record

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// Attempt names one attempt to do something, which is sent again only as it is;
// a new attempt of the same thing has another name.
func Attempt(id string, at time.Time) string { return id + "@" + strconv.FormatInt(at.UnixNano(), 10) }

// Conn is the one connection of a cluster's store with its keys: it writes and reads
// the records that more than one part has to know.
type Conn struct {
	*db.Conn
	Keys Keys

	Elapsed atomic.Int64 // milliseconds; how old the cluster is, as far as this node knows; the store knows it by a record
}

// RevisionNow asks etcd at which revision it is, and which etcd it is.
func (s *Conn) RevisionNow(ctx context.Context) (at int64, etcd uint64, err error) {
	resp, err := s.Get(ctx, "read the revision", s.Keys.Pause(), clientv3.WithCountOnly())
	if err != nil {
		return 0, 0, err
	}
	return resp.Header.Revision, resp.Header.ClusterId, nil
}

// Void is what a transaction's Else does so that its refusal is conclusive
// although a compare can become true again: it leaves a record that the
// transaction compares as absent, unless the refusal came from its own earlier
// success, which applied shows.
func (s *Conn) Void(record string, applied ...string) clientv3.Op {
	var cmps []clientv3.Cmp
	for _, key := range applied {
		cmps = append(cmps, db.Absent(key))
	}
	return clientv3.OpTxn(cmps, s.PutVoid(record), nil)
}

// PutVoid writes the record.
func (s *Conn) PutVoid(record string) []clientv3.Op {
	o := db.NewOps()
	o.PutRaw(record, []byte(`{"outcome":"void"}`))
	o.PutRaw(s.Keys.Expiry(s.Elapsed.Load(), record), nil)
	return o.List()
}
