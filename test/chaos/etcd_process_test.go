package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// memberEnv says that this process is to be a member of etcd, and which.
const memberEnv = "WEFT_CHAOS_ETCD_MEMBER"

// memberConfig is what a member has to know.
type memberConfig struct {
	Name, Dir, Client, Peer, Cluster string
	Quota                            int64
}

// beMember runs a member of etcd until it is killed.
func beMember(config string) error {
	var m memberConfig
	if err := json.Unmarshal([]byte(config), &m); err != nil {
		return err
	}
	client, err := url.Parse(m.Client)
	if err != nil {
		return err
	}
	peer, err := url.Parse(m.Peer)
	if err != nil {
		return err
	}
	c := embed.NewConfig()
	c.Name, c.Dir, c.InitialCluster = m.Name, m.Dir, m.Cluster
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.UnsafeNoFsync = true // a killed process loses nothing that it wrote
	c.QuotaBackendBytes = m.Quota
	c.GRPCKeepAliveMinTime = time.Second // the test's own clients ask more often
	c.LogLevel, c.Logger, c.LogOutputs = "warn", "zap", []string{"stderr"}
	server, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	return <-server.Err()
}

// electionTimeout is etcd's default.
const electionTimeout = time.Second

// quorum is an etcd of three processes, at addresses that no other process of
// this machine uses: a port must be free again when a member comes back.
type quorum struct {
	tb       testing.TB
	launcher *launcher
	members  [3]*etcdMember
}

type etcdMember struct {
	config memberConfig
	client *clientv3.Client // to this member only

	mu      sync.Mutex
	running *osProcess // guarded by mu
}

func (m *etcdMember) process() *osProcess {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running
}

// well reports whether the member runs and does not stand still.
func (m *etcdMember) well() bool {
	p := m.process()
	return p.alive() && !p.isStopped()
}

const (
	etcdQuota   = 192 << 20
	answersSoon = 500 * time.Millisecond // etcd, when it is well
)

func startQuorum(tb testing.TB, l *launcher, host string) *quorum {
	tb.Helper()
	q := &quorum{tb: tb, launcher: l}
	dir, cluster := tb.TempDir(), ""
	at := func(port int) string { return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) }
	for i := range q.members {
		name := fmt.Sprintf("etcd%d", i)
		q.members[i] = &etcdMember{config: memberConfig{
			Name: name, Dir: filepath.Join(dir, name), Quota: etcdQuota,
			Client: at(2379 + 10*i), Peer: at(2380 + 10*i),
		}}
		if i > 0 {
			cluster += ","
		}
		cluster += name + "=" + q.members[i].config.Peer
	}
	for _, m := range q.members {
		m.config.Cluster = cluster
		if err := q.run(m); err != nil {
			tb.Fatal(err)
		}
		m.client = dialEtcd(tb, m.config.Client)
	}
	tb.Cleanup(func() {
		for _, m := range q.members {
			m.process().kill()
		}
	})
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		ready := 0
		for _, m := range q.members {
			ctx, cancel := context.WithTimeout(tb.Context(), answersSoon)
			if _, err := m.client.Get(ctx, "hello"); err == nil {
				ready++
			}
			cancel()
		}
		if ready == len(q.members) {
			return q
		}
		if time.Since(began) > 60*time.Second {
			tb.Fatalf("etcd is not ready:\n%s", q.members[0].process().tail())
		}
	}
}

// run starts a member: anew, or again with its data.
func (q *quorum) run(m *etcdMember) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(m.config)
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), memberEnv+"="+string(raw))
	p, err := q.launcher.start(cmd, io.Discard, nil)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = p
	return nil
}

func (q *quorum) endpoints() []string {
	var all []string
	for _, m := range q.members {
		all = append(all, m.config.Client)
	}
	return all
}

// dialEtcd connects without faults.
func dialEtcd(tb testing.TB, endpoints ...string) *clientv3.Client {
	tb.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, MaxUnaryRetries: 1,
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second, Logger: zap.NewNop()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

var errNoLeader = errors.New("etcd has no leader")

// leader is the member that leads.
func (q *quorum) leader(ctx context.Context) (*etcdMember, error) {
	for _, m := range q.members {
		if !m.well() {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, answersSoon)
		st, err := m.client.Status(ctx, m.config.Client)
		cancel()
		if err == nil && st.Leader == st.Header.MemberId {
			return m, nil
		}
	}
	return nil, errNoLeader
}
