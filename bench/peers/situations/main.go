// Command situations asks other durable workflow engines what they do in the
// situations of docs/compare.md, and prints what it saw, one line each.
//
//	go -C bench/peers/situations run .                        # those that need nothing else
//	go -C bench/peers/situations run . -systems river,restate -restate-server PATH
//
// Each system runs in this process with a new store in a temporary directory:
// Temporal's server with its own test server (SQLite in memory), DBOS and
// go-workflows on SQLite, River on Debian's Postgres, Restate's server as a process
// beside it (npm has it: @restatedev/restate-server-linux-x64). What a system lets
// a caller configure stays as it is by default, except where a line names a setting.
//
// What is seen is told and not judged: the table in docs/compare.md is written by
// hand from it. It is a module of its own, for its 200 modules, and no part of CI.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// peer is a system that is up.
type peer struct {
	version    string
	situations []situation
	stop       func()
}

// situation is one question; see answers it in a few words.
type situation struct {
	name string
	see  func(ctx context.Context) (string, error)
}

// peers start the systems; each gets a directory of its own.
var peers = map[string]func(ctx context.Context, dir string, o options) (*peer, error){
	"temporal":     temporalPeer,
	"river":        riverPeer,
	"dbos":         dbosPeer,
	"go-workflows": goWorkflowsPeer,
	"restate":      restatePeer,
}

type options struct {
	restateServer string
}

func main() {
	var o options
	names := flag.String("systems", "temporal,dbos,go-workflows", "which to ask, of temporal, dbos, go-workflows, river and restate")
	only := flag.String("only", "", "ask only what has this in its name")
	flag.StringVar(&o.restateServer, "restate-server", "restate-server", "Restate's program")
	dies := flag.String("dies", "", "for this program itself: be the process that dies, with DBOS in this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *dies != "" {
		dbosThatDies(*dies)
		return
	}
	failed := false
	for name := range strings.SplitSeq(*names, ",") {
		if err := ask(ctx, name, *only, o); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		stop()
		os.Exit(1) //nolint:gocritic // stopped above
	}
}

// ask starts a system, asks all of its situations and stops it.
func ask(ctx context.Context, name, only string, o options) error {
	start := peers[name]
	if start == nil {
		return fmt.Errorf("there is no such system; there are %s", strings.Join(slices.Sorted(keys(peers)), ", "))
	}
	dir, err := os.MkdirTemp("", "weft-situations-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := start(ctx, dir, o)
	if err != nil {
		return err
	}
	defer p.stop()
	var errs []error
	for _, s := range p.situations {
		if !strings.Contains(s.name, only) {
			continue
		}
		saw, err := within(ctx, 90*time.Second, s.see)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
			continue
		}
		fmt.Printf("| %s %s | %s | %s |\n", name, p.version, s.name, saw)
	}
	return errors.Join(errs...)
}

func within(ctx context.Context, d time.Duration, see func(context.Context) (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return see(ctx)
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// tally counts what happened, by name; the zero value is ready.
type tally struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (t *tally) add(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[name]++
	return t.n[name]
}

func (t *tally) of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n[name]
}

// until waits until cond holds.
func until(ctx context.Context, what string, cond func() bool) error {
	for !cond() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// holds says whether cond still holds after d.
func holds(ctx context.Context, d time.Duration, cond func() bool) bool {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return cond()
}

// gate is a place where a step stands until it is opened.
type gate struct {
	entered, opened chan struct{}
	once            sync.Once
}

func newGate() *gate { return &gate{entered: make(chan struct{}), opened: make(chan struct{})} }

// pass says that a step is there, and waits until the gate is open, or until the
// step is told to stop.
func (g *gate) pass(ctx context.Context) error {
	g.once.Do(func() { close(g.entered) })
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gates are gates by name.
type gates struct {
	mu sync.Mutex
	m  map[string]*gate // guarded by mu
}

func (g *gates) of(name string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.m == nil {
		g.m = map[string]*gate{}
	}
	if g.m[name] == nil {
		g.m[name] = newGate()
	}
	return g.m[name]
}

// short is the first line of an error, not longer than a cell should be.
func short(err error) string {
	if err == nil {
		return "no error"
	}
	s, _, _ := strings.Cut(err.Error(), "\n")
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return "error: " + strings.ReplaceAll(s, "|", "/")
}
