package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
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

// door stands between a node and one member of etcd, and counts what goes through.
type door struct {
	url    string
	member *grpc.ClientConn
	server *grpc.Server
	served chan error

	mu  sync.Mutex
	sum etcdCost // guarded by mu
	err error    // guarded by mu: of a message that could not be read
}

func openDoor(ctx context.Context, member string) (*door, error) {
	conn, err := grpc.NewClient(strings.TrimPrefix(member, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(asItIs{}), grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	d := &door{url: "http://" + l.Addr().String(), member: conn, served: make(chan error, 1)}
	d.server = grpc.NewServer(grpc.ForceServerCodec(asItIs{}), grpc.MaxRecvMsgSize(64<<20), grpc.UnknownServiceHandler(d.pass))
	go func() { d.served <- d.server.Serve(l) }()
	return d, nil
}

func (d *door) close() error {
	d.server.Stop()
	return errors.Join(<-d.served, d.member.Close())
}

// seen is all that went through until now.
func (d *door) seen() (etcdCost, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sum, d.err
}

// pass carries one call.
func (d *door) pass(_ any, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	md, _ := metadata.FromIncomingContext(in.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(in.Context(), md.Copy()))
	defer cancel()
	if strings.HasPrefix(method, "/etcdserverpb.KV/") {
		return d.call(ctx, method, in)
	}
	out, err := d.member.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() { // ends with the call: in ends when pass returns
		if errors.Is(carry(in, out), io.EOF) {
			_ = out.CloseSend() // if it is not open any more the answers end too
		}
	}()
	if err := carry(out, in); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// call carries a call about keys, and counts it before its caller has the answer.
func (d *door) call(ctx context.Context, method string, in grpc.ServerStream) error {
	var request, answer []byte
	if err := in.RecvMsg(&request); err != nil {
		return err
	}
	if err := d.member.Invoke(ctx, method, &request, &answer); err != nil {
		return err
	}
	t, known, err := count(method, request, answer)
	d.mu.Lock()
	if known {
		d.sum = d.sum.plus(t)
	}
	d.err = errors.Join(d.err, err)
	d.mu.Unlock()
	return in.SendMsg(&answer)
}

// carry moves messages until there are no more: io.EOF.
func carry(from interface{ RecvMsg(m any) error }, to interface{ SendMsg(m any) error }) error {
	for {
		var m []byte
		if err := from.RecvMsg(&m); err != nil {
			return err
		}
		if err := to.SendMsg(&m); err != nil {
			return err
		}
	}
}

// asItIs leaves messages as they are.
type asItIs struct{}

func (asItIs) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (asItIs) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (asItIs) Name() string { return "proto" }
