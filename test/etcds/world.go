package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// members is how many there are at first.
const members = 3

const clusterName = "etcds"

// Of the users of etcd, where access control is on.
const (
	ofRoot = "root of a test"
	ofNode = "node of a test"
)

// world is the members of etcd and the nodes over them. One goroutine changes it; the load reads apis.
type world struct {
	dir     string
	began   time.Time
	weft    string            // the program
	etcd    map[string]string // program by version
	members []*member
	nodes   []*process
	auth    bool // on

	mu   sync.Mutex
	apis []string // of the nodes; guarded by mu
}

// process is a program that runs.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   string // the file
	ended chan struct{}
}

// member is one of etcd's. Its addresses and its data stay when it gets another program.
type member struct {
	*process

	id           uint64 // of a learner
	version      string
	client, peer string // URLs
}

func (w *world) say(format string, args ...any) {
	fmt.Printf("%6.1f s  %s\n", time.Since(w.began).Seconds(), fmt.Sprintf(format, args...))
}

// build makes the programs: each etcd from its module, in a module of its own.
func (w *world) build(ctx context.Context, versions []string) error {
	w.etcd = map[string]string{}
	w.weft = filepath.Join(w.dir, "weft")
	if err := command(ctx, ".", "go", "build", "-o", w.weft, "./cmd/weft"); err != nil {
		return err
	}
	for _, v := range versions {
		dir := filepath.Join(w.dir, "etcd-"+v)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		w.etcd[v] = filepath.Join(dir, "etcd")
		for _, args := range [][]string{
			{"mod", "init", "example.org/etcd"},
			{"get", "go.etcd.io/etcd/server/v3@v" + v},
			{"build", "-mod=mod", "-o", w.etcd[v], "go.etcd.io/etcd/server/v3"},
		} {
			if err := command(ctx, dir, "go", args...); err != nil {
				return err
			}
		}
		w.say("etcd %s is built", v)
	}
	return nil
}

func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// found starts the first members.
func (w *world) found(ctx context.Context, version string) error {
	for i := range members {
		m, err := w.newMember(ctx, fmt.Sprint("m", i+1))
		if err != nil {
			return err
		}
		w.members = append(w.members, m)
	}
	for _, m := range w.members {
		if err := w.run(m, version, "new"); err != nil {
			return err
		}
	}
	return w.healthy(ctx)
}

func (w *world) newMember(ctx context.Context, name string) (*member, error) {
	m := &member{process: &process{name: name}}
	for _, url := range []*string{&m.client, &m.peer} {
		addr, err := freeAddr(ctx)
		if err != nil {
			return nil, err
		}
		*url = "http://" + addr
	}
	return m, nil
}

// freeAddr is free when it looks; it is taken soon after.
func freeAddr(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// run starts a member with a program. state is new or existing, as etcd has it.
func (w *world) run(m *member, version, state string) error {
	var initial []string
	for _, other := range w.members {
		initial = append(initial, other.name+"="+other.peer)
	}
	m.version = version
	p, err := w.launch(m.name, w.etcd[version], "--name", m.name, "--data-dir", filepath.Join(w.dir, "data-"+m.name),
		"--listen-client-urls", m.client, "--advertise-client-urls", m.client, "--listen-peer-urls", m.peer, "--initial-advertise-peer-urls", m.peer,
		"--initial-cluster", strings.Join(initial, ","), "--initial-cluster-state", state, "--log-level", "warn",
		"--auto-compaction-mode", "periodic", "--auto-compaction-retention", "5m",
		// 3.7 does not read what 3.5 wrote into the log, but for what is in a snapshot: each phase writes more than this.
		"--snapshot-count", "200")
	if err == nil {
		m.process = p
	}
	return err
}

// launch starts a program, whose words go into a file.
func (w *world) launch(name, program string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(w.dir, name+".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its state says it
	}()
	return p, nil
}

// stop ends a process as an operator does.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(time.Minute):
		return errors.Join(fmt.Errorf("%s did not end within a minute", p.name), p.cmd.Process.Kill())
	}
}

func (p *process) runs() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (w *world) endpoints() (out []string) {
	for _, m := range w.members {
		out = append(out, m.client)
	}
	return out
}

// client is one of etcd's over the first members, as root if that is a user.
func (w *world) client() (*clientv3.Client, error) {
	cfg := clientv3.Config{Endpoints: w.endpoints()[:members], DialTimeout: 5 * time.Second, Logger: zap.NewNop()}
	if w.auth {
		cfg.Username, cfg.Password = "root", ofRoot
	}
	return clientv3.New(cfg)
}

// healthy waits until each member answers, has a leader and has read what the others have.
func (w *world) healthy(ctx context.Context) error {
	return until(ctx, time.Minute, func(ctx context.Context) error {
		for _, m := range w.members {
			if !m.runs() {
				return fmt.Errorf("etcd %s has ended", m.name)
			}
			s, err := w.status(ctx, m)
			switch {
			case err != nil:
				return err
			case s.Leader == 0 || s.RaftAppliedIndex+1000 < s.RaftIndex:
				return fmt.Errorf("%s has leader %x, and has applied %d of %d", m.name, s.Leader, s.RaftAppliedIndex, s.RaftIndex)
			}
		}
		return nil
	})
}

