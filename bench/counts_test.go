package main

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// bounds are the most that an operation may ask of etcd, with one caller: what it
// asks today, bytes rounded up. Whoever raises one says in docs/performance.md what
// that buys; whoever saves something lowers it.
var bounds = map[string]etcdCost{
	"W1":                             {Requests: 1, Compares: 4, Puts: 4, KeysPut: 4, Sent: 2500, Received: 200},
	"W2":                             {Requests: 3, Compares: 11, Puts: 10, Deletes: 2, Ranges: 2, KeysPut: 9, KeysDeleted: 2, Sent: 5500, Received: 600},
	"W2, its resume":                 {Requests: 2, Compares: 4, Puts: 4, Deletes: 2, Ranges: 2, KeysPut: 4, KeysDeleted: 2, Sent: 2500, Received: 500},
	"W2, the lock first":             {Requests: 4, Compares: 13, Puts: 11, Deletes: 3, Ranges: 7, KeysPut: 10, KeysDeleted: 3, Sent: 6600, Received: 600},
	"W2, its resume, the lock first": {Requests: 3, Compares: 6, Puts: 5, Deletes: 3, Ranges: 7, KeysPut: 5, KeysDeleted: 3, Sent: 3600, Received: 600},
	"W1 with three HTTP calls":       {Requests: 1, Compares: 4, Puts: 4, KeysPut: 4, Sent: 3800, Received: 200},

	// Strict: a resume takes the lock all the same, as it goes on after a commit.
	"W1 (saved after each activity, strict)":                             {Requests: 3, Compares: 13, Puts: 11, Deletes: 3, Ranges: 2, KeysPut: 11, KeysDeleted: 3, Sent: 7100, Received: 300},
	"W2 (saved after each activity, strict)":                             {Requests: 5, Compares: 17, Puts: 15, Deletes: 5, Ranges: 8, KeysPut: 14, KeysDeleted: 5, Sent: 8900, Received: 800},
	"W2, its resume (saved after each activity, strict)":                 {Requests: 4, Compares: 10, Puts: 9, Deletes: 5, Ranges: 8, KeysPut: 9, KeysDeleted: 5, Sent: 5800, Received: 700},
	"W2 (saved after each activity, strict), the lock first":             {Requests: 5, Compares: 17, Puts: 15, Deletes: 5, Ranges: 8, KeysPut: 14, KeysDeleted: 5, Sent: 8900, Received: 800},
	"W2, its resume (saved after each activity, strict), the lock first": {Requests: 4, Compares: 10, Puts: 9, Deletes: 5, Ranges: 8, KeysPut: 9, KeysDeleted: 5, Sent: 5800, Received: 700},
	"W1 with three HTTP calls (saved after each activity, strict)":       {Requests: 3, Compares: 13, Puts: 11, Deletes: 3, Ranges: 2, KeysPut: 11, KeysDeleted: 3, Sent: 8500, Received: 300},

	// What has no effect outside is one commit; with calls between it is as strict.
	"W1 (saved after each activity, joined)":                             {Requests: 1, Compares: 4, Puts: 4, KeysPut: 4, Sent: 2500, Received: 200},
	"W2 (saved after each activity, joined)":                             {Requests: 3, Compares: 11, Puts: 10, Deletes: 2, Ranges: 2, KeysPut: 9, KeysDeleted: 2, Sent: 5500, Received: 600},
	"W2, its resume (saved after each activity, joined)":                 {Requests: 2, Compares: 4, Puts: 4, Deletes: 2, Ranges: 2, KeysPut: 4, KeysDeleted: 2, Sent: 2500, Received: 500},
	"W2 (saved after each activity, joined), the lock first":             {Requests: 4, Compares: 13, Puts: 11, Deletes: 3, Ranges: 7, KeysPut: 10, KeysDeleted: 3, Sent: 6600, Received: 700},
	"W2, its resume (saved after each activity, joined), the lock first": {Requests: 3, Compares: 6, Puts: 5, Deletes: 3, Ranges: 7, KeysPut: 5, KeysDeleted: 3, Sent: 3600, Received: 600},
	"W1 with three HTTP calls (saved after each activity, joined)":       {Requests: 3, Compares: 13, Puts: 11, Deletes: 3, Ranges: 2, KeysPut: 11, KeysDeleted: 3, Sent: 8500, Received: 300},
}

func TestAnOperationAsksNoMoreOfEtcd(t *testing.T) {
	t.Parallel()
	all, err := countAll(t.Context(), options{dir: t.TempDir()}, countedOperations())
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + countTable(all))
	seen := map[string]bool{}
	for i := range all {
		c := &all[i]
		seen[c.Name] = true
		most, ok := bounds[c.Name]
		if !ok {
			t.Errorf("%s has no bounds", c.Name)
		}
		is := c.columns()
		for j, bound := range most.columns() {
			if *is[j].value > *bound.value {
				t.Errorf("%s: %d %s, at most %d were to be", c.Name, *is[j].value, bound.name, *bound.value)
			}
		}
		if c.Requests == 0 || c.KeysPut == 0 || c.Sent == 0 || c.Received == 0 || c.Allocs == 0 {
			t.Errorf("%s was not counted: %+v", c.Name, *c)
		}
	}
	for name := range bounds {
		if !seen[name] {
			t.Errorf("%s has bounds and was not counted", name)
		}
	}
}

func TestATransactionIsCountedByItsBranches(t *testing.T) {
	t.Parallel()
	put := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("k")}}}
	get := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: []byte("k")}}}
	del := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte("k")}}}
	nested := &pb.TxnRequest{Compare: []*pb.Compare{{}, {}}, Success: []*pb.RequestOp{put, del}, Failure: []*pb.RequestOp{get, put}}
	req := &pb.TxnRequest{Compare: []*pb.Compare{{}}, Success: []*pb.RequestOp{put, {Request: &pb.RequestOp_RequestTxn{RequestTxn: nested}}}, Failure: []*pb.RequestOp{get}}
	inner := func(ok bool, ops ...*pb.ResponseOp) *pb.ResponseOp {
		return &pb.ResponseOp{Response: &pb.ResponseOp_ResponseTxn{ResponseTxn: &pb.TxnResponse{Succeeded: ok, Responses: ops}}}
	}
	was := &pb.ResponseOp{Response: &pb.ResponseOp_ResponsePut{ResponsePut: &pb.PutResponse{}}}
	gone := &pb.ResponseOp{Response: &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: &pb.DeleteRangeResponse{Deleted: 3}}}
	read := &pb.ResponseOp{Response: &pb.ResponseOp_ResponseRange{ResponseRange: &pb.RangeResponse{}}}
	for name, c := range map[string]struct {
		answer       *pb.TxnResponse
		put, deleted int
	}{
		"both taken":        {&pb.TxnResponse{Succeeded: true, Responses: []*pb.ResponseOp{was, inner(true, was, gone)}}, 2, 3},
		"the outer taken":   {&pb.TxnResponse{Succeeded: true, Responses: []*pb.ResponseOp{was, inner(false, read, was)}}, 2, 0},
		"none taken":        {&pb.TxnResponse{Responses: []*pb.ResponseOp{read}}, 0, 0},
		"without an answer": {nil, 0, 0},
	} {
		var got etcdCost
		got.txn(req, c.answer)
		want := etcdCost{Compares: 3, Puts: 3, Deletes: 1, Ranges: 2, KeysPut: c.put, KeysDeleted: c.deleted}
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
