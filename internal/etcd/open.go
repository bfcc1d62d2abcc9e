package etcd

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

	"github.com/weft-run/weft/internal/certificate"
	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/undo"
	"github.com/weft-run/weft/pkg/cluster/etcdmembers"
	"github.com/weft-run/weft/pkg/metrics"
)

// Clients are the two ways to etcd: a client that keeps the session's lease
// alive and does nothing else, so that long lists and watches cannot delay a
// renewal, and one for everything else.
type Clients struct {
	Main, Lease *clientv3.Client
	watches     *clientv3.Client // of an embedded etcd; nil: main watches
	Endpoints   []string
	Ended       <-chan error               // the embedded etcd's end; nil if there is none
	Defragment  func() error               // of the embedded etcd; nil if there is none
	Disk        func() (disk.Space, error) // of the embedded etcd; nil if there is none
	Certificate *certificate.Own           // that is shown to etcd; nil if there is none
	// Members are those that main and lease keep off while they hang; nil for an
	// embedded etcd.
	Members, leaseMembers *etcdmembers.Members
}

// DefaultQuota bounds the embedded etcd's database; etcd advises not to go beyond
// MaxQuota.
const (
	DefaultQuota = 4 << 30
	MaxQuota     = 8 << 30
	MaxReserve   = 1 << 40
)

// Config says which etcd is opened. All of it has a value, but for what an etcd elsewhere or
// an embedded one has no use for.
type Config struct {
	DataDir            string   // of the embedded etcd
	Quota              int64    // of its database, in bytes; 0: DefaultQuota
	Reserve            int64    // what is kept free of its disk, in bytes
	Endpoints          []string // of one elsewhere; none: the embedded one
	CACert, Cert, Key  string   // PEM files
	User, PasswordFile string
	DialTimeout        time.Duration // for an etcd that does not answer
	Cluster            string
	SessionTTL         time.Duration
	Log                *slog.Logger
}

func (c Config) dir() string { return filepath.Join(c.DataDir, "etcd") }

// Open starts the embedded etcd or dials the configured one.
func Open(ctx context.Context, cfg Config, undo *undo.Steps, counts *metrics.Metrics) (Clients, error) {
	if len(cfg.Endpoints) > 0 {
		return dialEtcd(ctx, cfg, undo, counts)
	}
	return embedded(ctx, cfg, undo)
}

// snapshotEntries is how many entries of its log the embedded etcd keeps in memory, and after how many it writes a snapshot.
// etcd's own are 5,000, for members that are behind, and 10,000; here is one member.
const snapshotEntries = 500

func embedded(ctx context.Context, cfg Config, undo *undo.Steps) (_ Clients, err error) {
	defer func() { err = onFullDisk(cfg.DataDir, err) }()
	lock, err := lockDataDir(cfg.DataDir, undo)
	if err != nil {
		return Clients{}, err
	}
	c := embed.NewConfig()
	c.Name = "weft"
	c.Dir = cfg.dir()
	c.TickMs, c.ElectionMs = 10, 100 // one member: nobody to wait for
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, "5m"
	c.QuotaBackendBytes = cmp.Or(cfg.Quota, DefaultQuota)
	c.SnapshotCount, c.SnapshotCatchUpEntries = snapshotEntries, snapshotEntries
	c.EnableGRPCGateway = false
	quiet := &atomic.Bool{}
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger(cfg.Log, quiet))
	if err := readyDisk(cfg); err != nil {
		return Clients{}, err
	}
	// etcd asks nobody who they are, so it listens where only this user gets: for
	// etcdctl, since the node itself does not go through it. There are no peers; the
	// URL of the member is but its name, and in every data directory.
	socket, err := socketPath(cfg.DataDir, undo)
	if err != nil {
		return Clients{}, err
	}
	door, name := url.URL{Scheme: "unix", Path: socket}, url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	if err := noteSocket(lock, door.String()); err != nil {
		return Clients{}, err
	}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{door}, []url.URL{door}
	c.ListenPeerUrls, c.AdvertisePeerUrls = nil, []url.URL{name}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	server, err := embed.StartEtcd(c)
	if err != nil {
		return Clients{}, fmt.Errorf("start the embedded etcd in %s: %w", c.Dir, err)
	}
	undo.Add("embedded etcd", func(context.Context) error {
		quiet.Store(true)
		server.Close()
		return nil
	})
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return Clients{}, fmt.Errorf("start the embedded etcd in %s: %w", c.Dir, err)
	case <-ctx.Done():
		return Clients{}, fmt.Errorf("start the embedded etcd in %s: %w", c.Dir, context.Cause(ctx))
	}
	warnOfDisk(ctx, cfg, c.QuotaBackendBytes-server.Server.Backend().Size())
	cfg.Log.InfoContext(ctx, "embedded etcd started", slog.String("dir", c.Dir), slog.String("clientAddr", door.String()))
	clients := Clients{
		Main: v3client.New(server.Server), Lease: v3client.New(server.Server),
		Endpoints: []string{door.String()}, Ended: server.Err(),
		// Not through the client: in this process that panics in etcd 3.7.3, which
		// has no health check to notify then.
		Defragment: func() error {
			if err := roomToDefragment(cfg.dir(), cfg.Reserve, server.Server.Backend().SizeInUse()); err != nil {
				return err
			}
			return server.Server.Backend().Defrag()
		},
		Disk: func() (disk.Space, error) { return watchDisk(cfg.dir(), cfg.Reserve) },
	}
	undo.Add("etcd clients", func(context.Context) error { return clients.close() })
	// Watches share a stream, and that of a client in this process has no buffers: when
	// some twenty watches end at once, client and server wait for each other for ever.
	clients.watches, err = clientv3.New(clientv3.Config{Endpoints: clients.Endpoints, Logger: logger(cfg.Log, quiet)})
	if err != nil {
		return Clients{}, fmt.Errorf("connect to the embedded etcd at %s: %w", door.String(), err)
	}
	clients.Main.Watcher = clients.watches.Watcher
	return clients, nil
}

