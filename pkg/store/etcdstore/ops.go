package etcdstore

import (
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Limits of one transaction: etcd allows 128 operations a level, a child's
// budget being what the largest of its parent's three lists leaves, and 1.5 MiB
// a request (etcd notes 17).
const (
	levelBudget = 128
	maxLevel    = 100
	chunkSize   = 50
	maxElse     = 8 // operations of an Else, at most
	maxOps      = chunkSize * 50
	maxRequest  = 1400 << 10
	opOverhead  = 16 // bytes around a key and its value on the wire
)

// ops collects writes, one per key: etcd refuses two puts of one key, and the
// last one is the one that is meant.
type ops struct {
	writes []clientv3.Op  // in the order of their keys' first mention
	sizes  []int          // of the writes
	places map[string]int // of keys among the writes
	tail   []clientv3.Op  // range deletes and nested transactions, after the rest
	size   int
	err    error
}

func newOps() *ops {
	const usual = 8
	return &ops{writes: make([]clientv3.Op, 0, usual), sizes: make([]int, 0, usual), places: make(map[string]int, usual)}
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

func (o *ops) del(key string) { o.add(key, clientv3.OpDelete(key), 0) }

func (o *ops) putRaw(key string, raw []byte) {
	o.add(key, clientv3.OpPut(key, string(raw)), len(raw))
}

// put encodes v, and tells how many bytes that takes; the first failure is kept
// for render.
func (o *ops) put(key string, v any) int64 {
	raw, err := Encode(v)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", key, err)
	}
	o.putRaw(key, raw)
	return int64(len(raw))
}

// nested adds a transaction of its own: written only if its compares hold,
// whatever the others do.
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

func (o *ops) list() []clientv3.Op {
	if o == nil {
		return nil
	}
	return slices.Concat(o.writes, o.tail)
}

// checked gives the operations, or ErrTooLarge with the numbers.
func (o *ops) checked(compares int) ([]clientv3.Op, error) {
	if o.err != nil {
		return nil, o.err
	}
	list := o.list()
	if size := o.size + compares; len(list) > maxOps || size > maxRequest {
		return nil, fmt.Errorf("%w: %d operations (at most %d), %d bytes (at most %d)", ErrTooLarge, len(list), maxOps, size, maxRequest)
	}
	return list, nil
}

// render gives the operations for one level of a transaction with few compares,
// nested beyond its limit. It leaves room for one more level around them.
func (o *ops) render() ([]clientv3.Op, error) {
	list, err := o.checked(0)
	if err != nil || len(list) <= maxLevel {
		return list, err
	}
	return chunks(list, chunkSize), nil
}

// renderBeside gives the operations for the top level of a transaction with
// these compares, followed by last. What one level cannot hold is nested in
// chunks as wide as the compares allow: they count against the same budget.
func (o *ops) renderBeside(cmps []clientv3.Cmp, last ...clientv3.Op) ([]clientv3.Op, error) {
	list, err := o.checked(sizeOf(cmps))
	if err != nil {
		return nil, err
	}
	inner, below, beside := deepest(list), deepest(last), max(len(cmps), maxElse)
	if max(beside, len(list)+len(last))+max(inner, below) <= levelBudget {
		return append(list, last...), nil
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
