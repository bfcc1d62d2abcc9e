package dev

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// Config says what runs.
type Config struct {
	Dir      string // of definitions; "": an example is published
	Nodes    int
	HTTPAddr string // of the first node; "": port 8080 of loopback, or any other if that is taken
	DataDir  string // "": a new one, which is removed at the end
	Secrets  string // the directory with a file for each secret; "": there are none
	Types    string // the directory of files that declare activity types; "": there are none

	Program []string // what starts one more node, without its settings
	Version string
	Log     *slog.Logger // of the first node
	In      io.Reader    // keys; nil: there are none
	Out     io.Writer
	ErrOut  io.Writer // what further nodes write
}

const (
	maxNodes  = 9
	standard  = "127.0.0.1:8080"
	lookEvery = 250 * time.Millisecond
	askEvery  = time.Second
	patience  = 10 * time.Second // for a node to end

	sessionTTL = 5 * time.Second // so that one need not wait long to see a takeover
)

// session is one run of weft dev.
type session struct {
	Config
	temporary bool // the data is
	server    string
	api       *apiclient.Client
	children  []*child
	folder    *folder
	pub       *publisher
	faulted   map[string]time.Time // instances that were told, with the time of their last change; nil: none was asked for yet
}

// Run runs until it is told to end: by ctx, by a signal, or by the key q.
func Run(ctx context.Context, cfg Config) (err error) {
	if cfg.Nodes < 1 || cfg.Nodes > maxNodes {
		return ask.Usage("--nodes is %d; it may be 1 to %d", cfg.Nodes, maxNodes)
	}
	if cfg.Dir != "" {
		if info, err := os.Stat(cfg.Dir); err != nil {
			return ask.Usage("%w", err)
		} else if !info.IsDir() {
			return ask.Usage("%s is a file: name the directory that it is in", cfg.Dir)
		}
	}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		var closed context.CancelFunc
		ctx, closed = signal.NotifyContext(ctx, syscall.SIGHUP) // a terminal that goes sends several
		defer closed()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends it at once
	s := &session{temporary: cfg.DataDir == ""}
	if s.temporary {
		dir, err := os.MkdirTemp("", "weft-dev-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		cfg.DataDir = dir
	}
	cfg.Out = &lines{w: cfg.Out}
	s.Config = cfg
	return s.run(ctx)
}

// lines is a writer that several write to.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// say says something in a line behind the time of day; what has more lines goes on below.
func (s *session) say(format string, args ...any) {
	fmt.Fprintf(s.Out, "%s  %s\n", time.Now().Format("15:04:05"), strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n          "))
}

func (s *session) run(ctx context.Context) error {
	began := time.Now()
	n, err := s.first(ctx)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // told to end while starting
		}
		return err
	}
	nodeCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ready, over := make(chan struct{}), make(chan struct{})
	var nodeErr error // of the node's end; read once over is closed
	go func() {
		defer close(over)
		nodeErr = n.Run(nodeCtx, func(*node.Node) { close(ready) })
	}()
	work := func() error {
		select {
		case <-ready:
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		}
		if err := s.startChildren(ctx, n); err != nil {
			return err
		}
		s.greet(time.Since(began))
		return s.loop(ctx, over)
	}
	err = work()
	if ctx.Err() != nil {
		err = nil // what the end broke off is no failure
	}
	s.stopChildren()
	end()
	<-over
	if err = errors.Join(err, nodeErr); err == nil {
		s.say("ended")
	}
	return err
}

// first builds the node of this process.
func (s *session) first(ctx context.Context) (*node.Node, error) {
	cfg := node.DefaultConfig()
	cfg.HTTPAddr, cfg.DataDir, cfg.NodeID, cfg.Version = cmp.Or(s.HTTPAddr, free(ctx, standard)), s.DataDir, "node-1", s.Version
	cfg.SessionTTL, cfg.DrainTimeout, cfg.AllowPrivateAddresses = sessionTTL, 2*time.Second, true
	cfg.Logger, cfg.Lines, cfg.SecretsDir, cfg.ActivityTypes = s.Log, s.Out, s.Secrets, s.Types
	n, err := full.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.server = n.URL()
	s.api, err = apiclient.New(apiclient.Config{Server: s.server, Timeout: 30 * time.Second, UserAgent: "weft-dev/" + s.Version})
	if err != nil {
		return nil, errors.Join(err, n.Stop(context.WithoutCancel(ctx)))
	}
	s.pub = newPublisher(s.api, s.say)
	return n, nil
}

