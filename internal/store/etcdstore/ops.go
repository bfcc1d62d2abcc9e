package etcdstore

import (
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Limits of one transaction: etcd allows 128 operations a level, a child's
// budget being what the largest of its parent's three lists leaves, and 1.5 MiB
// a request (etcd note 17).
const (
	levelBudget = 128
	maxLevel    = 100
	chunkSize   = 50
	maxElse     = 8 // operations of an Else, at most
	maxOps      = chunkSize * 50
	maxRequest  = 1400 << 10
	opOverhead  = 16 // bytes around a key and its value on the wire
)

// Operations are copies of these. clientv3's own ways make three of one, to apply
// its options, and copy a value twice.
var (
	putOp    = clientv3.OpPut("", "")
	deleteOp = clientv3.OpDelete("")
	getOp    = clientv3.OpGet("")
)

func put(key string, value []byte) clientv3.Op {
	op := on(putOp, key)
	op.WithValueBytes(value)
	return op
}

func del(key string) clientv3.Op { return on(deleteOp, key) }

func get(key string) clientv3.Op { return on(getOp, key) }

// on is a copy of op for one key.
func on(op clientv3.Op, key string) clientv3.Op {
	op.WithKeyBytes([]byte(key))
	return op
}

// below is a copy of op for all keys below a prefix.
func below(op clientv3.Op, prefix string) clientv3.Op {
	op = on(op, prefix)
	op.WithRangeBytes([]byte(clientv3.GetPrefixRangeEnd(prefix)))
	return op
}

// ops collects writes, one per key: etcd refuses two puts of one key, and the
// last one is the one that is meant.
type ops struct {
	writes []clientv3.Op  // in the order of their keys' first mention
	sizes  []int          // of the writes
	places map[string]int // of keys among the writes
	tail   []clientv3.Op  // range deletes and nested transactions, after the rest
	size   int
	most   int // bytes of one value before it is compressed
	err    error
}

// newOps collects what a node writes again or hands on.
func newOps() *ops {
	const usual = 8
	return &ops{most: maxPassed, writes: make([]clientv3.Op, 0, usual), sizes: make([]int, 0, usual), places: make(map[string]int, usual)}
}

// newContent collects what an instance or an author makes.
func newContent() *ops {
	o := newOps()
	o.most = maxEncoded
	return o
}

func (o *ops) add(key string, op clientv3.Op, value int) {
	size := len(key) + value + opOverhead
	if i, ok := o.places[key]; ok {
		o.size += size - o.sizes[i]
		o.writes[i], o.sizes[i] = op, size
		return
	}
	o.places[key] = len(o.writes)
	o.writes, o.sizes = append(o.writes, op), append(o.sizes, size)
	o.size += size
}

func (o *ops) del(key string) { o.add(key, del(key), 0) }

func (o *ops) putRaw(key string, raw []byte) { o.add(key, put(key, raw), len(raw)) }

// fail keeps the first failure for render.
func (o *ops) fail(key string, err error) {
	if o.err == nil {
		o.err = fmt.Errorf("%s: %w", key, err)
	}
}

// put encodes v, and tells how many bytes that takes; the first failure is kept
// for render.
func (o *ops) put(key string, v any) int64 {
	raw, err := encodeWithin(v, o.most)
	if err != nil {
		o.fail(key, err)
	}
	o.putRaw(key, raw)
	return int64(len(raw))
}

// nested adds a transaction of its own: written only if its compares hold,
// independently of the others.
func (o *ops) nested(cmps []clientv3.Cmp, then, otherwise *ops) {
	o.tail = append(o.tail, clientv3.OpTxn(cmps, then.list(), otherwise.list()))
	o.size += sizeOf(cmps) + opOverhead
	for _, branch := range []*ops{then, otherwise} {
		if branch == nil {
			continue
		}
		o.size += branch.size
		if o.err == nil {
			o.err = branch.err
		}
	}
}

func sizeOf(cmps []clientv3.Cmp) int {
	n := 0
	for _, c := range cmps {
		n += 2*len(c.KeyBytes()) + opOverhead // a range has its end too
	}
	return n
}

// list gives the operations, followed by last.
func (o *ops) list(last ...clientv3.Op) []clientv3.Op {
	if o == nil {
		return last
	}
	return slices.Concat(o.writes, o.tail, last)
}

// check gives ErrTooLarge with the numbers, or what went wrong before.
func (o *ops) check(compares int) error {
	if o.err != nil {
		return o.err
	}
	if n, size := len(o.writes)+len(o.tail), o.size+compares; n > maxOps || size > maxRequest {
		return fmt.Errorf("%w: %d operations (at most %d), %d bytes (at most %d)", ErrTooLarge, n, maxOps, size, maxRequest)
	}
	return nil
}

// render gives the operations for one level of a transaction with few compares,
// nested beyond its limit. It leaves room for one more level around them.
func (o *ops) render() ([]clientv3.Op, error) {
	if err := o.check(0); err != nil {
		return nil, err
	}
	list := o.list()
	if len(list) <= maxLevel {
		return list, nil
	}
	return chunks(list, chunkSize), nil
}

// renderBeside gives the operations for the top level of a transaction with
// these compares, followed by last. What one level cannot hold is nested in
// chunks as wide as the compares allow: they count against the same budget.
func (o *ops) renderBeside(cmps []clientv3.Cmp, last ...clientv3.Op) ([]clientv3.Op, error) {
	if err := o.check(sizeOf(cmps)); err != nil {
		return nil, err
	}
	all := o.list(last...)
	list := all[:len(all)-len(last)]
	inner, below, beside := deepest(list), deepest(last), max(len(cmps), maxElse)
	if max(beside, len(all))+max(inner, below) <= levelBudget {
		return all, nil
	}
	for width := levelBudget - beside - inner; width > 1; width-- {
		n := (len(list) + width - 1) / width
		if max(beside, n+len(last))+max(width+inner, below) <= levelBudget {
			return append(chunks(list, width), last...), nil
		}
	}
	return nil, fmt.Errorf("%w: %d operations beside %d compares", ErrTooLarge, len(list), len(cmps))
}

func chunks(list []clientv3.Op, width int) []clientv3.Op {
	var out []clientv3.Op
	for len(list) > 0 {
		n := min(width, len(list))
		out = append(out, clientv3.OpTxn(nil, list[:n], nil))
		list = list[n:]
	}
	return out
}

// deepest is the budget that the operations of a list need below their level.
func deepest(list []clientv3.Op) int {
	need := 0
	for _, op := range list {
		if op.IsTxn() {
			cmps, then, otherwise := op.Txn()
			need = max(need, max(len(cmps), len(then), len(otherwise))+max(deepest(then), deepest(otherwise)))
		}
	}
	return need
}
