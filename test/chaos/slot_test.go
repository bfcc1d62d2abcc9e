package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/pkg/node"
)

// slot is a place where a node runs, with its ways to etcd. When its node died,
// another one is started there.
type slot struct {
	w          *town
	number     int
	route      *route
	interposer *interposer   // nil: there is none in the way
	space      *namespace    // nil: this machine's network
	isolated   atomic.Bool   // it is cut off from etcd
	off        time.Duration // of its node's clock; guarded by the town's mu

	mu          sync.Mutex
	process     *osProcess // guarded by mu
	remote      *remote    // nil: no calls go there; guarded by mu
	id          string     // of the node; guarded by mu
	incarnation int        // guarded by mu
	expected    bool       // its end is our doing; guarded by mu
}

// launch starts a node as a supervisor does, again and again until it is ready;
// with fresh it gets a new name, otherwise it has to wait for the record of the
// dead one.
func (s *slot) launch(ctx context.Context, fresh bool) error {
	for {
		err := s.try(ctx, fresh)
		if err == nil || ctx.Err() != nil {
			return err
		}
		s.w.count("starts that failed")
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *slot) try(ctx context.Context, fresh bool) error {
	s.mu.Lock()
	s.incarnation++
	if fresh || s.id == "" {
		s.id = fmt.Sprintf("s%d-%d", s.number, s.incarnation)
	}
	id, number := s.id, s.incarnation
	s.mu.Unlock()
	cmd, err := s.command(id)
	if err != nil {
		return err
	}
	ready := make(chan string, 1)
	p, err := s.w.launcher.start(cmd, s.w.nodeLog(fmt.Sprintf("%d-%s", number, id)), func(line []byte) {
		var said struct{ Msg, HTTPAddr string }
		if json.Unmarshal(line, &said) == nil && said.Msg == "ready" {
			ready <- said.HTTPAddr
		}
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.process, s.expected = p, false
	s.mu.Unlock()
	s.w.watching.Go(func() { s.watch(p, id) })
	select {
	case addr := <-ready:
		s.mu.Lock()
		s.remote = &remote{id: id, base: "http://" + addr, http: s.w.http}
		s.mu.Unlock()
		return nil
	case <-p.ended:
		return fmt.Errorf("node %s ended before it was ready: %s", id, p.tail())
	case <-ctx.Done():
		s.kill()
		return fmt.Errorf("node %s is not ready: %w\n%s", id, ctx.Err(), p.tail())
	}
}

// command starts one of the programs: what users build, which is the older one, or
// the test's own, which may be newer and may have a clock that is off.
func (s *slot) command(id string) (*exec.Cmd, error) {
	own, program, env := s.draw(id), s.w.program, ""
	args := []string{
		"--cluster", s.w.name, "--node-id", id, "--session-ttl", ttl.String(), "--etcd-endpoints", strings.Join(s.route.endpoints(), ","),
		"--drain-delay", "0s", "--drain-timeout", "10s", "--log-format", "json", "--allow-private-addresses", "--group-commit", s.w.groupCommit(), "--resume-locking", s.w.resumeLocking(),
	}
	if s.w.traits.tight {
		args = append(args, "--queue-ttl", "2s", "--retain-finished-count", "1000", "--retain-dead-letters-count", "5000")
	}
	addr := "127.0.0.1:0"
	if s.space != nil {
		addr = s.space.inside + ":0"
		args = append(args, "--insecure")
	}
	args = append(args, "--http-addr", addr)
	if own != nil {
		own.HTTPAddr = addr
		raw, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
		args, env = nil, nodeEnv+"="+string(raw)
	}
	cmd := exec.Command(program, args...)
	if s.space != nil {
		cmd = exec.Command("ip", append([]string{"netns", "exec", s.space.name, program}, args...)...)
	}
	cmd.Dir = s.w.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WEFT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	return cmd, nil
}

// newerSlot always runs the newer program, so that there is one again after every
// loss.
const newerSlot = 2

// draw decides what the next node of a slot is; nil: what users build.
func (s *slot) draw(id string) *ownNode {
	w := s.w
	commit, locking := w.groupCommit(), w.resumeLocking()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := &ownNode{Cluster: w.name, NodeID: id, GroupCommit: commit, ResumeLocking: locking, EtcdEndpoints: s.route.endpoints(), TTL: ttl, Insecure: s.space != nil,
		Newer: s.number == newerSlot || w.r.IntN(3) == 0}
	if w.traits.tight {
		n.QueueTTL, n.FinishedCount, n.DeadLettersCount = 2*time.Second, 1000, 5000
	}
	s.off = 0
	if w.traits.clocks && w.r.IntN(3) == 0 && !slices.ContainsFunc(w.slots, func(other *slot) bool { return other.off != 0 }) {
		s.off = drawOffset(w.r)
		n.Off = s.off
		w.counts["nodes with a wrong clock"]++
	}
	w.newer[id] = n.Newer
	if !n.Newer {
		w.counts["nodes with the older program"]++
	}
	if !n.Newer && n.Off == 0 {
		return nil
	}
	return n
}

// watch notices a node that ends by itself.
func (s *slot) watch(p *osProcess, id string) {
	<-p.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remote != nil && s.process == p && !s.expected { // one that cannot start says so to launch
		s.remote = nil
		s.w.record.violate("node-died", "%s ended with %v by itself:\n%s", id, p.cmd.ProcessState, p.tail())
	}
}

// hide keeps new calls away.
func (s *slot) hide() *osProcess {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remote = nil
	return s.process
}

// kill ends the node as a power cut does.
func (s *slot) kill() {
	s.mu.Lock()
	s.expected, s.remote = true, nil
	p := s.process
	s.mu.Unlock()
	if p != nil {
		p.kill()
	}
}

// leave ends the node as a drain does.
func (s *slot) leave() error {
	s.scrape()
	s.mu.Lock()
	s.expected, s.remote = true, nil
	p, id := s.process, s.id
	s.mu.Unlock()
	if p == nil || !p.alive() {
		return nil
	}
	p.resume()
	if code := p.terminate(30 * time.Second); code != 0 {
		return fmt.Errorf("node %s ended with %d when it was drained:\n%s", id, code, p.tail())
	}
	return nil
}

// show lets calls go there again.
func (s *slot) show(r *remote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil && s.process.alive() {
		s.remote = r
	}
}

func (s *slot) node() *remote {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remote
}

func (s *slot) nodeID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// ready waits until the node takes work.
func (s *slot) ready(ctx context.Context) error {
	for {
		err := errors.New("it is gone")
		if r := s.node(); r != nil {
			err = r.ready(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (r *remote) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if said, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("%s: %s", resp.Status, said))
	}
	return nil
}

// scrape adds what the node's counters have grown by since the last time.
func (s *slot) scrape() {
	r := s.node()
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	values, err := counters(ctx, r)
	if err != nil {
		return // a node that does not answer is not counted
	}
	s.mu.Lock()
	number := s.incarnation
	s.mu.Unlock()
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.scraped[fmt.Sprintf("%d/%d", s.number, number)] = values
}

// counters reads the metrics of a node.
func counters(ctx context.Context, r *remote) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	values := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 16<<20))
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); found && err == nil {
			values[name] = v
		}
	}
	return values, lines.Err()
}

// groupCommit is as asked for, or drawn.
func (w *town) groupCommit() string {
	if options.groupCommit != "mixed" {
		return options.groupCommit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.r.IntN(2) == 0 {
		return node.GroupCommitOff
	}
	return node.GroupCommitOn
}

// resumeLocking is as asked for, or drawn.
func (w *town) resumeLocking() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return drawLocking(w.r)
}

// drawLocking says whether a node's resumes take the lock first.
func drawLocking(r *rand.Rand) string {
	if options.resumeLocking != "mixed" {
		return options.resumeLocking
	}
	if r.IntN(3) == 0 {
		return node.ResumeLockingAlways
	}
	return node.ResumeLockingAuto
}
