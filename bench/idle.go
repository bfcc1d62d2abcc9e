package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	fmt.Printf("%s; load average before it %.2f\n", machine(), load())
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
	return nil
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

// print writes who asked what, a second, of all nodes together.
func (s *idleness) print(to *os.File) {
	requests, events := 0, 0
	for what, n := range s.asked {
		if strings.HasPrefix(what, eventsOf) {
			events += n
		} else {
			requests += n
		}
	}
	rate := func(n float64) float64 { return n / s.took }
	fmt.Fprintf(to, "%.1f requests a second, %.1f answers of watches; at etcd %.1f proposals, %.1f flushes of a member's log, %.0f reads and writes of keys; %.0f watches\n\n",
		rate(float64(requests)), rate(float64(events)), rate(s.proposals), rate(s.flushes), rate(s.operations), s.watchers)
	fmt.Fprintln(to, "| a second | what, and of which keys |\n|---|---|")
	for _, what := range byCount(s.asked) {
		fmt.Fprintf(to, "| %.2f | %s |\n", rate(float64(s.asked[what])), what)
	}
}