// free is an address, or one with any other port if somebody listens there.
func free(ctx context.Context, addr string) string {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = l.Close()
	return addr
}

// startChildren starts the further nodes, and waits until the cluster knows them.
func (s *session) startChildren(ctx context.Context, n *node.Node) error {
	for i := 2; i <= s.Nodes; i++ {
		id := fmt.Sprintf("node-%d", i)
		c := &child{id: id, out: s.Out, errOut: s.ErrOut, program: append(append([]string{}, s.Program...),
			"--node-id", id, "--http-addr", "127.0.0.1:0", "--etcd-endpoints", strings.Join(n.EtcdEndpoints(), ","), "--session-ttl", sessionTTL.String(),
			"--drain-delay", "0s", "--drain-timeout", "2s", "--allow-private-addresses", "--secrets-dir", s.Secrets, "--activities", s.Types)}
		if err := c.start(); err != nil {
			return err
		}
		s.children = append(s.children, c)
	}
	for {
		all := true
		for _, c := range s.children {
			if !c.runs() {
				return fmt.Errorf("%s ended while it started; what it said is above", c.id)
			}
			if !c.ready {
				c.ready = s.answers(ctx, c)
			}
			all = all && c.ready
		}
		if all {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// answers tells whether a further node takes work.
func (s *session) answers(ctx context.Context, c *child) bool {
	all, err := s.api.ListNodes(ctx)
	if err != nil {
		return false
	}
	for _, n := range all.Body.Items {
		if n.NodeID != c.id {
			continue
		}
		api, err := apiclient.New(apiclient.Config{Server: "http://" + n.Address, Timeout: time.Second, Attempts: 1})
		if err != nil {
			return false
		}
		_, err = api.Ready(ctx, apiclient.ReadyQuery{})
		return err == nil
	}
	return false
}

// stopChildren ends the further nodes, all at once.
func (s *session) stopChildren() {
	var all sync.WaitGroup
	for _, c := range s.children {
		all.Go(func() { c.stop(patience) })
	}
	all.Wait()
}

// greet says what runs and where.
func (s *session) greet(took time.Duration) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(s.Out, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	nodes := "one node"
	if s.Nodes > 1 {
		nodes = fmt.Sprintf("%d nodes", s.Nodes)
	}
	fmt.Fprintf(s.Out, "weft dev  %s and an etcd, ready in %v\n\n", nodes, took.Round(100*time.Millisecond))
	line("console", "%s/", s.server)
	line("api", "%s/api/v1", s.server)
	if s.server != "http://"+standard {
		line("weft", "export WEFT_SERVER=%s   (in other shells)", s.server)
	}
	if s.Dir == "" {
		line("publishes", "an example; weft dev DIRECTORY publishes what is in it, as you save it")
	} else {
		line("publishes", "%s, as you save it", s.Dir)
	}
	if s.temporary {
		line("data", "is gone at the end; --data-dir keeps it")
	} else {
		line("data", "%s", s.DataDir)
	}
	if s.In != nil {
		line("keys", "%s", s.keys())
	}
	fmt.Fprintln(s.Out)
}

func (s *session) keys() string {
	keys := "r publish again, q quit"
	if s.Nodes > 1 {
		keys = "k kill a node or start it again, p pause it or let it go on, " + keys
	}
	return keys + "  (and Enter)"
}

// loop publishes what changes, tells what faults, and does what is typed.
func (s *session) loop(ctx context.Context, over <-chan struct{}) error {
	if err := s.publishFirst(ctx); err != nil {
		return err
	}
	typed := s.typed()
	look, ask := time.NewTicker(lookEvery), time.NewTicker(askEvery)
	defer look.Stop()
	defer ask.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		case <-look.C:
			err = s.look(ctx)
		case <-ask.C:
			s.watchNodes(ctx)
			err = s.tellFaults(ctx)
		case line, ok := <-typed:
			if !ok {
				typed = nil
				continue
			}
			if strings.TrimSpace(line) == "q" {
				return nil
			}
			s.key(strings.TrimSpace(line))
		}
		var lost *apiclient.NoAnswerError
		var problem *apiclient.ProblemError
		if errors.As(err, &lost) || errors.As(err, &problem) {
			if ctx.Err() == nil {
				s.say("the node does not answer: %v", err)
			}
			continue
		}
		if err != nil {
			return err
		}
	}
}

// publishFirst publishes what is there, or the example, and says what to do next.
func (s *session) publishFirst(ctx context.Context) error {
	if s.Dir == "" {
		made, err := s.api.PublishDefinition(ctx, []byte(example), apiclient.PublishDefinitionQuery{}, ask.ContentType("hello.yaml"))
		if err != nil {
			return err
		}
		s.pub.took("the example", []byte(example), &made.Body)
	} else {
		s.folder = &folder{dir: s.Dir, say: s.say}
		if err := s.look(ctx); err != nil {
			return err
		}
		if len(s.pub.from) == 0 && len(s.pub.problems) == 0 {
			s.say("%s has no definitions yet (*.yaml, *.yml, *.json): save one", s.Dir)
		}
	}
	if err := s.tellFaults(ctx); err != nil {
		return err
	}
	if line := s.pub.try(ctx); line != "" {
		s.say("try            %s", line)
	}
	return nil
}

func (s *session) look(ctx context.Context) error {
	if s.folder == nil {
		return nil
	}
	changed, gone, err := s.folder.look()
	if err != nil {
		return err
	}
	for _, name := range gone {
		s.pub.gone(name)
	}
	return s.pub.publish(ctx, changed)
}

// tellFaults tells the instances that have faulted since the time before.
func (s *session) tellFaults(ctx context.Context) error {
	page, err := s.api.ListSummaries(ctx, apiclient.ListInstancesQuery{SubStatus: "Faulted", Limit: 50})
	if err != nil {
		return err
	}
	first, now := s.faulted == nil, map[string]time.Time{}
	for _, in := range page.Body.Items {
		now[in.InstanceID] = in.UpdatedAt
		if !first && !s.faulted[in.InstanceID].Equal(in.UpdatedAt) {
			s.say("faulted        %s of %s v%d: weft explain %s", in.InstanceID, in.DefinitionID, in.Version, in.InstanceID)
		}
	}
	s.faulted = now
	return nil
}

// typed gives the lines of the terminal. A read of a terminal cannot be broken off: the
// goroutine ends with the input, or with the process.
func (s *session) typed() <-chan string {
	if s.In == nil {
		return nil
	}
	out := make(chan string)
	go func() {
		defer close(out)
		for in := bufio.NewScanner(s.In); in.Scan(); {
			out <- in.Text()
		}
	}()
	return out
}

// key does what was typed.
func (s *session) key(key string) {
	switch key {
	case "":
	case "r":
		if s.folder == nil {
			s.say("nothing is published from here: weft dev DIRECTORY")
			return
		}
		s.folder.again()
		clear(s.pub.done)
	case "k", "p":
		if len(s.children) == 0 {
			s.say("the only node has the etcd: --nodes 3 starts some that can be killed and paused")
			return
		}
		c := s.children[len(s.children)-1]
		if key == "k" {
			s.killOrStart(c)
		} else {
			s.pauseOrContinue(c)
		}
	default:
		s.say("keys: %s", s.keys())
	}
}

func (s *session) killOrStart(c *child) {
	if c.runs() {
		c.kill()
		s.say("killed         %s: within %v the others go on with its work; k starts it again", c.id, sessionTTL+2*time.Second)
		return
	}
	if err := c.start(); err != nil {
		s.say("%v", err)
		return
	}
	s.say("starts         %s", c.id)
}

func (s *session) pauseOrContinue(c *child) {
	if !c.runs() {
		s.say("%s does not run: k starts it", c.id)
		return
	}
	if err := c.pause(!c.paused); err != nil {
		s.say("%s: %v", c.id, err)
		return
	}
	if c.paused {
		s.say("paused         %s: after %v it counts as dead, and what it then commits is refused; p lets it go on", c.id, sessionTTL)
		return
	}
	s.say("goes on        %s", c.id)
}

// watchNodes tells of further nodes that were started again, or ended by themselves.
func (s *session) watchNodes(ctx context.Context) {
	for _, c := range s.children {
		if c.cmd != nil && !c.runs() {
			state := c.cmd.ProcessState
			c.kill()
			s.say("ended          %s by itself (%v); k starts it again", c.id, state)
		}
		if c.runs() && !c.ready && !c.paused && s.answers(ctx, c) {
			c.ready = true
			s.say("ready          %s", c.id)
		}
	}
}

const example = `id: hello
name: Hello
inputs:
  name: {type: string, default: world}
outputs:
  greeting: ${{ "Hello, " + inputs.name + "!" }}
root:
  - writeLine: Hello, ${{ inputs.name }}!
`
