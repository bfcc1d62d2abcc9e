package main

import (
	"context"
	"errors"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// etcdCost is what was asked of etcd: of its keys, not of leases, watches and status.
type etcdCost struct {
	Requests int `json:"requests"`
	// In all branches of the transactions, at any depth: what etcd parses and checks.
	Compares int `json:"compares"`
	Puts     int `json:"puts"`
	Deletes  int `json:"deletes"`
	Ranges   int `json:"ranges"`
	// In the branches that were taken: what etcd writes.
	KeysPut     int `json:"keysPut"`
	KeysDeleted int `json:"keysDeleted"`
	// Messages, without the frames around them.
	Sent     int `json:"bytesSent"`
	Received int `json:"bytesReceived"`
}

// columns are the figures with their names, in the order of the table.
func (t *etcdCost) columns() []column {
	return []column{
		{"requests", &t.Requests},
		{"compares", &t.Compares},
		{"puts", &t.Puts},
		{"deletes", &t.Deletes},
		{"reads", &t.Ranges},
		{"keys put", &t.KeysPut},
		{"keys deleted", &t.KeysDeleted},
		{"bytes to etcd", &t.Sent},
		{"bytes from etcd", &t.Received},
	}
}

type column struct {
	name  string
	value *int
}

// combine gives f of each figure of both.
func (t etcdCost) combine(other etcdCost, f func(a, b int) int) etcdCost {
	theirs := other.columns()
	for i, c := range t.columns() {
		*c.value = f(*c.value, *theirs[i].value)
	}
	return t
}

func (t etcdCost) plus(other etcdCost) etcdCost {
	return t.combine(other, func(a, b int) int { return a + b })
}

func (t etcdCost) minus(other etcdCost) etcdCost {
	return t.combine(other, func(a, b int) int { return a - b })
}

// txn counts a transaction; answer is nil for one that was not reached.
func (t *etcdCost) txn(req *pb.TxnRequest, answer *pb.TxnResponse) {
	t.Compares += len(req.Compare)
	for i, op := range req.Success {
		t.op(op, taken(answer, true, i))
	}
	for i, op := range req.Failure {
		t.op(op, taken(answer, false, i))
	}
}

// taken is the answer to an operation of a branch; nil if that was not taken.
func taken(answer *pb.TxnResponse, branch bool, i int) *pb.ResponseOp {
	if answer == nil || answer.Succeeded != branch || i >= len(answer.Responses) {
		return nil
	}
	return answer.Responses[i]
}

func (t *etcdCost) op(op *pb.RequestOp, answer *pb.ResponseOp) {
	switch {
	case op.GetRequestPut() != nil:
		t.Puts++
		if answer != nil {
			t.KeysPut++
		}
	case op.GetRequestDeleteRange() != nil:
		t.Deletes++
		t.KeysDeleted += int(answer.GetResponseDeleteRange().GetDeleted())
	case op.GetRequestRange() != nil:
		t.Ranges++
	case op.GetRequestTxn() != nil:
		t.txn(op.GetRequestTxn(), answer.GetResponseTxn())
	}
}

// count reads a call and its answer; known is false for calls that are not about
// keys.
func count(method string, request, answer []byte) (t etcdCost, known bool, err error) {
	t = etcdCost{Requests: 1, Sent: len(request), Received: len(answer)}
	switch method {
	case pb.KV_Range_FullMethodName:
		t.Ranges++
	case pb.KV_Put_FullMethodName:
		t.Puts++
		t.KeysPut++
	case pb.KV_DeleteRange_FullMethodName:
		var resp pb.DeleteRangeResponse
		err = proto.Unmarshal(answer, &resp)
		t.Deletes++
		t.KeysDeleted += int(resp.Deleted)
	case pb.KV_Txn_FullMethodName:
		var req pb.TxnRequest
		var resp pb.TxnResponse
		err = errors.Join(proto.Unmarshal(request, &req), proto.Unmarshal(answer, &resp))
		t.txn(&req, &resp)
	default:
		return etcdCost{}, false, nil
	}
	return t, true, err
}

// door counts what a node asks of one member of etcd.
type door struct {
	*relay

	mu  sync.Mutex
	sum etcdCost // guarded by mu
	err error    // guarded by mu: of a message that could not be read
}

func openDoor(ctx context.Context, member string) (d *door, err error) {
	d = &door{}
	d.relay, err = newRelay(ctx, member, d.read)
	return d, err
}

// read notes a call about keys before its caller has the answer.
func (d *door) read(method string) (asked, answered func(message []byte)) {
	var request []byte // guarded by mu
	asked = func(message []byte) {
		d.mu.Lock()
		defer d.mu.Unlock()
		request = message
	}
	answered = func(message []byte) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if t, known, err := count(method, request, message); known {
			d.sum, d.err = d.sum.plus(t), errors.Join(d.err, err)
		}
	}
	return asked, answered
}

// seen is all that went through until now.
func (d *door) seen() (etcdCost, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sum, d.err
}
