package commits

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// TakesPlace tells whether a commit tries to take a place of a limit: its burst may go on then. See [places.Places.TakeWith].
func (s *Instances) TakesPlace(c *store.Commit) bool { return s.places.Takes(c) }

// beside are the last operations of a commit: the one that takes a place, and the one that ends it.
func (t *Prepared) beside(last ...clientv3.Op) []clientv3.Op {
	if t.take == nil {
		return last
	}
	return append([]clientv3.Op{*t.take}, last...)
}

// took tells whether the commit took its place.
func (t *Prepared) took(resp *pb.TxnResponse) bool {
	at := len(resp.Responses) - 1
	if t.last != endsPlain {
		at--
	}
	return db.Read(at).Nested(resp).Succeeded
}
