package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// root is where the cluster's keys begin.
func (c *cluster) root() string { return "/weft/" + c.name + "/" }

// checkHistories checks what has to hold whatever happened:
//
//   - the journal entries of each instance are numbered from 1 without a gap, and
//     none was ever written twice (G1: the commits form one chain);
//   - no node counted a breach;
//   - no node panicked.
func (c *cluster) checkHistories(t *testing.T) {
	t.Helper()
	etcd := c.etcd.Client(t)
	prefix := c.root() + "journal/"
	resp, err := etcd.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	next := map[string]int{}
	for _, kv := range resp.Kvs {
		id, seq, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), prefix), "/")
		n, err := strconv.Atoi(seq)
		if err != nil {
			t.Errorf("journal key %s", kv.Key)
		}
		if next[id]++; n != next[id] {
			t.Errorf("the commits of %s have a gap: %d follows %d", id, n, next[id]-1)
		}
		if kv.Version != 1 {
			t.Errorf("commit %d of %s was written %d times", n, id, kv.Version)
		}
	}
	for _, m := range c.live() {
		if n := c.metric(t, m, "weft_commits_total", `outcome="breach"`); n != 0 {
			t.Errorf("%s counts %v breaches", m.id, n)
		}
	}
	for _, m := range c.members {
		if strings.Contains(m.log.String(), "panic") {
			t.Errorf("%s panicked: %s", m.id, tail(m.log.String(), 3000))
		}
	}
}

// metric adds up the series of a metric that have all these labels
// (`outcome="fenced"`).
func (c *cluster) metric(t *testing.T, m *member, name string, labels ...string) float64 {
	t.Helper()
	n, err := c.tryMetric(t.Context(), m, name, labels...)
	if err != nil {
		t.Fatalf("scrape %s: %v", m.id, err)
	}
	return n
}

func (c *cluster) tryMetric(ctx context.Context, m *member, name string, labels ...string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %s", resp.Status)
	}
	sum, found := 0.0, false
	text := bufio.NewScanner(resp.Body)
series:
	for text.Scan() {
		line := text.Text()
		if !strings.HasPrefix(line, name) {
			continue
		}
		series, value, _ := strings.Cut(line, " ")
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(series, l) {
				continue series
			}
		}
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("line %q: %w", line, err)
		}
		sum, found = sum+f, true
	}
	if !found {
		return 0, fmt.Errorf("there is no %s with %v", name, labels)
	}
	return sum, text.Err()
}

// total adds up a metric over the live nodes.
func (c *cluster) total(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	sum := 0.0
	for _, m := range c.live() {
		sum += c.metric(t, m, name, labels...)
	}
	return sum
}

// holder is the node that holds an instance's lock, nil if none does.
func (c *cluster) holder(t *testing.T, m *member, instance string) *member {
	t.Helper()
	for _, lock := range c.list(t, m, "/api/v1/locks?scope=instance") {
		name, _ := lock["name"].(string)
		holder, _ := lock["holder"].(string)
		if strings.HasSuffix(name, instance) && holder != "" {
			return c.member(t, holder)
		}
	}
	return nil
}

// keys are all keys of the cluster, without its root.
func (c *cluster) keys(t *testing.T) []string {
	t.Helper()
	resp, err := c.etcd.Client(t).Get(t.Context(), c.root(), clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		keys[i] = strings.TrimPrefix(string(kv.Key), c.root())
	}
	return keys
}

// takeoverBound is how long a takeover that began with the call may take: session
// TTL and two seconds, and one TTL more for each change of leader of an etcd in
// this process since, since that renews every lease (G5). A starved machine
// brings about such changes; and there two seconds of work take longer, by as much
// as a thread of this process waits for a processor meanwhile.
func takeoverBound(t *testing.T) func() time.Duration {
	t.Helper()
	before, slower := leaderChanges(t), starvation(t)
	return func() time.Duration {
		return shortTTL + time.Duration(slower()*float64(takeoverTime-shortTTL)) + time.Duration(leaderChanges(t)-before)*shortTTL
	}
}

// starvation tells how much longer than alone on the machine a thread ran between the
// two calls: 1 is not at all.
func starvation(t *testing.T) func() float64 {
	t.Helper()
	used := func() time.Duration { // by this thread
		var u syscall.Rusage
		const thread = 1
		if err := syscall.Getrusage(thread, &u); err != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	over, result := make(chan struct{}), make(chan float64, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const work, every = 10 * time.Millisecond, 200 * time.Millisecond
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		var wall, cpu time.Duration
		for {
			begun, before := time.Now(), used()
			for used()-before < work && time.Since(begun) < time.Second {
			}
			wall, cpu = wall+time.Since(begun), cpu+used()-before
			select {
			case <-ticks.C:
			case <-over:
				result <- max(1, float64(wall)/float64(max(1, cpu)))
				return
			}
		}
	}()
	end := sync.OnceValue(func() float64 { close(over); return <-result })
	t.Cleanup(func() { end() })
	return end
}

// leaderChanges counts for the etcds of this process.
func leaderChanges(t *testing.T) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "etcd_server_leader_changes_seen_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("etcd does not count its changes of leader")
	return 0
}
