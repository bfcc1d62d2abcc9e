package lookup

import (
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// LaterKey is the name under which the answer to the request with a key lies that comes with a later commit than
// the one which took the request.
func LaterKey(name string) string {
	if strings.HasPrefix(name, record.MadeKey) {
		return name + ".later"
	}
	return "later-" + name // not among the receipts of the caller's key
}

// WriteAnswers puts the answers to requests that earlier commits took. The first answer stands: an
// instance and one that it started may both write one.
//
// If: there is none. Then: put it.
func (s Index) WriteAnswers(c *store.Commit, o *db.Ops) {
	for _, a := range c.Answers {
		key := LaterKey(a.Key)
		then := db.NewContent()
		s.Conn.Answer(then, &workflow.CommandKey{Name: key}, &store.Answer{Response: a.Response})
		o.Nested([]clientv3.Cmp{db.Absent(s.Conn.Keys.KeyRecord(key))}, then, nil)
	}
}