// status asks one member. The user signs in at another: a learner signs nobody in.
func (w *world) status(ctx context.Context, m *member) (*clientv3.StatusResponse, error) {
	c, err := w.client()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return c.Status(ctx, m.client)
}

// until asks again until what is asked for is so, or the time is over.
func until(ctx context.Context, patience time.Duration, so func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := so(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %w", patience, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// upgrade gives one member more the program of a version, the leader last.
func (w *world) upgrade(ctx context.Context, version string) error {
	var next *member
	for _, m := range w.members {
		if m.version == version {
			continue
		}
		s, err := w.status(ctx, m)
		if err != nil {
			return err
		}
		if next = m; s.Leader != s.Header.MemberId {
			break
		}
	}
	if err := next.stop(); err != nil {
		return err
	}
	if err := w.run(next, version, "existing"); err != nil {
		return err
	}
	return w.healthy(ctx)
}

// access turns access control on, in the order of docs/operations/etcd.md.
func (w *world) access(ctx context.Context) error {
	c, err := w.client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	prefix := "/weft/" + clusterName + "/"
	for _, do := range []func() error{
		func() error { _, err := c.UserAdd(ctx, "root", ofRoot); return err },
		func() error { _, err := c.RoleAdd(ctx, "root"); return err },
		func() error { _, err := c.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := c.RoleAdd(ctx, "weft"); return err },
		func() error {
			_, err := c.RoleGrantPermission(ctx, "weft", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := c.UserAdd(ctx, "weft", ofNode); return err },
		func() error { _, err := c.UserGrantRole(ctx, "weft", "weft"); return err },
		func() error { _, err := c.AuthEnable(ctx); return err },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	w.auth = true
	return nil
}

// learner adds one, and starts it.
func (w *world) learner(ctx context.Context, version string) error {
	m, err := w.newMember(ctx, "learner")
	if err != nil {
		return err
	}
	c, err := w.client()
	if err != nil {
		return err
	}
	defer c.Close()
	added, err := c.MemberAddAsLearner(ctx, []string{m.peer})
	if err != nil {
		return err
	}
	m.id = added.Member.ID
	w.members = append(w.members, m)
	if err := w.run(m, version, "existing"); err != nil {
		return err
	}
	return w.healthy(ctx)
}

func (w *world) promote(ctx context.Context) error {
	c, err := w.client()
	if err != nil {
		return err
	}
	defer c.Close()
	return until(ctx, time.Minute, func(ctx context.Context) error { // it has to have read enough
		_, err := c.MemberPromote(ctx, w.members[members].id)
		return err
	})
}

// startNode starts a node, and returns when it is ready. It names its user before there are any, as the page says.
func (w *world) startNode(ctx context.Context, id string, endpoints []string) error {
	addr, err := freeAddr(ctx)
	if err != nil {
		return err
	}
	password := filepath.Join(w.dir, "password")
	if err := os.WriteFile(password, []byte(ofNode), 0o600); err != nil {
		return err
	}
	p, err := w.launch("node-"+id, w.weft, "--http-addr", addr, "--cluster", clusterName, "--node-id", id, "--session-ttl", "5s", "--drain-delay", "0s",
		"--etcd-endpoints", strings.Join(endpoints, ","), "--etcd-user", "weft", "--etcd-password-file", password)
	if err != nil {
		return err
	}
	w.nodes = append(w.nodes, p)
	if err := until(ctx, time.Minute, func(ctx context.Context) error {
		if !p.runs() {
			return fmt.Errorf("node %s has ended", id)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("node %s answers %s", id, resp.Status)
		}
		return nil
	}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apis = append(w.apis, "http://"+addr+"/api/v1")
	return nil
}

// api is that of one of the nodes, in turns.
func (w *world) api(turn int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.apis[turn%len(w.apis)]
}

// end stops what runs, nodes first. After a failure it shows the last that each said.
func (w *world) end(failed bool) error {
	all := slices.Clone(w.nodes)
	for _, m := range w.members {
		if m.process.cmd != nil {
			all = append(all, m.process)
		}
	}
	var out error
	for _, p := range all {
		if slices.Contains(w.nodes, p) && !p.runs() {
			out = errors.Join(out, fmt.Errorf("%s ended by itself: %s", p.name, p.cmd.ProcessState))
		}
		out = errors.Join(out, p.stop())
		if failed {
			fmt.Printf("--- %s\n%s", p.name, tail(p.log))
		}
	}
	return out
}

// tail is the last lines of a file.
func tail(name string) []byte {
	raw, err := os.ReadFile(name)
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	lines := bytes.SplitAfter(raw, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-20):], nil)
}
