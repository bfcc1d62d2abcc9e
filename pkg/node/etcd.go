package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"

	"github.com/weft-run/weft/pkg/cluster/etcdmembers"
	"github.com/weft-run/weft/pkg/metrics"
)

// etcdClients are the two ways to etcd: a client that keeps the session's lease
// alive and does nothing else, so that long lists and watches cannot delay a
// renewal, and one for everything else.
type etcdClients struct {
	main, lease *clientv3.Client
	watches     *clientv3.Client // of an embedded etcd; nil: main watches
	endpoints   []string
	ended       <-chan error // the embedded etcd's end; nil if there is none
	defragment  func() error // of the embedded etcd; nil if there is none
	certificate *certificate // that is shown to etcd; nil if there is none
	// members are those that main and lease keep off while they hang; nil for an
	// embedded etcd.
	members, leaseMembers *etcdmembers.Members
}

// defaultQuota bounds the embedded etcd's database; etcd advises not to go beyond
// maxQuota.
const (
	defaultQuota = 4 << 30
	maxQuota     = 8 << 30
)

// openEtcd starts the embedded etcd or dials the configured one.
func openEtcd(ctx context.Context, cfg Config, undo *cleanups, counts *metrics.Metrics) (etcdClients, error) {
	if len(cfg.EtcdEndpoints) > 0 {
		return dialEtcd(ctx, cfg, undo, counts)
	}
	return embedEtcd(ctx, cfg, undo)
}

func embedEtcd(ctx context.Context, cfg Config, undo *cleanups) (etcdClients, error) {
	lock, err := lockDataDir(cfg.DataDir, undo)
	if err != nil {
		return etcdClients{}, err
	}
	c := embed.NewConfig()
	c.Name = "weft"
	c.Dir = cfg.etcdDir()
	c.TickMs, c.ElectionMs = 10, 100 // one member: nobody to wait for
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, "5m"
	c.QuotaBackendBytes = cmp.Or(cfg.EtcdQuota, defaultQuota)
	c.EnableGRPCGateway = false
	quiet := &atomic.Bool{}
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(etcdLogger(cfg.Logger, quiet))
	// etcd asks nobody who they are, so it listens where only this user gets: for
	// etcdctl, since the node itself does not go through it. There are no peers; the
	// URL of the member is but its name, and in every data directory.
	socket, err := socketPath(cfg.DataDir, undo)
	if err != nil {
		return etcdClients{}, err
	}
	door, name := url.URL{Scheme: "unix", Path: socket}, url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	if err := noteSocket(lock, door.String()); err != nil {
		return etcdClients{}, err
	}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{door}, []url.URL{door}
	c.ListenPeerUrls, c.AdvertisePeerUrls = nil, []url.URL{name}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	server, err := embed.StartEtcd(c)
	if err != nil {
		return etcdClients{}, fmt.Errorf("start the embedded etcd in %s: %w", c.Dir, err)
	}
	undo.add("embedded etcd", func(context.Context) error {
		quiet.Store(true)
		server.Close()
		return nil
	})
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return etcdClients{}, fmt.Errorf("start the embedded etcd in %s: %w", c.Dir, err)
	case <-ctx.Done():
		return etcdClients{}, fmt.Errorf("start the embedded etcd in %s: %w", c.Dir, context.Cause(ctx))
	}
	cfg.Logger.InfoContext(ctx, "embedded etcd started", slog.String("dir", c.Dir), slog.String("clientAddr", door.String()))
	clients := etcdClients{
		main: v3client.New(server.Server), lease: v3client.New(server.Server),
		endpoints: []string{door.String()}, ended: server.Err(),
		// Not through the client: in this process that panics in etcd 3.7.3, which
		// has no health check to notify then.
		defragment: server.Server.Backend().Defrag,
	}
	undo.add("etcd clients", func(context.Context) error { return clients.close() })
	// Watches share a stream, and that of a client in this process has no buffers: when
	// some twenty watches end at once, client and server wait for each other for ever.
	clients.watches, err = clientv3.New(clientv3.Config{Endpoints: clients.endpoints, Logger: etcdLogger(cfg.Logger, quiet)})
	if err != nil {
		return etcdClients{}, fmt.Errorf("connect to the embedded etcd at %s: %w", door.String(), err)
	}
	clients.main.Watcher = clients.watches.Watcher
	return clients, nil
}

const socketName = "etcd.sock"

