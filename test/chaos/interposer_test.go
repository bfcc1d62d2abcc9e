package chaos

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// trap waits for one transaction of a node and holds it, so that something can
// happen to the node at exactly this point.
type trap struct {
	match func(*pb.TxnRequest) bool
	after bool          // hold the answer; otherwise the request
	late  bool          // a held request reaches etcd when the trap is opened, also without its sender
	hit   chan struct{} // closed when it holds something
	open  chan struct{} // closed by the test
	sent  atomic.Bool   // the late request was sent
}

func newTrap(match func(*pb.TxnRequest) bool, after, late bool) *trap {
	return &trap{match: match, after: after, late: late, hit: make(chan struct{}), open: make(chan struct{})}
}

// interposer stands between a node and the members of etcd. It understands
// transactions; everything else passes.
type interposer struct{ armed atomic.Pointer[trap] }

// listen serves one member's place, and gives its address.
func (i *interposer) listen(tb testing.TB, listen, member string) string {
	tb.Helper()
	conn, err := grpc.NewClient(member, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{}), grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		tb.Fatal(err)
	}
	s := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}), grpc.MaxRecvMsgSize(64<<20),
		grpc.UnknownServiceHandler(func(_ any, in grpc.ServerStream) error { return i.pass(conn, in) }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	tb.Cleanup(func() {
		s.Stop()
		_ = conn.Close()
		<-done
	})
	return l.Addr().String()
}

// pass carries one call.
func (i *interposer) pass(conn *grpc.ClientConn, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	md, _ := metadata.FromIncomingContext(in.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(in.Context(), md.Copy()))
	defer cancel()
	if method == pb.KV_Txn_FullMethodName {
		return i.txn(ctx, conn, in)
	}
	out, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	up := make(chan error, 1)
	go func() {
		for {
			var m []byte
			if err := in.RecvMsg(&m); err != nil {
				if errors.Is(err, io.EOF) {
					err = out.CloseSend()
				}
				up <- err
				return
			}
			if err := out.SendMsg(&m); err != nil {
				up <- err
				return
			}
		}
	}()
	for {
		var m []byte
		if err := out.RecvMsg(&m); err != nil {
			cancel()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := in.SendMsg(&m); err != nil {
			return err
		}
	}
}

// txn carries a transaction, unless a trap is set for it.
func (i *interposer) txn(ctx context.Context, conn *grpc.ClientConn, in grpc.ServerStream) error {
	var raw, answer []byte
	if err := in.RecvMsg(&raw); err != nil {
		return err
	}
	t := i.armed.Load()
	if t != nil {
		var req pb.TxnRequest
		if err := proto.Unmarshal(raw, &req); err != nil {
			return status.Error(codes.Internal, err.Error())
		}
		if !t.match(&req) {
			t = nil
		}
	}
	if t != nil && !t.after && i.armed.CompareAndSwap(t, nil) {
		close(t.hit)
		if !t.wait(ctx) && t.late {
			// Its sender is dead; what it sent was on the way.
			<-t.open
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			t.sent.Store(conn.Invoke(ctx, pb.KV_Txn_FullMethodName, &raw, &answer) == nil)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := conn.Invoke(ctx, pb.KV_Txn_FullMethodName, &raw, &answer); err != nil {
		return err
	}
	if t != nil && t.after && i.armed.CompareAndSwap(t, nil) {
		close(t.hit)
		t.wait(ctx)
	}
	return in.SendMsg(&answer)
}

// wait waits for the trap to be opened; false if the caller is gone before.
func (t *trap) wait(ctx context.Context) bool {
	select {
	case <-t.open:
		return true
	case <-ctx.Done():
		return false
	}
}

// puts reports whether a transaction writes a key with this part in its name.
func puts(req *pb.TxnRequest, part string) bool {
	for _, ops := range [][]*pb.RequestOp{req.Success, req.Failure} {
		for _, op := range ops {
			if put := op.GetRequestPut(); put != nil && strings.Contains(string(put.Key), part) {
				return true
			}
			if inner := op.GetRequestTxn(); inner != nil && puts(inner, part) {
				return true
			}
		}
	}
	return false
}

// rawCodec leaves messages as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string { return "proto" }
