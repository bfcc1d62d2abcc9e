package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// report is what one run of the program says.
type report struct {
	Machine string    `json:"machine"`
	Started time.Time `json:"started"`
	Points  []point   `json:"points"`
}

// point is one measurement. Costs are per operation.
type point struct {
	setup
	Kind        string  `json:"kind"` // raw or workload
	Name        string  `json:"name"`
	Commit      string  `json:"commit,omitempty"`
	Concurrency int     `json:"concurrency"` // callers; W4: resumes a second; W5: timers
	Ops         int     `json:"ops"`
	Failed      int     `json:"failed,omitempty"`
	Error       string  `json:"error,omitempty"` // of one that failed
	Seconds     float64 `json:"seconds"`
	PerSecond   float64 `json:"perSecond"`
	ToPut       float64 `json:"toPut"` // throughput, as a ratio to raw puts of this run and concurrency
	P50         float64 `json:"p50Ms"`
	P99         float64 `json:"p99Ms"`
	P999        float64 `json:"p999Ms"`
	CPU         float64 `json:"cpuMs"`        // of all processes
	CPUNodes    float64 `json:"cpuNodesMs"`   // of it, nodes and callers; the rest is etcd's
	Requests    float64 `json:"etcdRequests"` // through etcd's gRPC door
	Bytes       float64 `json:"etcdBytes"`    // to and from clients
	Proposals   float64 `json:"proposals"`    // entries of the raft log
	Allocs      float64 `json:"allocs"`       // of the nodes' process
	AllocBytes  float64 `json:"allocBytes"`

	Notes map[string]float64 `json:"notes,omitempty"`
}

func (p *point) notes(name string, v float64) {
	if p.Notes == nil {
		p.Notes = map[string]float64{}
	}
	p.Notes[name] = v
}

func (p *point) label() string {
	if p.Commit != "" && p.Commit != "burst" {
		return p.Name + " (" + p.Commit + ")"
	}
	return p.Name
}

// table writes what people read.
func (r *report) table(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n%s\n", r.Machine, r.Started.Format(time.RFC3339))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var of setup
	for _, p := range r.Points {
		if p.setup != of {
			of = p.setup
			fmt.Fprintf(tw, "\n%s\t\n", of)
			fmt.Fprintln(tw, "what\tcallers\tper second\t× put\tp50 ms\tp99 ms\tp99.9 ms\tcpu ms\tof nodes\trequests\tproposals\tetcd KB\tallocs\talloc KB\t")
		}
		fmt.Fprintf(tw, "%s\t%d\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t\n", p.label(), p.Concurrency, p.PerSecond, p.ToPut,
			p.P50, p.P99, p.P999, p.CPU, p.CPUNodes, p.Requests, p.Proposals, p.Bytes/1024, p.Allocs, p.AllocBytes/1024)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, p := range r.Points {
		if len(p.Notes) == 0 && p.Failed == 0 {
			continue
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(p.Notes)) {
			parts = append(parts, fmt.Sprintf("%s %.3g", name, p.Notes[name]))
		}
		if p.Failed > 0 {
			parts = append(parts, fmt.Sprintf("%d failed, such as: %s", p.Failed, p.Error))
		}
		fmt.Fprintf(w, "%s at %d (%s): %s\n", p.label(), p.Concurrency, p.setup, strings.Join(parts, ", "))
	}
	return nil
}

// sample collects durations from many goroutines.
type sample struct {
	mu   sync.Mutex
	list []time.Duration // guarded by mu
}

func (s *sample) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, d)
}

func (s *sample) quantile(q float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.list)
	return ms(quantile(s.list, q))
}
