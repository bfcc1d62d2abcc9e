package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// tap counts what nodes ask of one member of etcd and of which keys: so a request is
// known by the job that sends it.
type tap struct {
	*relay

	mu    sync.Mutex
	asked map[string]int // by method and kinds of keys; guarded by mu
}

// newTap starts a tap in front of a member.
func newTap(ctx context.Context, member string) (t *tap, err error) {
	t = &tap{asked: map[string]int{}}
	t.relay, err = newRelay(ctx, member, func(method string) (asked, answered func(message []byte)) {
		return func(m []byte) { t.count(request(method, m)) }, func(m []byte) { t.count(answer(method, m)) }
	})
	return t, err
}

// count takes note of one message; "" is none.
func (t *tap) count(what string) {
	if what == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[what]++
}

// counts is all that was counted so far.
func (t *tap) counts() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.asked)
}

// eventsOf begins the names of events of watches, which nobody asks for.
const eventsOf = "event of a watch: "

// request names a message to etcd.
func request(method string, message []byte) string {
	_, name, _ := strings.Cut(strings.TrimPrefix(method, "/etcdserverpb."), "/")
	switch name {
	case "Range":
		var r pb.RangeRequest
		return name + ": " + known(proto.Unmarshal(message, &r), []string{kindOf(r.Key)})
	case "Txn":
		var r pb.TxnRequest
		err := proto.Unmarshal(message, &r)
		kinds, writes := touched(&r)
		if writes {
			return "Txn that writes: " + known(err, kinds)
		}
		return "Txn that reads: " + known(err, kinds)
	case "Watch":
		var r pb.WatchRequest
		err := proto.Unmarshal(message, &r)
		if c := r.GetCreateRequest(); c != nil {
			return "Watch, begun: " + known(err, []string{kindOf(c.Key)})
		}
		return "Watch, ended"
	}
	return name
}

// answer names a message from etcd that tells of a change.
func answer(method string, message []byte) string {
	var r pb.WatchResponse
	if !strings.HasSuffix(method, "/Watch") || proto.Unmarshal(message, &r) != nil || len(r.Events) == 0 {
		return ""
	}
	kinds := make([]string, len(r.Events))
	for i, ev := range r.Events {
		kinds[i] = kindOf(ev.Kv.Key)
	}
	return eventsOf + known(nil, kinds)
}

// known is which kinds of keys there are, each once.
func known(err error, kinds []string) string {
	if err != nil {
		return err.Error()
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
}

// touched are the kinds of keys of a transaction, nested ones too.
func touched(r *pb.TxnRequest) (kinds []string, writes bool) {
	for _, c := range r.Compare {
		kinds = append(kinds, kindOf(c.Key))
	}
	for _, op := range slices.Concat(r.Success, r.Failure) {
		switch op := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			kinds = append(kinds, kindOf(op.RequestRange.Key))
		case *pb.RequestOp_RequestPut:
			kinds, writes = append(kinds, kindOf(op.RequestPut.Key)), true
		case *pb.RequestOp_RequestDeleteRange:
			kinds, writes = append(kinds, kindOf(op.RequestDeleteRange.Key)), true
		case *pb.RequestOp_RequestTxn:
			inner, w := touched(op.RequestTxn)
			kinds, writes = append(kinds, inner...), writes || w
		}
	}
	return kinds, writes
}

// kindOf is the part of a key below the root of its cluster that says what it is.
func kindOf(key []byte) string {
	parts := strings.SplitN(string(key), "/", 6) // "", weft, cluster, kind, …
	if len(parts) < 4 {
		return string(key)
	}
	if len(parts) > 4 && (parts[3] == "meta" || strings.HasPrefix(parts[4], "~")) {
		return parts[3] + "/" + parts[4]
	}
	return parts[3] + "/"
}

// byCount orders what was counted, the most first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}
