package clustertest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/groupcommit"
)

// Etcd is an embedded etcd of one member.
type Etcd struct {
	config  *embed.Config
	dir     string
	mu      sync.Mutex
	server  *embed.Etcd // guarded by mu
	clients []string
}

// Option changes how etcd is started.
type Option func(*embed.Config)

// Election sets the election timeout, which is 100 ms otherwise. The smallest
// TTL that etcd grants is one and a half of it, rounded up to a second.
func Election(d time.Duration) Option {
	return func(c *embed.Config) { c.ElectionMs = uint(d.Milliseconds()) }
}

// At starts etcd on the data in dir, such as a restored snapshot, at the client
// address that another etcd had: endpoint is one of its [Etcd.Endpoints]. The
// directory stays when it ends.
func At(dir, endpoint string) Option {
	return func(c *embed.Config) {
		c.Dir = dir
		if u, err := url.Parse(endpoint); err == nil { // etcd says it if not
			c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*u}, []url.URL{*u}
		}
	}
}

// Start starts an etcd that ends with the test.
func Start(tb testing.TB, options ...Option) *Etcd {
	tb.Helper()
	e, err := start(options...)
	if err != nil {
		tb.Fatalf("clustertest: start etcd: %v", err)
	}
	tb.Cleanup(e.Stop)
	return e
}

func start(options ...Option) (*Etcd, error) {
	dir, err := os.MkdirTemp("", "weft-etcd-")
	if err != nil {
		return nil, err
	}
	c := embed.NewConfig()
	c.Dir = dir
	c.TickMs, c.ElectionMs = 10, 100
	c.UnsafeNoFsync = true
	c.SnapshotCount, c.SnapshotCatchUpEntries = fewEntries, fewEntries
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{free}, []url.URL{free}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{free}, []url.URL{free}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	for _, o := range options {
		o(c)
	}
	e := &Etcd{config: c, dir: dir}
	if err := e.run(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return e, nil
}

// fewEntries is how many entries of its log etcd keeps in memory: by itself it keeps 10,000 and more, which is
// gigabytes where tests write large instances to ten etcds at a time.
const fewEntries = 500

func (e *Etcd) run() error {
	server, err := embed.StartEtcd(e.config)
	if err != nil {
		return err
	}
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		server.Close()
		return fmt.Errorf("not ready: %w", err)
	case <-time.After(30 * time.Second):
		server.Close()
		return fmt.Errorf("not ready after 30 s")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server = server
	e.clients = nil
	for _, l := range server.Clients {
		e.clients = append(e.clients, e.config.ListenClientUrls[0].Scheme+"://"+l.Addr().String())
	}
	return nil
}

// Restart stops etcd and starts it again with the same data and the same client
// address: for leases the effect is that of a change of leader.
func (e *Etcd) Restart(tb testing.TB) {
	tb.Helper()
	u, err := url.Parse(e.Endpoints()[0])
	if err != nil {
		tb.Fatal(err)
	}
	e.mu.Lock()
	server := e.server
	e.mu.Unlock()
	server.Close()
	c := *e.config
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*u}, []url.URL{*u}
	e.config = &c
	if err := e.run(); err != nil {
		tb.Fatalf("clustertest: restart etcd: %v", err)
	}
}

// Stop ends etcd before the test does, with all of its data.
func (e *Etcd) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server == nil {
		return
	}
	e.server.Close()
	e.server = nil
	os.RemoveAll(e.dir)
}

// Endpoints are the addresses for clients.
func (e *Etcd) Endpoints() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.clients...)
}

// Client dials etcd as a node does. The client is closed with the test.
func (e *Etcd) Client(tb testing.TB) *clientv3.Client {
	tb.Helper()
	return dial(tb, e.Endpoints()...)
}

func dial(tb testing.TB, endpoints ...string) *clientv3.Client {
	tb.Helper()
	c, err := open(endpoints)
	if err != nil {
		tb.Fatalf("clustertest: dial etcd: %v", err)
	}
	tb.Cleanup(func() { c.Close() })
	if os.Getenv(GroupCommitEnv) != "" {
		group := groupcommit.New(groupcommit.Config{KV: c.KV})
		tb.Cleanup(group.Close)
		c.KV = group
	}
	return c
}

func open(endpoints []string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints:            endpoints,
		DialTimeout:          5 * time.Second,
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		// A repeated mutation is reported as refused although it was applied.
		MaxUnaryRetries: 1,
		Logger:          zap.NewNop(),
	})
}

// GroupCommitEnv names the environment variable that puts group commit in front
// of every client of every test, if it is not empty: what holds without it has to
// hold with it. [Faults] then spoil the shared proposals, with all that they hold.
const GroupCommitEnv = "WEFT_TEST_GROUP_COMMIT"

var shared struct {
	sync.Mutex
	etcd *Etcd
}

// Shared is the one etcd of this test binary, started when it is first asked
// for. Run it down with [Run] or [StopShared]. Use it with [Namespace].
func Shared(tb testing.TB) *Etcd {
	tb.Helper()
	e, err := sharedEtcd()
	if err != nil {
		tb.Fatalf("clustertest: start the shared etcd: %v", err)
	}
	return e
}

func sharedEtcd() (*Etcd, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.etcd == nil {
		e, err := start()
		if err != nil {
			return nil, err
		}
		shared.etcd = e
	}
	return shared.etcd, nil
}

// Example runs an example, which has no [testing.TB], with a client of the shared
// etcd and the name of a cluster that is nobody else's. What fails is printed, so
// that the example's output is not what it should be.
func Example(example func(ctx context.Context, etcd *clientv3.Client, cluster string) error) {
	err := func() error {
		e, err := sharedEtcd()
		if err != nil {
			return err
		}
		c, err := open(e.Endpoints())
		if err != nil {
			return err
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return example(ctx, c, fmt.Sprintf("example-%d", namespaces.Add(1)))
	}()
	if err != nil {
		fmt.Println("failed:", err)
	}
}

// StopShared stops the shared etcd if there is one.
func StopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.etcd != nil {
		shared.etcd.Stop()
		shared.etcd = nil
	}
}

// Run runs the tests of a package, eight or more at a time, and stops the shared etcd: use it in TestMain.
func Run(m *testing.M) int {
	testsize.Waiting()
	testsize.Roomy()
	defer StopShared()
	return m.Run()
}

// RunClean is Run, and fails if tests that pass leave goroutines behind, but for those that
// an option names.
func RunClean(m *testing.M, but ...goleak.Option) int {
	code := Run(m)
	http.DefaultClient.CloseIdleConnections()
	if code == 0 {
		err := goleak.Find(but...)
		for range 10 {
			if err == nil || !members.Load() {
				break
			}
			err = goleak.Find(but...) // which waits a second or two
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left:", err)
			return 1
		}
	}
	return code
}

var namespaces atomic.Int64

// Namespace is a cluster name that no other test of this binary has.
func Namespace(tb testing.TB) string {
	tb.Helper()
	return fmt.Sprintf("test-%d", namespaces.Add(1))
}
