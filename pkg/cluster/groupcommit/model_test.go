package groupcommit_test

import (
	"fmt"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// model is etcd executing one request after the other. Requests that shared a
// proposal share its revision and are otherwise executed one by one too: each
// sees what those before it wrote.
type model struct{ keys map[string]modelKey }

type modelKey struct {
	value                      string
	created, modified, version int64
}

// run executes one request at a revision and gives its answer as text.
func (m *model) run(op clientv3.Op, revision int64) string {
	key, end := string(op.KeyBytes()), string(op.RangeBytes())
	switch {
	case op.IsTxn():
		cmps, then, other := op.Txn()
		ops, holds := then, m.holds(cmps)
		if !holds {
			ops = other
		}
		var out []string
		for _, o := range ops {
			out = append(out, m.run(o, revision))
		}
		return fmt.Sprintf("%v(%s)", holds, strings.Join(out, " "))
	case op.IsPut():
		k := m.keys[key]
		if k.version == 0 {
			k.created = revision
		}
		k.version++
		k.modified, k.value = revision, string(op.ValueBytes())
		m.keys[key] = k
		return "put"
	case op.IsDelete():
		found := m.find(key, end)
		for _, k := range found {
			delete(m.keys, k)
		}
		return fmt.Sprintf("deleted %d", len(found))
	}
	var out []string
	for _, k := range m.find(key, end) {
		v := m.keys[k]
		out = append(out, fmt.Sprintf("%s=%s/%d/%d/%d", k, v.value, v.created, v.modified, v.version))
	}
	return "get[" + strings.Join(out, " ") + "]"
}

func (m *model) find(key, end string) []string {
	var out []string
	for k := range m.keys {
		if end == "" && k == key || end != "" && k >= key && (end == "\x00" || k < end) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

func (m *model) holds(cmps []clientv3.Cmp) bool {
	for i := range cmps {
		if !m.holdsOne(cmps[i].GetCompare()) {
			return false
		}
	}
	return true
}

// holdsOne: a compare over a range holds if all its keys satisfy it; over
// nothing it holds if a key that is not there would.
func (m *model) holdsOne(c *pb.Compare) bool {
	found := m.find(string(c.Key), string(c.RangeEnd))
	if len(found) == 0 {
		return c.Target != pb.Compare_VALUE && satisfies(c, modelKey{})
	}
	for _, k := range found {
		if !satisfies(c, m.keys[k]) {
			return false
		}
	}
	return true
}

func satisfies(c *pb.Compare, k modelKey) bool {
	var d int
	switch c.Target {
	case pb.Compare_CREATE:
		d = compare(k.created, c.GetCreateRevision())
	case pb.Compare_MOD:
		d = compare(k.modified, c.GetModRevision())
	case pb.Compare_VERSION:
		d = compare(k.version, c.GetVersion())
	case pb.Compare_VALUE:
		d = strings.Compare(k.value, string(c.GetValue()))
	default:
		panic("the model does not know this compare")
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		return d == 0
	case pb.Compare_GREATER:
		return d > 0
	case pb.Compare_LESS:
		return d < 0
	default:
		return d != 0
	}
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// answer gives what etcd said as the model says it.
func answer(r clientv3.OpResponse) string {
	switch {
	case r.Txn() != nil:
		return txnAnswer((*pb.TxnResponse)(r.Txn()))
	case r.Get() != nil:
		return rangeAnswer((*pb.RangeResponse)(r.Get()))
	case r.Del() != nil:
		return fmt.Sprintf("deleted %d", r.Del().Deleted)
	case r.Put() != nil:
		return "put"
	}
	return "nothing"
}

func txnAnswer(r *pb.TxnResponse) string {
	var out []string
	for _, o := range r.Responses {
		switch {
		case o.GetResponseTxn() != nil:
			out = append(out, txnAnswer(o.GetResponseTxn()))
		case o.GetResponseRange() != nil:
			out = append(out, rangeAnswer(o.GetResponseRange()))
		case o.GetResponseDeleteRange() != nil:
			out = append(out, fmt.Sprintf("deleted %d", o.GetResponseDeleteRange().Deleted))
		default:
			out = append(out, "put")
		}
	}
	return fmt.Sprintf("%v(%s)", r.Succeeded, strings.Join(out, " "))
}

func rangeAnswer(r *pb.RangeResponse) string {
	var out []string
	for _, kv := range r.Kvs {
		out = append(out, fmt.Sprintf("%s=%s/%d/%d/%d", kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision, kv.Version))
	}
	return "get[" + strings.Join(out, " ") + "]"
}