const socketName = "etcd.sock"

// socketPath is where the embedded etcd listens: in the data directory, or in a
// directory of its own if that has too long a path for a socket. Both are closed to
// other users, however the data directory was made.
func socketPath(dataDir string, undo *undo.Steps) (string, error) {
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
		undo.Add("directory of etcd's socket", func(context.Context) error { return os.RemoveAll(dir) })
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a directory for etcd's socket: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("close the directory of etcd's socket to other users: %w", err)
	}
	return filepath.Join(dir, socketName), nil
}

func dialEtcd(ctx context.Context, cfg Config, undo *undo.Steps, counts *metrics.Metrics) (Clients, error) {
	dial := clientv3.Config{
		Endpoints:   cfg.Endpoints,
		DialTimeout: min(etcdTry, cfg.DialTimeout),
		// gRPC asks no sooner, and etcd refuses to be asked much sooner: members that
		// hang are noticed by etcdmembers.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		// A client that repeats a mutation on its own reports an applied
		// transaction as refused.
		MaxUnaryRetries: 1,
		Username:        cfg.User,
		Logger:          logger(cfg.Log, &atomic.Bool{}),
	}
	if cfg.User != "" {
		renewTokens(&dial)
	}
	clients := Clients{Endpoints: cfg.Endpoints}
	var err error
	if dial.TLS, clients.Certificate, err = tlsConfig(ctx, cfg); err != nil {
		return Clients{}, err
	}
	if cfg.PasswordFile != "" {
		password, err := os.ReadFile(cfg.PasswordFile)
		if err != nil {
			return Clients{}, fmt.Errorf("read etcd-password-file: %w", err)
		}
		dial.Password = strings.TrimRight(string(password), "\r\n")
	}
	clients.Members = etcdmembers.New(etcdmembers.Config{SessionTTL: cfg.SessionTTL, Log: cfg.Log, Metrics: counts})
	// What it sees is what the other one tells.
	clients.leaseMembers = etcdmembers.New(etcdmembers.Config{SessionTTL: cfg.SessionTTL, Log: slog.New(slog.DiscardHandler)})
	undo.Add("etcd clients", func(context.Context) error { return clients.close() })
	deadline := time.Now().Add(cfg.DialTimeout)
	err = Patiently(ctx, cfg, func(ctx context.Context) error {
		tctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return accessError(ctx, cfg.Endpoints[0], dial.TLS, clients.reach(tctx, cfg.Cluster, dial))
	})
	if err != nil {
		return Clients{}, fmt.Errorf("etcd at %s did not answer within %v: %w", strings.Join(cfg.Endpoints, ", "), cfg.DialTimeout, err)
	}
	return clients, nil
}

// reach makes the clients that are not there yet. They connect in the background,
// but with a user, who is authenticated at once; so it asks for something, that an
// etcd that is away is noticed now.
func (c *Clients) reach(ctx context.Context, name string, dial clientv3.Config) (err error) {
	for _, one := range []struct {
		client  **clientv3.Client
		members *etcdmembers.Members
	}{{&c.Main, c.Members}, {&c.Lease, c.leaseMembers}} {
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
	_, err = c.Main.Get(ctx, "/weft/"+name+"/meta/hello", clientv3.WithCountOnly())
	return err
}

func (c Clients) close() error {
	for _, m := range []*etcdmembers.Members{c.Members, c.leaseMembers} {
		if m != nil {
			m.Close()
		}
	}
	var errs []error
	for _, client := range []*clientv3.Client{c.Lease, c.Main, c.watches} {
		if client == nil {
			continue
		}
		if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
