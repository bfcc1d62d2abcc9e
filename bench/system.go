package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/catalog"
	"github.com/weft-run/weft/pkg/node"
)

// setup is one combination of what surrounds the workloads.
type setup struct {
	Etcd      string `json:"etcd"`
	Transport string `json:"transport"`
	Group     string `json:"groupCommit"`
	Nodes     int    `json:"nodes"`
}

func (s setup) String() string {
	return fmt.Sprintf("etcd %s, %d node(s), %s, group commit %s", s.Etcd, s.Nodes, s.Transport, s.Group)
}

// system is etcd and nodes, running.
type system struct {
	setup     setup
	endpoints []string
	pids      []int
	client    *clientv3.Client
	nodes     []*node.Node
	target    target
	undo      []func() error
}

func (s *system) close() error {
	var errs []error
	for i := len(s.undo) - 1; i >= 0; i-- {
		errs = append(errs, s.undo[i]())
	}
	return errors.Join(errs...)
}

// start starts everything, with a fresh etcd.
func (s setup) start(ctx context.Context, o options) (*system, error) {
	sys := &system{setup: s, endpoints: o.endpoints}
	if err := sys.open(ctx, o); err != nil {
		return nil, errors.Join(err, sys.close())
	}
	return sys, nil
}

func (s *system) open(ctx context.Context, o options) error {
	members := map[string]int{"one": 1, "three": 3, "embedded": 0, "given": 0}
	n, ok := members[s.setup.Etcd]
	if !ok {
		return fmt.Errorf("etcd %q is not one of one, three, embedded", s.setup.Etcd)
	}
	if s.setup.Etcd == "embedded" && s.setup.Nodes > 1 {
		return errors.New("only one node can have etcd embedded")
	}
	if n > 0 {
		e, err := startEtcd(ctx, n, o.dir)
		if err != nil {
			return err
		}
		s.endpoints, s.pids = e.endpoints, e.pids()
		s.undo = append(s.undo, e.stop)
	}
	for i := range s.setup.Nodes {
		if err := s.addNode(ctx, o, i); err != nil {
			return err
		}
	}
	if len(s.endpoints) == 0 {
		s.endpoints = s.nodes[0].EtcdEndpoints()
	}
	var err error
	if s.client, err = dial(s.endpoints); err != nil {
		return err
	}
	s.undo = append(s.undo, s.client.Close)
	for _, d := range definitions {
		if _, err := s.nodes[0].Catalog().Publish(ctx, catalog.PublishRequest{Source: []byte(d), Publish: true}); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	time.Sleep(500 * time.Millisecond) // every node has seen them
	s.target = &inProcess{nodes: s.nodes}
	if s.setup.Transport == "http" {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 4096, 1024
		s.target = &overHTTP{nodes: s.nodes, client: &http.Client{Transport: transport}}
		s.undo = append(s.undo, func() error { transport.CloseIdleConnections(); return nil })
	}
	return nil
}

func (s *system) addNode(ctx context.Context, o options, i int) error {
	dir, err := os.MkdirTemp(o.dir, "weft-bench-node-")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return os.RemoveAll(dir) })

	n, err := node.New(ctx, node.Config{HTTPAddr: "127.0.0.1:0", DataDir: dir, EtcdEndpoints: s.endpoints, Cluster: s.cluster(),
		NodeID: fmt.Sprintf("n%d", i), GroupCommit: s.setup.Group, DrainTimeout: 10 * time.Second, MaxInFlight: 4096})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return n.Stop(context.WithoutCancel(ctx)) })
	if err := n.Start(ctx); err != nil {
		return err
	}
	s.nodes = append(s.nodes, n)
	return nil
}

// measure runs every workload of one setup.
func (s setup) measure(ctx context.Context, o options) (points []point, err error) {
	sys, err := s.start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	m := &meter{sys: sys, o: o}
	for i, callers := range o.concurrency {
		if err := m.at(ctx, callers, i == len(o.concurrency)-1); err != nil {
			return m.points, err
		}
	}
	return m.points, nil
}

// meter collects points.
type meter struct {
	sys    *system
	o      options
	points []point
}

// at measures everything at one concurrency, between two looks at raw puts.
// Workloads that have a concurrency of their own run with the last only.
func (m *meter) at(ctx context.Context, callers int, last bool) error {
	first := len(m.points)
	short := min(m.o.duration, 3*time.Second)
	m.sys.put(ctx, callers, short/3) // warm up
	m.note(ctx, "raw", "put", "", callers, func() outcome { return m.sys.put(ctx, callers, short) })
	if m.o.raw {
		err := m.sys.rawLimits(ctx, callers, short, func(name string, f func() outcome) { m.note(ctx, "raw", name, "", callers, f) })
		if err != nil {
			return err
		}
	}
	for _, name := range m.o.workloads {
		w := workloads[name]
		if w.once && !last {
			continue
		}
		for _, commit := range m.o.commit {
			if commit != "burst" && !w.commits {
				continue
			}
			fmt.Println("…", m.sys.setup, name, commit, callers)
			if err := w.run(ctx, m, name, commit, callers); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	m.note(ctx, "raw", "put again", "", callers, func() outcome { return m.sys.put(ctx, callers, short) })
	m.ratios(m.points[first:])
	return ctx.Err()
}

// ratios compares with the mean of the puts before and after, and a hot instance
// with the contended mutex.
func (m *meter) ratios(points []point) {
	put, hot := 0.0, 0.0
	for _, p := range points {
		switch p.Name {
		case "put", "put again":
			put += p.PerSecond / 2
		case "mutex, contended":
			hot = p.PerSecond
		}
	}
	for i := range points {
		p := &points[i]
		if put > 0 {
			p.ToPut = p.PerSecond / put
		}
		if hot > 0 && p.Name == "W3" {
			p.notes("to contended mutex", p.PerSecond/hot)
		}
	}
}

// note measures f.
func (m *meter) note(ctx context.Context, kind, name, commit string, callers int, f func() outcome) {
	before := m.sys.spent(ctx)
	out := f()
	after := m.sys.spent(ctx)
	p := point{setup: m.sys.setup, Kind: kind, Name: name, Commit: commit, Concurrency: callers,
		Ops: out.ops, Failed: out.failed, Seconds: out.took.Seconds(), Notes: out.notes}
	if out.err != nil {
		p.Error = out.err.Error()
	}
	if out.ops > 0 {
		n := float64(out.ops)
		p.PerSecond = n / out.took.Seconds()
		p.P50, p.P99, p.P999 = ms(quantile(out.lat, .5)), ms(quantile(out.lat, .99)), ms(quantile(out.lat, .999))
		p.CPU, p.CPUNodes = ms(after.cpu-before.cpu)/n, ms(after.own-before.own)/n
		p.Requests, p.Bytes, p.Proposals = (after.requests-before.requests)/n, (after.bytes-before.bytes)/n, (after.proposals-before.proposals)/n
		p.Allocs, p.AllocBytes = float64(after.mallocs-before.mallocs)/n, float64(after.allocBytes-before.allocBytes)/n
	}
	m.points = append(m.points, p)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// cluster is the name under which this run has its keys.
func (*system) cluster() string { return fmt.Sprintf("bench-%d", os.Getpid()) }
