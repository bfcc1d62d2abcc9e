package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// What etcd can be.
const (
	embedded = "embedded"
	given    = "given"
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
	client    *clientv3.Client // nil: nobody said where etcd is
	nodes     []*node.Node     // those in this process; the others are reached over HTTP
	urls      []string         // of all nodes
	pprof     []string         // of nodes in processes of their own
	cluster   string           // under which it has its keys
	api       *overHTTP
	target    target
	door      *door   // between nodes and etcd; nil: none
	walks     *walks  // the same, to see what etcd walks over; nil: none
	called    *called // by the activities that call something
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
	sys := &system{setup: s, endpoints: o.endpoints, urls: o.targets, cluster: cmp.Or(o.cluster, fmt.Sprintf("bench-%d", os.Getpid()))}
	if err := sys.open(ctx, o); err != nil {
		return nil, errors.Join(err, sys.close())
	}
	return sys, nil
}

func (s *system) open(ctx context.Context, o options) error {
	members := map[string]int{"one": 1, "three": 3, embedded: 0, given: 0}
	n, ok := members[s.setup.Etcd]
	if !ok {
		return fmt.Errorf("etcd %q is not one of one, three, embedded", s.setup.Etcd)
	}
	if s.setup.Etcd == embedded && s.setup.Nodes > 1 {
		return errors.New("only one node can have etcd embedded")
	}
	if n > 0 {
		e, err := startEtcd(ctx, n, o.dir, o.member)
		if err != nil {
			return err
		}
		s.endpoints = e.endpoints
		s.undo = append(s.undo, e.stop)
	}
	if o.door {
		if err := s.openDoor(ctx); err != nil {
			return err
		}
	}
	var err error
	if o.walks {
		if s.walks, err = openWalks(ctx, s.endpoints[0]); err != nil {
			return err
		}
		s.undo = append(s.undo, s.walks.close)
	}
	if s.called, err = answerCalls(ctx); err != nil {
		return err
	}
	s.undo = append(s.undo, s.called.close)
	if len(o.targets) == 0 {
		for i := range s.setup.Nodes {
			if err := s.addNode(ctx, o, i); err != nil {
				return err
			}
		}
	}
	if len(s.endpoints) > 0 {
		if s.client, err = dial(s.endpoints); err != nil {
			return err
		}
		s.undo = append(s.undo, s.client.Close)
	}
	return s.reach(ctx)
}

// openDoor has the nodes reach etcd through a door that counts.
func (s *system) openDoor(ctx context.Context) (err error) {
	if s.door, err = openDoor(ctx, s.endpoints[0]); err == nil {
		s.undo = append(s.undo, s.door.close)
	}
	return err
}

// reach makes the ways to the nodes and gives them what they are to run.
func (s *system) reach(ctx context.Context) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 4096, 2048
	s.undo = append(s.undo, func() error { transport.CloseIdleConnections(); return nil })
	s.api = &overHTTP{urls: s.urls, client: &http.Client{Transport: transport}}
	s.target = s.api
	if len(s.nodes) > 0 {
		s.target = &inProcess{nodes: s.nodes}
	}
	for _, d := range definitions {
		if err := s.api.publish(ctx, d); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	return nil
}

// addNode starts a node, over HTTP in a process of its own: then what callers
// cost can be told from what nodes cost.
func (s *system) addNode(ctx context.Context, o options, i int) error {
	dir, err := os.MkdirTemp(o.dir, "weft-bench-node-")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return os.RemoveAll(dir) })
	cfg := nodeSetup{ID: fmt.Sprintf("n%d", i), Cluster: s.cluster, Group: s.setup.Group, ResumeLocking: o.resumeLocking, Dir: dir, Endpoints: s.endpoints, Retention: o.retention}
	if s.door != nil {
		cfg.Endpoints = []string{s.door.URL}
	}
	if s.walks != nil {
		cfg.Endpoints = []string{s.walks.URL}
	}
	if s.setup.Transport == "http" {
		ready, stop, err := startNode(cfg)
		if err != nil {
			return err
		}
		s.undo = append(s.undo, stop)
		s.urls, s.pprof = append(s.urls, ready.URL), append(s.pprof, ready.Pprof)
		s.embeddedIn(ready.Endpoints)
		return nil
	}
	n, err := full.New(ctx, cfg.config())
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return n.Stop(context.WithoutCancel(ctx)) })
	if err := n.Start(ctx); err != nil {
		return err
	}
	s.nodes, s.urls = append(s.nodes, n), append(s.urls, n.URL())
	s.embeddedIn(n.EtcdEndpoints())
	return nil
}

// embeddedIn notes where the etcd of a node is reached.
func (s *system) embeddedIn(endpoints []string) {
	if s.setup.Etcd == embedded {
		s.endpoints = endpoints
	}
}
