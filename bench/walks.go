package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// walks counts over how many keys etcd's index goes for what nodes ask: of a range those that
// are there, and those that are not any more, until etcd compacts. It counts as if it never did.
type walks struct {
	*relay

	mu   sync.Mutex
	seen map[string]bool  // every key that was ever put; guarded by mu
	in   map[string]int   // how many of them lie below a prefix that ends with a slash; guarded by mu
	of   map[string]*walk // by what asks; guarded by mu
}

// walk is what was asked of one kind of range.
type walk struct{ times, keys, last int }

func openWalks(ctx context.Context, member string) (w *walks, err error) {
	w = &walks{seen: map[string]bool{}, in: map[string]int{}, of: map[string]*walk{}}
	w.relay, err = newRelay(ctx, member, func(method string) (asked, answered func(message []byte)) {
		return func(m []byte) { w.read(method, m) }, func([]byte) {}
	})
	return w, err
}

func (w *walks) read(method string, message []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch method {
	case pb.KV_Range_FullMethodName:
		var r pb.RangeRequest
		if proto.Unmarshal(message, &r) == nil {
			w.walk("read", r.Key, r.RangeEnd)
		}
	case pb.KV_Txn_FullMethodName:
		var r pb.TxnRequest
		if proto.Unmarshal(message, &r) == nil {
			w.txn(&r, 0)
		}
	}
}

func (w *walks) txn(r *pb.TxnRequest, depth int) {
	for _, c := range r.Compare {
		w.walk("compare", c.Key, c.RangeEnd)
	}
	for i, op := range slices.Concat(r.Success, r.Failure) {
		switch {
		case op.GetRequestRange() != nil:
			what := "read"
			if i >= len(r.Success) {
				what = "read if not"
			}
			w.walk(what, op.GetRequestRange().Key, op.GetRequestRange().RangeEnd)
		case op.GetRequestPut() != nil:
			w.put(string(op.GetRequestPut().Key))
		case op.GetRequestTxn() != nil:
			w.txn(op.GetRequestTxn(), depth+1)
		}
	}
}

func (w *walks) put(key string) {
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	for i := range key {
		if key[i] == '/' {
			w.in[key[:i+1]]++
		}
	}
}

func (w *walks) walk(what string, key, end []byte) {
	if len(end) == 0 {
		return
	}
	dir := string(key[:strings.LastIndexByte(string(key), '/')+1])
	what += " " + kindOf(key)
	if string(key) != dir {
		what += " from within"
	}
	o := w.of[what]
	if o == nil {
		o = &walk{}
		w.of[what] = o
	}
	o.times++
	o.last = w.in[dir]
	o.keys += o.last
}

// total is how many keys were gone over; w may be nil.
func (w *walks) total() (keys int) {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.of {
		keys += o.keys
	}
	return keys
}

func (w *walks) table() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, what := range slices.SortedFunc(maps.Keys(w.of), func(a, b string) int { return cmp.Compare(w.of[b].keys, w.of[a].keys) })[:min(14, len(w.of))] {
		o := w.of[what]
		fmt.Fprintf(&b, "    %-34s %8d times, %10.0f keys each, %8d the last time\n", what, o.times, float64(o.keys)/float64(o.times), o.last)
	}
	return b.String()
}
