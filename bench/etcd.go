package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// serveCommand makes this binary an etcd member: serve-etcd MEMBER as JSON.
const serveCommand = "serve-etcd"

// member is what such a process is told.
type member struct {
	Dir, Name, Client, Peer, Cluster string
	memberSettings
}

// memberSettings are those that not all measurements share; a zero one has its default.
type memberSettings struct {
	Quota      int64         // bytes; 8 GiB
	Compaction time.Duration // how much history is kept; 5 minutes
}

// serveEtcd is a member with fsync on and the defaults of etcd, but quota and
// compaction.
func serveEtcd(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: serve-etcd JSON")
	}
	var m member
	if err := json.Unmarshal([]byte(args[0]), &m); err != nil {
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
	c.Dir, c.Name, c.InitialCluster = m.Dir, m.Name, m.Cluster
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, cmp.Or(m.Compaction, 5*time.Minute).String()
	c.QuotaBackendBytes = cmp.Or(m.Quota, 8<<30)
	c.EnablePprof = true // /debug/pprof/ on the client address: to see where the time goes below us
	c.EnableGRPCGateway = false
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	server, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	defer server.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return err
	case <-stop:
		return nil
	}
	fmt.Println("ready")
	// The end of standard input is the end of the benchmark, however it ended.
	gone := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(gone)
	}()
	select {
	case err := <-server.Err():
		return err
	case <-stop:
	case <-gone:
	}
	return nil
}

// etcdCluster is etcd as separate processes.
type etcdCluster struct {
	endpoints []string
	processes []*exec.Cmd
	stdin     []func() error
	dir       string
}

// startEtcd starts members, each a process of this binary.
func startEtcd(ctx context.Context, members int, dir string, with memberSettings) (e *etcdCluster, err error) {
	e = &etcdCluster{}
	if e.dir, err = os.MkdirTemp(dir, "weft-bench-etcd-"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var names, peers []string
	for i := range members {
		client, err := freeURL(ctx)
		if err != nil {
			return nil, err
		}
		peer, err := freeURL(ctx)
		if err != nil {
			return nil, err
		}
		e.endpoints, peers = append(e.endpoints, client), append(peers, peer)
		names = append(names, fmt.Sprintf("m%d", i))
	}
	cluster := make([]string, members)
	for i := range cluster {
		cluster[i] = names[i] + "=" + peers[i]
	}
	ready := make(chan error, members)
	for i := range members {
		arg, err := json.Marshal(member{filepath.Join(e.dir, names[i]), names[i], e.endpoints[i], peers[i], strings.Join(cluster, ","), with})
		if err != nil {
			return nil, errors.Join(err, e.stop())
		}
		cmd := exec.Command(self, serveCommand, string(arg))
		cmd.Stderr = os.Stderr
		// What is tried out on the nodes is not to change etcd.
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GO") })
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, errors.Join(err, e.stop())
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, errors.Join(err, e.stop())
		}
		if err := cmd.Start(); err != nil {
			return nil, errors.Join(err, e.stop())
		}
		e.processes, e.stdin = append(e.processes, cmd), append(e.stdin, in.Close)
		go func() {
			_, err := bufio.NewReader(out).ReadString('\n')
			ready <- err
		}()
	}
	for range members {
		select {
		case err = <-ready:
		case <-time.After(30 * time.Second):
			err = errors.New("it is not ready after 30 s")
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start etcd: %w", err), e.stop())
		}
	}
	return e, nil
}

func freeURL(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return "http://" + l.Addr().String(), nil
}

func (e *etcdCluster) stop() error {
	for _, closeIn := range e.stdin {
		_ = closeIn()
	}
	for _, p := range e.processes {
		_ = p.Wait() // ended because it was told to
	}
	return os.RemoveAll(e.dir)
}

func dial(endpoints []string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, MaxUnaryRetries: 1, Logger: zap.NewNop()})
}
