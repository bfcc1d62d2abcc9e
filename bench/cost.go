package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what has been spent so far, or between two looks.
type cost struct {
	nodes, callers, etcd float64 // seconds of processor time, user and system
	mallocs, allocBytes  float64 // of the nodes; with nodes in this process of the callers too
	requests, bytes      float64 // at etcd's gRPC door
	proposals            float64
}

func (c cost) minus(d cost) cost {
	return cost{c.nodes - d.nodes, c.callers - d.callers, c.etcd - d.etcd, c.mallocs - d.mallocs, c.allocBytes - d.allocBytes,
		c.requests - d.requests, c.bytes - d.bytes, c.proposals - d.proposals}
}

func (c cost) plus(d cost) cost {
	return cost{c.nodes + d.nodes, c.callers + d.callers, c.etcd + d.etcd, c.mallocs + d.mallocs, c.allocBytes + d.allocBytes,
		c.requests + d.requests, c.bytes + d.bytes, c.proposals + d.proposals}
}

// spent asks every process. Nodes in this process cannot be told from their
// callers, and an embedded etcd not from its node.
func (s *system) spent(ctx context.Context) cost {
	var c cost
	if len(s.nodes) > 0 {
		c.nodes = ownTime()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.mallocs, c.allocBytes = float64(m.Mallocs), float64(m.TotalAlloc)
	} else {
		c.callers = ownTime()
		for _, u := range s.urls {
			scrape(ctx, u, func(name string, v float64) {
				switch name {
				case "process_cpu_seconds_total":
					c.nodes += v
				case "go_memstats_mallocs_total":
					c.mallocs += v
				case "go_memstats_alloc_bytes_total":
					c.allocBytes += v
				}
			})
		}
	}
	for i, e := range s.endpoints {
		scrape(ctx, e, func(name string, v float64) {
			switch {
			case name == "process_cpu_seconds_total" && s.setup.Etcd != embedded:
				c.etcd += v
			case strings.HasPrefix(name, "grpc_server_started_total{") && strings.Contains(name, `grpc_service="etcdserverpb.KV"`):
				c.requests += v
			case strings.HasPrefix(name, "etcd_network_client_grpc_received_bytes_total"), strings.HasPrefix(name, "etcd_network_client_grpc_sent_bytes_total"):
				c.bytes += v
			case i == 0 && strings.HasPrefix(name, "etcd_server_proposals_applied_total"):
				c.proposals = v
			}
		})
	}
	return c
}

// memory is that of the first node, in MB: what its process holds, and its heap.
func (s *system) memory(ctx context.Context) (resident, heap float64) {
	scrape(ctx, s.urls[0], func(name string, v float64) {
		switch name {
		case "process_resident_memory_bytes":
			resident = v / (1 << 20)
		case "go_memstats_heap_inuse_bytes":
			heap = v / (1 << 20)
		}
	})
	return resident, heap
}

// etcdSize is that of the first member's database, in MB: what holds something, and
// its file.
func (s *system) etcdSize(ctx context.Context) (inUse, allocated float64) {
	if len(s.endpoints) == 0 {
		return 0, 0
	}
	scrape(ctx, s.endpoints[0], func(name string, v float64) {
		switch name {
		case "etcd_mvcc_db_total_size_in_use_in_bytes":
			inUse = v / (1 << 20)
		case "etcd_mvcc_db_total_size_in_bytes":
			allocated = v / (1 << 20)
		}
	})
	return inUse, allocated
}

// scrape reads the metrics of a node or an etcd member; without an answer there
// are none.
// ofCluster is the label that all metrics of a node have.
var ofCluster = regexp.MustCompile(`\{cluster="[^"]*"\}|cluster="[^"]*",|,cluster="[^"]*"`)

func scrape(ctx context.Context, endpoint string, each func(name string, v float64)) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/metrics", http.NoBody)
	if err != nil {
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		name = ofCluster.ReplaceAllString(name, "") // etcd's own have none
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			each(name, v)
		}
	}
}

func ownTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// machine names what the figures were measured on.
func machine() string {
	model := ""
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s/%s, %d processors (%s), %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model, runtime.Version())
}

// load is how busy the machine was in the last minute, others included; a figure
// taken beside other work is no figure.
func load() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	v, _ := strconv.ParseFloat(first, 64)
	return v
}

func setProfileRates() {
	runtime.SetMutexProfileFraction(20)
	runtime.SetBlockProfileRate(100_000)
}
