package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what has been spent so far; two of them make a measurement.
type cost struct {
	at                  time.Time
	own                 time.Duration // user and system, of this process: nodes and callers
	cpu                 time.Duration // of all processes
	mallocs, allocBytes uint64        // of this process: nodes and callers
	requests, bytes     float64       // at etcd's gRPC door
	proposals           float64
}

func (s *system) spent(ctx context.Context) cost {
	c := cost{at: time.Now(), own: ownTime()}
	c.cpu = c.own
	for _, pid := range s.pids {
		c.cpu += processTime(pid)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.mallocs, c.allocBytes = m.Mallocs, m.TotalAlloc
	for i, e := range s.endpoints {
		scrape(ctx, e, func(name string, v float64) {
			switch {
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

// scrape reads the metrics of one etcd member; without an answer there are none.
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
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			each(name, v)
		}
	}
}

func ownTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processTime reads another process's time from /proc; 0 where there is none.
func processTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name in parentheses may hold spaces; utime and stime are the 12th and
	// 13th fields after it, in ticks of 10 ms.
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	var ticks int64
	for _, s := range f[11:13] {
		n, _ := strconv.ParseInt(s, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
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

func setProfileRates() {
	runtime.SetMutexProfileFraction(20)
	runtime.SetBlockProfileRate(100_000)
}
