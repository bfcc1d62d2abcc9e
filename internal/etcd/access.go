package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/certificate"
)

// renewTokens lets the client repeat a request that was refused because its token
// has expired. It gets another token by itself, but with a single try it has none
// left to use it. A refusal for the token is definite, so repeating is safe. With
// more than one try the client also repeats mutations that a server answered with
// Canceled or DeadlineExceeded, and which may have been applied: those answers are
// renamed below it, and stay what they are for us: unknown.
func renewTokens(c *clientv3.Config) {
	// Another request may spoil the token again, as a change of users does.
	c.MaxUnaryRetries = 3
	c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			err := invoke(ctx, method, req, reply, cc, opts...)
			if s, ok := status.FromError(err); ok && ctx.Err() == nil && (s.Code() == codes.Canceled || s.Code() == codes.DeadlineExceeded) {
				return status.Error(codes.Unknown, s.Code().String()+" at the server: "+s.Message())
			}
			return err
		}))
}

// tlsConfig is nil unless a file was given or an endpoint is https. own is what the node shows to etcd; nil for nothing.
func tlsConfig(ctx context.Context, cfg Config) (t *tls.Config, own *certificate.Own, err error) {
	secure := cfg.CACert != "" || cfg.Cert != ""
	for _, e := range cfg.Endpoints {
		secure = secure || strings.HasPrefix(e, "https://")
	}
	if !secure {
		return nil, nil, nil
	}
	t = &tls.Config{MinVersion: tls.VersionTLS12}
	if t.RootCAs, err = certificate.Authorities("etcd-cacert", cfg.CACert); err != nil {
		return nil, nil, err
	}
	if cfg.Cert == "" {
		return t, nil, nil
	}
	if own, err = certificate.Open(ctx, "etcd-cert and etcd-key", cfg.Cert, cfg.Key, cfg.Log, nil); err != nil {
		return nil, nil, err
	}
	// Looked at for each connection, so that a renewed certificate counts.
	t.GetClientCertificate = func(r *tls.CertificateRequestInfo) (*tls.Certificate, error) { return own.Fresh(r.Context()), nil }
	return t, own, nil
}

// accessError adds to an error what a connection of our own tells: the client says
// only that time is over.
func accessError(ctx context.Context, endpoint string, secure *tls.Config, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, addr, ok := strings.Cut(endpoint, "://")
	if !ok {
		addr = endpoint
	}
	if secure == nil {
		conn, why := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if why != nil {
			return fmt.Errorf("%w: %w", err, why)
		}
		return errors.Join(err, conn.Close())
	}
	own := secure.Clone()
	own.NextProtos = []string{"h2"}
	conn, why := (&tls.Dialer{Config: own}).DialContext(ctx, "tcp", addr)
	if why != nil {
		return fmt.Errorf("%w: %w", err, why)
	}
	defer conn.Close()
	// What the server says of our certificate comes after the handshake.
	_ = conn.SetReadDeadline(time.Now().Add(time.Second)) // the read below tells
	if _, why = conn.Read(make([]byte, 1)); why != nil && !errors.Is(why, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", err, why)
	}
	return err
}