// socketPath is where the embedded etcd listens: in the data directory, or in a
// directory of its own if that has too long a path for a socket. Both are closed to
// other users, however the data directory was made.
func socketPath(dataDir string, undo *cleanups) (string, error) {
	const most = 103 // bytes, the least that any system takes
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	dir = filepath.Join(dir, "run")
	if len(filepath.Join(dir, socketName)) > most {
		if dir, err = os.MkdirTemp("", "weft-"); err != nil {
			return "", fmt.Errorf("make a directory for etcd's socket, since the path of the data directory is too long for one: %w", err)
		}
		undo.add("directory of etcd's socket", func(context.Context) error { return os.RemoveAll(dir) })
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a directory for etcd's socket: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("close the directory of etcd's socket to other users: %w", err)
	}
	return filepath.Join(dir, socketName), nil
}

func dialEtcd(ctx context.Context, cfg Config, undo *cleanups, counts *metrics.Metrics) (etcdClients, error) {
	dial := clientv3.Config{
		Endpoints:   cfg.EtcdEndpoints,
		DialTimeout: min(etcdTry, cfg.EtcdDialTimeout),
		// gRPC asks no sooner, and etcd refuses to be asked much sooner: members that
		// hang are noticed by etcdmembers.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		// A client that repeats a mutation on its own reports an applied
		// transaction as refused.
		MaxUnaryRetries: 1,
		Username:        cfg.EtcdUser,
		Logger:          etcdLogger(cfg.Logger, &atomic.Bool{}),
	}
	if cfg.EtcdUser != "" {
		renewTokens(&dial)
	}
	clients := etcdClients{endpoints: cfg.EtcdEndpoints}
	var err error
	if dial.TLS, clients.certificate, err = etcdTLS(ctx, cfg); err != nil {
		return etcdClients{}, err
	}
	if cfg.EtcdPasswordFile != "" {
		password, err := os.ReadFile(cfg.EtcdPasswordFile)
		if err != nil {
			return etcdClients{}, fmt.Errorf("read etcd-password-file: %w", err)
		}
		dial.Password = strings.TrimRight(string(password), "\r\n")
	}
	clients.members = etcdmembers.New(etcdmembers.Config{SessionTTL: cfg.SessionTTL, Log: cfg.Logger, Metrics: counts})
	// What it sees is what the other one tells.
	clients.leaseMembers = etcdmembers.New(etcdmembers.Config{SessionTTL: cfg.SessionTTL, Log: slog.New(slog.DiscardHandler)})
	undo.add("etcd clients", func(context.Context) error { return clients.close() })
	deadline := time.Now().Add(cfg.EtcdDialTimeout)
	err = patiently(ctx, cfg, func(ctx context.Context) error {
		tctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return accessError(ctx, cfg.EtcdEndpoints[0], dial.TLS, clients.reach(tctx, cfg.Cluster, dial))
	})
	if err != nil {
		return etcdClients{}, fmt.Errorf("etcd at %s did not answer within %v: %w", strings.Join(cfg.EtcdEndpoints, ", "), cfg.EtcdDialTimeout, err)
	}
	return clients, nil
}

// reach makes the clients that are not there yet. They connect in the background,
// but with a user, who is authenticated at once; so it asks for something, that an
// etcd that is away is noticed now.
func (c *etcdClients) reach(ctx context.Context, name string, dial clientv3.Config) (err error) {
	for _, one := range []struct {
		client  **clientv3.Client
		members *etcdmembers.Members
	}{{&c.main, c.members}, {&c.lease, c.leaseMembers}} {
		if *one.client != nil {
			continue
		}
		own := dial
		own.DialOptions = slices.Concat(dial.DialOptions, one.members.DialOptions())
		if *one.client, err = clientv3.New(own); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dial.DialTimeout)
	defer cancel()
	_, err = c.main.Get(ctx, "/weft/"+name+"/meta/hello", clientv3.WithCountOnly())
	return err
}

func (c etcdClients) close() error {
	for _, m := range []*etcdmembers.Members{c.members, c.leaseMembers} {
		if m != nil {
			m.Close()
		}
	}
	var errs []error
	for _, client := range []*clientv3.Client{c.lease, c.main, c.watches} {
		if client == nil {
			continue
		}
		if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// watchEtcd ends the node if its embedded etcd ends by itself.
func (n *Node) watchEtcd(clients etcdClients) {
	if clients.ended == nil {
		return
	}
	n.part("watch over the embedded etcd", func(ctx context.Context) error {
		select {
		case err, ok := <-clients.ended:
			if !ok {
				<-ctx.Done()
				return nil
			}
			return err
		case <-ctx.Done():
			return nil
		}
	})
}
