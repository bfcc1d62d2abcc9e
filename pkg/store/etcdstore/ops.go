package etcdstore

import (
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Limits of one transaction: etcd allows 128 operations a level, a child's
// budget being what its parent leaves, and 1.5 MiB a request (etcd notes 17).
const (
	maxLevel   = 100
	chunkSize  = 50
	maxOps     = chunkSize * 50
	maxRequest = 1400 << 10
	maxCompare = 120
)

// ops collects writes, one per key: etcd refuses two puts of one key, and the
// last one is the one that is meant.
type ops struct {
	order []string
	byKey map[string]clientv3.Op
	tail  []clientv3.Op // range deletes and nested transactions, after the rest
	size  int
	err   error
}

func newOps() *ops { return &ops{byKey: map[string]clientv3.Op{}} }

func (o *ops) add(key string, op clientv3.Op) {
	if _, ok := o.byKey[key]; !ok {
		o.order = append(o.order, key)
	}
	o.byKey[key] = op
	o.size += len(key) + 16
}

func (o *ops) del(key string) { o.add(key, clientv3.OpDelete(key)) }

func (o *ops) putRaw(key string, raw []byte) {
	o.add(key, clientv3.OpPut(key, string(raw)))
	o.size += len(raw)
}

// put encodes v; the first failure is kept for render.
func (o *ops) put(key string, v any) {
	raw, err := Encode(v)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", key, err)
	}
	o.putRaw(key, raw)
}

// nested adds a transaction of its own: written only if its compares hold,
// whatever the others do.
func (o *ops) nested(cmps []clientv3.Cmp, then, otherwise *ops) {
	o.tail = append(o.tail, clientv3.OpTxn(cmps, then.list(), otherwise.list()))
	o.size += then.bytes() + otherwise.bytes()
	if then != nil && then.err != nil && o.err == nil {
		o.err = then.err
	}
}

func (o *ops) bytes() int {
	if o == nil {
		return 0
	}
	return o.size
}

func (o *ops) list() []clientv3.Op {
	if o == nil {
		return nil
	}
	out := make([]clientv3.Op, 0, len(o.order)+len(o.tail))
	for _, k := range o.order {
		out = append(out, o.byKey[k])
	}
	return append(out, o.tail...)
}

// render gives the operations for one level, nested beyond its limit, or
// ErrTooLarge with the numbers.
func (o *ops) render() ([]clientv3.Op, error) {
	if o.err != nil {
		return nil, o.err
	}
	list := o.list()
	if len(list) > maxOps || o.size > maxRequest {
		return nil, fmt.Errorf("%w: %d operations (at most %d), %d bytes (at most %d)", ErrTooLarge, len(list), maxOps, o.size, maxRequest)
	}
	if len(list) <= maxLevel {
		return list, nil
	}
	var out []clientv3.Op
	for len(list) > 0 {
		n := min(chunkSize, len(list))
		out = append(out, clientv3.OpTxn(nil, list[:n], nil))
		list = list[n:]
	}
	return out, nil
}

// Compares that hold for ever once they are false (Rule U).

func absent(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

func exists(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), ">", 0)
}

func createdAt(key string, rev int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", rev)
}

func modifiedAt(key string, rev int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(key), "=", rev)
}

// noneNewer holds when no key of the range was created after rev; an empty
// range holds.
func noneNewer(prefix string, rev int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(prefix).WithPrefix(), "<", rev+1)
}

// noneOlder holds when no key of the range was created before rev. An empty
// range would compare as 0 and fail; it is used where a key is known to be.
func noneOlder(prefix string, rev int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(prefix).WithPrefix(), ">", rev-1)
}
