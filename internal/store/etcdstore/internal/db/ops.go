package db

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
	MaxLevel    = 100            // operations of a level
	ChunkSize   = 50             // operations that are nested together
	maxElse     = 8              // operations of an Else, at most
	MaxOps      = ChunkSize * 50 // operations of a transaction
	MaxRequest  = 1400 << 10     // bytes of a request
	OpOverhead  = 16             // bytes around a key and its value on the wire
)

// Operations are copies of these. clientv3's own ways make three of one, to apply
// its options, and copy a value twice.
var (
	putOp    = clientv3.OpPut("", "")
	DeleteOp = clientv3.OpDelete("") // to be copied by [On] and [Below]
	getOp    = clientv3.OpGet("")
)

// Put writes a key.
func Put(key string, value []byte) clientv3.Op {
	op := On(putOp, key)
	op.WithValueBytes(value)
	return op
}

// Del deletes a key.
func Del(key string) clientv3.Op { return On(DeleteOp, key) }

// Get reads a key.
func Get(key string) clientv3.Op { return On(getOp, key) }

// On is a copy of op for one key.
func On(op clientv3.Op, key string) clientv3.Op {
	op.WithKeyBytes([]byte(key))
	return op
}

// Below is a copy of op for all keys below a prefix.
func Below(op clientv3.Op, prefix string) clientv3.Op {
	op = On(op, prefix)
	op.WithRangeBytes([]byte(clientv3.GetPrefixRangeEnd(prefix)))
	return op
}

// Ops collects writes, one per key: etcd refuses two puts of one key, and the
// last one is the one that is meant.
type Ops struct {
	Writes []clientv3.Op  // in the order of their keys' first mention
	sizes  []int          // of the writes
	places map[string]int // of keys among the writes; nil: they are few, and looked through
	Tail   []clientv3.Op  // range deletes and nested transactions, after the rest
	Size   int            // bytes of all
	Most   int            // bytes of one value before it is compressed
	Err    error          // the first failure
}

// NewOps collects what a node writes again or hands on.
func NewOps() *Ops {
	const usual = 8
	return &Ops{Most: MaxPassed, Writes: make([]clientv3.Op, 0, usual), sizes: make([]int, 0, usual)}
}

// NewContent collects what an instance or an author makes.
func NewContent() *Ops {
	o := NewOps()
	o.Most = MaxEncoded
	return o
}

// Add takes an operation for a key, whose value has so many bytes, in the place of an earlier one.
func (o *Ops) Add(key string, op clientv3.Op, value int) {
	size := len(key) + value + OpOverhead
	if i := o.place(key); i >= 0 {
		o.Size += size - o.sizes[i]
		o.Writes[i], o.sizes[i] = op, size
		return
	}
	if o.places != nil {
		o.places[key] = len(o.Writes)
	}
	o.Writes, o.sizes = append(o.Writes, op), append(o.sizes, size)
	o.Size += size
}

// place is where the write of a key is among all, or -1. An instance writes some eight
// keys a commit: a map for them costs more than it finds.
func (o *Ops) place(key string) int {
	const few = 16
	if o.places == nil && len(o.Writes) < few {
		for i := range o.Writes {
			if string(o.Writes[i].KeyBytes()) == key {
				return i
			}
		}
		return -1
	}
	if o.places == nil {
		o.places = make(map[string]int, 2*few)
		for i, op := range o.Writes {
			o.places[string(op.KeyBytes())] = i
		}
	}
	if i, ok := o.places[key]; ok {
		return i
	}
	return -1
}

// Del deletes a key.
func (o *Ops) Del(key string) { o.Add(key, Del(key), 0) }

// PutRaw writes a value as it is.
func (o *Ops) PutRaw(key string, raw []byte) { o.Add(key, Put(key, raw), len(raw)) }

// Fail keeps the first failure for render.
func (o *Ops) Fail(key string, err error) {
	if o.Err == nil {
		o.Err = fmt.Errorf("%s: %w", key, err)
	}
}

// Put encodes v, and tells how many bytes that takes; the first failure is kept
// for render.
func (o *Ops) Put(key string, v any) int64 {
	raw, err := EncodeWithin(v, o.Most)
	return o.putPacked(key, raw, err)
}

// PutEncoded is Put for a v that is raw as JSON.
func (o *Ops) PutEncoded(key string, v any, raw []byte) int64 {
	raw, err := pack(v, raw, o.Most)
	return o.putPacked(key, raw, err)
}

func (o *Ops) putPacked(key string, raw []byte, err error) int64 {
	if err != nil {
		o.Fail(key, err)
	}
	o.PutRaw(key, raw)
	return int64(len(raw))
}

// Nested adds a transaction of its own: written only if its compares hold,
// independently of the others.
func (o *Ops) Nested(cmps []clientv3.Cmp, then, otherwise *Ops) {
	o.Tail = append(o.Tail, clientv3.OpTxn(cmps, then.List(), otherwise.List()))
	o.Size += SizeOf(cmps) + OpOverhead
	for _, branch := range []*Ops{then, otherwise} {
		if branch == nil {
			continue
		}
		o.Size += branch.Size
		if o.Err == nil {
			o.Err = branch.Err
		}
	}
}

// SizeOf is how many bytes compares have, about.
func SizeOf(cmps []clientv3.Cmp) int {
	n := 0
	for _, c := range cmps {
		n += 2*len(c.KeyBytes()) + OpOverhead // a range has its end too
	}
	return n
}

// List gives the operations, followed by last.
func (o *Ops) List(last ...clientv3.Op) []clientv3.Op {
	if o == nil {
		return last
	}
	return slices.Concat(o.Writes, o.Tail, last)
}

// Check gives ErrTooLarge with the numbers, or what went wrong before.
func (o *Ops) Check(compares int) error {
	if o.Err != nil {
		return o.Err
	}
	if n, size := len(o.Writes)+len(o.Tail), o.Size+compares; n > MaxOps || size > MaxRequest {
		return fmt.Errorf("%w: %d operations (at most %d), %d bytes (at most %d)", ErrTooLarge, n, MaxOps, size, MaxRequest)
	}
	return nil
}

// Render gives the operations for one level of a transaction with few compares,
// nested beyond its limit. It leaves room for one more level around them.
func (o *Ops) Render() ([]clientv3.Op, error) {
	if err := o.Check(0); err != nil {
		return nil, err
	}
	list := o.List()
	if len(list) <= MaxLevel {
		return list, nil
	}
	return chunks(list, ChunkSize), nil
}

// RenderBeside gives the operations for the top level of a transaction with
// these compares, followed by last. What one level cannot hold is nested in
// chunks as wide as the compares allow: they count against the same budget.
func (o *Ops) RenderBeside(cmps []clientv3.Cmp, last ...clientv3.Op) ([]clientv3.Op, error) {
	if err := o.Check(SizeOf(cmps)); err != nil {
		return nil, err
	}
	all := o.List(last...)
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
