package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/polltest"
)

// failing is a KV and a lease of which some calls fail with an error.
type failing struct {
	clientv3.KV
	clientv3.Lease
	err atomic.Pointer[error]
}

func (f *failing) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := f.err.Load(); err != nil {
		return nil, *err
	}
	return f.KV.Get(ctx, key, opts...)
}

func (f *failing) KeepAliveOnce(ctx context.Context, lease clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if err := f.err.Load(); err != nil {
		return nil, *err
	}
	return f.Lease.KeepAliveOnce(ctx, lease)
}

// lines may be written while they are read.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// What a node that lost its session says to strangers names no address and no other
// node; its log has the cause.
func TestReadinessNamesNoAddress(t *testing.T) {
	const secret = "10.1.2.3"
	dial := `connection error: desc = "transport: Error while dialing: dial tcp ` + secret + `:2379: connect: connection refused"`
	for _, c := range []struct {
		name  string
		err   error // of reads, and of the first renewal
		rival bool  // a local node has come meanwhile
		want  string
	}{
		{"unreachable", status.Error(codes.Unavailable, dial), false, "etcd does not answer"},
		{"something else", errors.New("proxy " + secret + " is ill"), false, "etcd does not answer"},
		{"slow", context.DeadlineExceeded, false, "etcd does not answer"},
		{"refused", rpctypes.ErrPermissionDenied, false, "etcd refuses a new one"},
		{"a rival", nil, true, "another live node is in the way of a new one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var log lines
			var f failing
			s := w.open("a", ttl(2*time.Second), func(cfg *Config) {
				f.KV, f.Lease = cfg.Client.KV, cfg.Client.Lease
				cfg.Client.KV, cfg.Client.Lease = &f, &f
				cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil))
			})
			cause := secret
			if c.rival {
				raw, err := json.Marshal(Node{ID: "intruder", Address: secret + ":8080", Mode: ModeLocal})
				if err != nil {
					t.Fatal(err)
				}
				w.put(s.nodesPrefix()+"intruder", string(raw))
				w.revoke(s.Epoch().Lease)
			} else {
				f.err.Store(&c.err)
				cause = strings.Trim(c.err.Error(), `"`)[:20]
			}
			w.start(s)
			polltest.Eventually(t, "it says why", func() bool {
				err := s.Ready()
				if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "intruder")) {
					t.Fatalf("it says to strangers: %v", err)
				}
				return err != nil && strings.HasSuffix(err.Error(), ": "+c.want) && errors.Is(err, ErrSessionLost)
			})
			polltest.Eventually(t, "the log has the cause", func() bool { return strings.Contains(log.String(), cause) })
			if !c.rival {
				f.err.Store(nil)
				polltest.Eventually(t, "it is ready again", func() bool { return s.Ready() == nil })
			}
		})
	}
}
