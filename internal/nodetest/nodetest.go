// Package nodetest starts whole nodes in the test process, each with an etcd of its
// own, for tests of what people and programs ask of a node over HTTP.
//
// It guarantees that a node is stopped, and that one which does not stop fails the
// tests; and that a request is answered with what came of it, and not with 202 after
// a second: a busy machine is no reason for another answer. It does not put several
// nodes over one etcd. Without HTTP that is internal/upkeep/membertest, and whole
// ones are in test/e2e.
package nodetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// patience bounds the start of a shared node, and its stop: longer than a busy machine takes, and less than a test
// binary may.
const patience = 2 * time.Minute

// Shared is a node that the tests of one package share: the first that asks for it
// starts it, and Run stops it. Tests may name what they make: when they run again
// (-count) they get another node.
type Shared struct {
	// Config is the node's; what it does not say is as in [Start]. It is not changed
	// after the first test asked.
	Config node.Config

	mu      sync.Mutex
	started bool
	node    *node.Node
	dir     string
	err     error
	by      map[string]testing.TB // who has asked for it
}

// Run is for TestMain: it runs the tests, stops the node, and gives the exit code.
func (s *Shared) Run(m *testing.M) int {
	testsize.Waiting()
	testsize.Roomy()
	code := m.Run()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "nodetest:", err)
		code = max(code, 1)
	}
	return code
}

// stop stops the node, if there is one, and removes its data. mu is held.
func (s *Shared) stop() (err error) {
	if s.node != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err = s.node.Stop(ctx); err != nil {
			err = fmt.Errorf("stop the shared node: %w", err)
		}
	}
	err = errors.Join(err, os.RemoveAll(s.dir))
	s.started, s.node, s.dir, s.by = false, nil, "", nil
	return err
}

// Start gives the node, for examples, which have no test: an error if it cannot be
// started, the same one to everybody.
func (s *Shared) Start() (*node.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start()
}

// start starts the node if nobody has. mu is held.
func (s *Shared) start() (*node.Node, error) {
	if s.started {
		return s.node, s.err
	}
	s.started, s.by = true, map[string]testing.TB{}
	if s.dir, s.err = os.MkdirTemp("", "weft-nodetest-"); s.err != nil {
		return nil, s.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cfg := preset(s.Config)
	cfg.DataDir = s.dir
	if s.node, s.err = full.New(ctx, cfg); s.err == nil {
		s.err = s.node.Start(ctx)
	}
	return s.node, s.err
}

// Node gives the node; a test without it fails.
func (s *Shared) Node(t testing.TB) *node.Node {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.by[t.Name()]; before != nil && before != t { // all tests of the round before have ended
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.start()
	if err != nil {
		t.Fatalf("start the shared node: %v", err)
	}
	s.by[t.Name()] = t
	return n
}

// Start starts a node for one test, with data of its own, and stops it when the test
// ends. It listens on a port of this machine that is free, drains for ten seconds and
// waits a minute for what comes of a request, unless cfg says otherwise.
func Start(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	cfg = preset(cfg)
	if cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	n, err := full.New(t.Context(), cfg)
	if err != nil {
		t.Fatalf("build a node: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatalf("start the node: %v", err)
	}
	return n
}

func preset(cfg node.Config) node.Config {
	cfg.HTTPAddr = cmp.Or(cfg.HTTPAddr, "127.0.0.1:0")
	cfg.DrainTimeout = cmp.Or(cfg.DrainTimeout, 10*time.Second)
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, time.Minute)
	return cfg
}

// Address is where a node is reached.
func Address(n *node.Node) string { return "http://" + n.HTTPAddr() }
