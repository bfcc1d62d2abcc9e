package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// idlers is how many nodes and how many members of etcd idle beside each other.
const idlers = 3

// idleCluster are nodes and members that have nothing to do, each a process of its
// own, with a tap before each member.
type idleCluster struct {
	etcd  *etcdCluster
	taps  []*tap
	nodes []string // their URLs
	undo  []func() error
}

func (c *idleCluster) close() error {
	var errs []error
	for i := len(c.undo) - 1; i >= 0; i-- {
		errs = append(errs, c.undo[i]())
	}
	return errors.Join(errs...)
}

// idleAll measures what nodes and etcd cost while nobody wants anything of them: first
// the members alone, then with the nodes.
func idleAll(ctx context.Context, o options) (err error) {
	c := &idleCluster{}
	defer func() { err = errors.Join(err, c.close()) }()
	if c.etcd, err = startEtcd(ctx, idlers, o.dir, memberSettings{}); err != nil {
		return err
	}
	c.undo = append(c.undo, c.etcd.stop)
	for _, member := range c.etcd.endpoints {
		t, err := newTap(ctx, member)
		if err != nil {
			return err
		}
		c.taps, c.undo = append(c.taps, t), append(c.undo, t.close)
	}
	out := atRest{Machine: machine(), Started: time.Now().UTC(), Load: load()}
	fmt.Printf("%s; load average before it %.2f\n", out.Machine, out.Load)
	alone, err := c.observe(ctx, o.idle)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d members alone: %s\n", idlers, alone.processors())
	for i := range idlers {
		if err := c.addNode(o, i); err != nil {
			return err
		}
	}
	beside, err := c.observe(ctx, o.idle)
	if err != nil {
		return err
	}
	fmt.Printf("%d members and %d nodes: %s\n\n", idlers, idlers, beside.processors())
	beside.print(os.Stdout)
	out.of(alone, beside)
	return out.write(o.report)
}

// atRest is what a run of it says: parts of a core are in percent, requests a second.
type atRest struct {
	Machine    string    `json:"machine"`
	Started    time.Time `json:"started"`
	Load       float64   `json:"loadBefore"`
	Seconds    float64   `json:"seconds"` // of each of its two parts
	Alone      []float64 `json:"alone"`   // the members, before the nodes came
	Members    []float64 `json:"members"`
	Nodes      []float64 `json:"nodes"`
	Together   float64   `json:"together"` // members and nodes
	Requests   float64   `json:"requests"` // of all nodes
	Operations float64   `json:"operations"`
	Watchers   float64   `json:"watchers"`
}

// of takes what was seen of the members alone, and of them beside the nodes.
func (r *atRest) of(alone, beside *idleness) {
	cores := func(s *idleness, seconds []float64) []float64 {
		out := make([]float64, len(seconds))
		for i, v := range seconds {
			out[i] = 100 * v / s.took
		}
		return out
	}
	r.Seconds, r.Alone = beside.took, cores(alone, alone.members)
	r.Members, r.Nodes = cores(beside, beside.members), cores(beside, beside.nodes)
	for _, part := range slices.Concat(r.Members, r.Nodes) {
		r.Together += part
	}
	requests, _ := beside.requests()
	r.Requests, r.Operations, r.Watchers = float64(requests)/beside.took, beside.operations/beside.took, beside.watchers
}

// write puts it into a directory for -docs; "": nobody asked for that.
func (r *atRest) write(dir string) error {
	if dir == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "idle.json"), append(b, '\n'), 0o644)
}

// table is for people.
func (r *atRest) table() string {
	list := func(parts []float64) string {
		texts := make([]string, len(parts))
		for i, v := range parts {
			texts[i] = fmt.Sprintf("%.1f", v)
		}
		return strings.Join(texts, " / ")
	}
	return fmt.Sprintf("%s; %s; %.0f s; load average before it %.2f.\n\n| what | measured |\n|---|---|\n| members, alone before the nodes came | %s %% of a core |\n| members | %s %% |\n| nodes | %s %% |\n"+
		"| all six | %.1f %% |\n| requests a second of all three nodes | %.1f |\n| reads and writes of keys a second, at all members | %.0f |\n| watches that are open | %.0f |\n",
		r.Machine, r.Started.Format("2006-01-02 15:04 MST"), r.Seconds, r.Load, list(r.Alone), list(r.Members), list(r.Nodes), r.Together, r.Requests, r.Operations, r.Watchers)
}

