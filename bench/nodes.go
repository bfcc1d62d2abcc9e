package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weft-run/weft/internal/heapfloor"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// nodeCommand makes this binary a node, so that its processor time and memory can
// be told from those of the callers: serve-node NODE-CONFIG as JSON.
const nodeCommand = "serve-node"

// nodeSetup is what such a process is told.
type nodeSetup struct {
	ID, Cluster, Group, Dir string
	Endpoints               []string
	// ResumeLocking is empty for the shipped one.
	ResumeLocking string
	// KeysFile has the API keys that callers need. Such a node has the shipped limits.
	KeysFile string
	// Retention is nil for the shipped one.
	Retention *node.Retention
}

// nodeReady is what it answers.
type nodeReady struct {
	URL, Pprof string
	Endpoints  []string
	PID        int
}

func (s nodeSetup) config() node.Config {
	cfg := node.Config{HTTPAddr: "127.0.0.1:0", DataDir: s.Dir, EtcdEndpoints: s.Endpoints, Cluster: s.Cluster,
		NodeID: s.ID, GroupCommit: s.Group, ResumeLocking: s.ResumeLocking, DrainTimeout: 10 * time.Second, AuthKeysFile: s.KeysFile,
		Retention: s.Retention}
	if s.KeysFile == "" {
		cfg.MaxInFlight, cfg.AllowPrivateAddresses = 4096, true
	}
	return cfg
}

func serveNode(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: serve-node JSON")
	}
	heapfloor.Keep() // as the node's own program does
	var s nodeSetup
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n, err := full.New(ctx, s.config())
	if err != nil {
		return err
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, n.Stop(context.WithoutCancel(ctx)))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	debug := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- debug.Serve(l) }()
	// The end of standard input is the end of the benchmark, however it ended.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	err = json.NewEncoder(os.Stdout).Encode(nodeReady{URL: n.URL(), Pprof: "http://" + l.Addr().String(), Endpoints: n.EtcdEndpoints(), PID: os.Getpid()})
	if err == nil {
		<-ctx.Done()
	}
	closed := debug.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		closed = errors.Join(closed, err)
	}
	return errors.Join(err, closed, n.Stop(context.WithoutCancel(ctx)))
}

// startNode starts a node in a process of its own.
func startNode(s nodeSetup) (ready nodeReady, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return ready, nil, err
	}
	arg, err := json.Marshal(s)
	if err != nil {
		return ready, nil, err
	}
	cmd := exec.Command(self, nodeCommand, string(arg))
	cmd.Stderr = os.Stderr
	if s.KeysFile != "" {
		cmd.Env = append(os.Environ(), "GOMEMLIMIT="+shippedSoft)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return ready, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return ready, nil, err
	}
	if err := cmd.Start(); err != nil {
		return ready, nil, err
	}
	stop = func() error {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("node %s: %w", s.ID, err)
		}
		return nil
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &ready)
	}
	if err != nil {
		return ready, nil, errors.Join(fmt.Errorf("start node %s: %w", s.ID, err), stop())
	}
	return ready, stop, nil
}

// heapProfile keeps the profile of a node's heap.
func (s *system) heapProfile(ctx context.Context, dir, name string) error {
	if dir == "" || len(s.pprof) == 0 {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.pprof[0]+"/debug/pprof/heap?gc=1", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(dir, "/")+"/"+name, b, 0o644)
}
