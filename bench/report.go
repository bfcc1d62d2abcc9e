package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// report is what one run of the program says.
type report struct {
	Machine string    `json:"machine"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Load    float64   `json:"loadBefore"` // average of the minute before the run: others who wanted the processor
	Quick   bool      `json:"quick,omitempty"`
	Points  []point   `json:"points"`
	Counts  []counted `json:"counts,omitempty"`

	atRest *atRest // of a run of its own; nil: there was none
}

// point is one measurement. Costs are per operation.
type point struct {
	setup
	Pass        string  `json:"pass,omitempty"`
	Kind        string  `json:"kind"` // raw, workload or lookup
	Name        string  `json:"name"`
	Commit      string  `json:"commit,omitempty"`
	Concurrency int     `json:"concurrency"` // callers; W4: resumes a second; W5, timers, queue: how many; lookups: among how many
	Ops         int     `json:"ops"`
	Failed      int     `json:"failed,omitempty"`
	Error       string  `json:"error,omitempty"` // of one that failed
	Seconds     float64 `json:"seconds"`
	PerSecond   float64 `json:"perSecond"`
	ToPut       float64 `json:"toPut"` // throughput, as a ratio to the raw puts right before and after
	P50         float64 `json:"p50Ms"`
	P99         float64 `json:"p99Ms"`
	P999        float64 `json:"p999Ms"`
	CPU         float64 `json:"cpuMs"`        // of all processes
	CPUNodes    float64 `json:"cpuNodesMs"`   // of it, nodes; in one process with the callers: both
	CPUCallers  float64 `json:"cpuCallersMs"` // of it, callers in a process of their own
	CPUEtcd     float64 `json:"cpuEtcdMs"`    // of it, etcd; embedded it is in the nodes'
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
	name := cmp.Or(labels[p.Name], p.Name)
	switch {
	case p.Commit == "activity":
		return name + " (saved after each activity, strict)"
	case p.Commit == "joined":
		return name + " (saved after each activity, joined)"
	case p.Kind == "lookup":
		return "look-up " + name
	default:
		return name
	}
}

// labels are the names of workloads whose names say too little.
var labels = map[string]string{
	threeCalls:     "W1 with three HTTP calls",
	threeCallsSlow: "W1 with three HTTP calls of 5 ms",
}

// write prints the table and writes the files that were asked for.
func (r *report) write(o options) error {
	errs := []error{r.table(os.Stdout)}
	if o.json != "" {
		b, err := json.MarshalIndent(r, "", "  ")
		errs = append(errs, err, os.WriteFile(o.json, append(b, '\n'), 0o644))
	}
	if o.report != "" {
		var b strings.Builder
		errs = append(errs, r.table(&b), os.WriteFile(filepath.Join(o.report, "table.txt"), []byte(b.String()), 0o644))
	}
	if o.plots != "" {
		errs = append(errs, r.writePlots(o.plots))
	}
	return errors.Join(errs...)
}

func (r *report) writePlots(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for name, svg := range r.plots() {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), svg, 0o644))
	}
	return errors.Join(errs...)
}

// table writes what people read.
func (r *report) table(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n%s, %.0f s, load before %.2f\n", r.Machine, r.Started.Format(time.RFC3339), r.Seconds, r.Load)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var of setup
	for i := range r.Points {
		p := &r.Points[i]
		if p.missed() {
			continue
		}
		if p.setup != of {
			of = p.setup
			fmt.Fprintf(tw, "\n%s\t\n", of)
			fmt.Fprintln(tw, "what\tcallers\tper second\t× put\tp50 ms\tp99 ms\tp99.9 ms\tcpu ms\tnodes\tcallers\tetcd\trequests\tproposals\tetcd KB\tallocs\talloc KB\t")
		}
		fmt.Fprintf(tw, "%s\t%d\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t\n", p.label(), p.Concurrency, p.PerSecond, p.ToPut,
			p.P50, p.P99, p.P999, p.CPU, p.CPUNodes, p.CPUCallers, p.CPUEtcd, p.Requests, p.Proposals, p.Bytes/1024, p.Allocs, p.AllocBytes/1024)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for i := range r.Points {
		p := &r.Points[i]
		if parts := p.remarks(); len(parts) > 0 {
			fmt.Fprintf(w, "%s at %d (%s): %s\n", p.label(), p.Concurrency, p.setup, strings.Join(parts, ", "))
		}
	}
	if len(r.Counts) > 0 {
		fmt.Fprintf(w, "\n%s", countTable(r.Counts))
	}
	return nil
}

// remarks are what a point says besides its columns.
func (p *point) remarks() (parts []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Notes)) {
		parts = append(parts, name+" "+noted(p.Notes[name]))
	}
	switch {
	case p.missed():
		parts = append(parts, "not measured: "+p.Error)
	case p.Error != "":
		parts = append(parts, fmt.Sprintf("%d failed, such as: %s", p.Failed, p.Error))
	}
	return parts
}

// missed tells that nothing was measured, so that its columns say nothing.
func (p *point) missed() bool { return p.Ops == 0 && p.Error != "" }

// noted is a figure with four digits, or all of those before the point.
func noted(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprintf("%.4g", v)
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