func (c *idleCluster) addNode(o options, i int) error {
	dir, err := os.MkdirTemp(o.dir, "weft-bench-node-")
	if err != nil {
		return err
	}
	c.undo = append(c.undo, func() error { return os.RemoveAll(dir) })
	s := nodeSetup{ID: fmt.Sprintf("n%d", i), Cluster: "idle", Group: "on", Dir: dir}
	for _, t := range c.taps {
		s.Endpoints = append(s.Endpoints, t.URL)
	}
	ready, stop, err := startNode(s)
	if err != nil {
		return err
	}
	c.nodes, c.undo = append(c.nodes, ready.URL), append(c.undo, stop)
	return nil
}

// idleness is what was spent while nothing happened.
type idleness struct {
	took                 float64   // seconds
	members, nodes       []float64 // seconds of processor time of each process
	asked                map[string]int
	proposals, flushes   float64 // of the first member
	operations, watchers float64 // reads and writes of keys, of all members; watches that are open
}

// observe waits until the start is over, and then looks for so long.
func (c *idleCluster) observe(ctx context.Context, long time.Duration) (*idleness, error) {
	if err := wait(ctx, settleFor); err != nil {
		return nil, err
	}
	began, before := time.Now(), c.spent(ctx)
	if err := wait(ctx, long); err != nil {
		return nil, err
	}
	now := c.spent(ctx)
	now.took = time.Since(began).Seconds()
	now.proposals, now.flushes, now.operations = now.proposals-before.proposals, now.flushes-before.flushes, now.operations-before.operations
	for i := range now.members {
		now.members[i] -= before.members[i]
	}
	for i := range now.nodes {
		now.nodes[i] -= before.nodes[i]
	}
	for what, n := range before.asked {
		if now.asked[what] -= n; now.asked[what] == 0 {
			delete(now.asked, what)
		}
	}
	return now, nil
}

// settleFor is how long nodes have for their start: by then they have compared their
// clocks, and each worker has had its first look.
const settleFor = 20 * time.Second

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// spent is all that was spent since the start.
func (c *idleCluster) spent(ctx context.Context) *idleness {
	s := &idleness{asked: map[string]int{}}
	processor := func(to *float64) func(string, float64) {
		return func(name string, v float64) {
			if name == "process_cpu_seconds_total" {
				*to = v
			}
		}
	}
	s.members, s.nodes = make([]float64, len(c.etcd.endpoints)), make([]float64, len(c.nodes))
	for i, url := range c.etcd.endpoints {
		seconds := processor(&s.members[i])
		scrape(ctx, url, func(name string, v float64) {
			seconds(name, v)
			switch name {
			case "etcd_mvcc_range_total", "etcd_mvcc_put_total", "etcd_mvcc_delete_total":
				s.operations += v
			case "etcd_debugging_mvcc_watcher_total":
				s.watchers += v
			}
			if i > 0 {
				return
			}
			switch name {
			case "etcd_server_proposals_applied_total":
				s.proposals = v
			case "etcd_disk_wal_fsync_duration_seconds_count":
				s.flushes = v
			}
		})
	}
	for i, url := range c.nodes {
		scrape(ctx, url, processor(&s.nodes[i]))
	}
	for _, t := range c.taps {
		for what, n := range t.counts() {
			s.asked[what] += n
		}
	}
	return s
}

// processors is what part of a core each process had, and all together.
func (s *idleness) processors() string {
	all := 0.0
	list := func(seconds []float64) string {
		texts := make([]string, len(seconds))
		for i, v := range seconds {
			texts[i] = fmt.Sprintf("%.1f", 100*v/s.took)
			all += 100 * v / s.took
		}
		return strings.Join(texts, " / ")
	}
	text := "members " + list(s.members)
	if len(s.nodes) > 0 {
		text += ", nodes " + list(s.nodes)
	}
	return fmt.Sprintf("%s, together %.1f %% of a core (%.0f s)", text, all, s.took)
}

// requests are those of all nodes, and the answers of their watches.
func (s *idleness) requests() (requests, events int) {
	for what, n := range s.asked {
		if strings.HasPrefix(what, eventsOf) {
			events += n
		} else {
			requests += n
		}
	}
	return requests, events
}

// print writes who asked what, a second, of all nodes together.
func (s *idleness) print(to *os.File) {
	requests, events := s.requests()
	rate := func(n float64) float64 { return n / s.took }
	fmt.Fprintf(to, "%.1f requests a second, %.1f answers of watches; at etcd %.1f proposals, %.1f flushes of a member's log, %.0f reads and writes of keys; %.0f watches\n\n",
		rate(float64(requests)), rate(float64(events)), rate(s.proposals), rate(s.flushes), rate(s.operations), s.watchers)
	fmt.Fprintln(to, "| a second | what, and of which keys |\n|---|---|")
	for _, what := range byCount(s.asked) {
		fmt.Fprintf(to, "| %.2f | %s |\n", rate(float64(s.asked[what])), what)
	}
}
