package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
)

// relay stands between nodes and one member of etcd, hands everything on, and lets
// somebody read along.
type relay struct {
	URL string

	member *grpc.ClientConn
	server *grpc.Server
	served chan error
	listen listener
}

// listener is asked for each call who reads its messages, each before it is handed
// on. Those to etcd and those from it come from different goroutines.
type listener func(method string) (asked, answered func(message []byte))

// newRelay starts a relay in front of a member.
func newRelay(ctx context.Context, member string, listen listener) (*relay, error) {
	const largest = 64 << 20
	r := &relay{served: make(chan error, 1), listen: listen}
	var err error
	if r.member, err = grpc.NewClient(strings.TrimPrefix(member, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(asIs{}), grpc.MaxCallRecvMsgSize(largest))); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, r.member.Close())
	}
	r.URL = "http://" + l.Addr().String()
	r.server = grpc.NewServer(grpc.ForceServerCodecV2(asIs{}), grpc.MaxRecvMsgSize(largest), grpc.UnknownServiceHandler(r.pass),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
	go func() { r.served <- r.server.Serve(l) }()
	return r, nil
}

func (r *relay) close() error {
	r.server.Stop()
	return errors.Join(<-r.served, r.member.Close())
}

// pass hands one call on, unary or not.
func (r *relay) pass(_ any, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	asked, answered := r.listen(method)
	ctx, cancel := context.WithCancel(in.Context())
	defer cancel()
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, md)
	}
	out, err := r.member.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		return err
	}
	go func() { // ends with the call: gRPC ends its stream
		for {
			var message []byte
			if err := in.RecvMsg(&message); err != nil {
				_ = out.CloseSend()
				return
			}
			asked(message)
			if out.SendMsg(&message) != nil {
				return
			}
		}
	}()
	for {
		var message []byte
		if err = out.RecvMsg(&message); err != nil {
			break
		}
		answered(message)
		if err = in.SendMsg(&message); err != nil {
			break
		}
	}
	in.SetTrailer(out.Trailer())
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// asIs hands messages on as the bytes that they are.
type asIs struct{}

func (asIs) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (asIs) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (asIs) Name() string { return "proto" }
