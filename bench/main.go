// Command bench measures Weft and, in the same run, the etcd below it.
//
//	go run ./bench                       # W1 to W7, one etcd process, one node
//	go run ./bench --workloads W1,W2 --commit burst,activity --group-commit on,off
//	go run ./bench --nodes 3 --etcd three --transport http
//	go run ./bench --help
//
// It starts etcd (this binary again, as a process of its own, with fsync on) and
// nodes (in this process), runs each workload with closed-loop callers, and
// prints throughput, latencies, processor time of all processes, requests and
// bytes at etcd, and allocations, each per operation. Before and after the
// workloads of one concurrency it measures raw puts, so that each figure is also
// a ratio to what this etcd did on this machine at that time.
//
// What it does not tell: what a real network adds, since everything shares one
// machine and its processors; what callers outside cost, since they are in the
// process of the nodes and counted with them.
//
// docs/performance.md explains the figures and has those of one machine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	workloads, etcd, transport, commit, group []string
	concurrency                               []int
	nodes                                     int
	duration                                  time.Duration
	instances, rate, timers                   int
	dir, json, plots, profile                 string
	raw                                       bool
	endpoints                                 []string
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	list := func(to *[]string, name, value, usage string) {
		*to = strings.Split(value, ",")
		fs.Func(name, usage+" (default "+value+")", func(s string) error { *to = strings.Split(s, ","); return nil })
	}
	list(&o.workloads, "workloads", "W1,W2,W3,W4,W5,W6,W7", "which to run: W1 start to finish, W2 wait and resume, W3 one hot instance, W4 resumes among many suspended, W5 timers due at once, W6 fan-out over 10 children, W7 refresh storm")
	list(&o.etcd, "etcd", "one", "one process, three (processes), or embedded (in the node)")
	list(&o.transport, "transport", "inprocess", "how callers reach nodes: inprocess, http")
	list(&o.commit, "commit", "burst", "when an instance is saved: burst (once per burst), activity (after each activity); W1 and W2")
	list(&o.group, "group-commit", "on", "on, off")
	conc := []string{}
	list(&conc, "concurrency", "1,16,64,256", "callers at once")
	fs.IntVar(&o.nodes, "nodes", 1, "nodes, all in this process")
	fs.DurationVar(&o.duration, "duration", 5*time.Second, "of each measurement")
	fs.IntVar(&o.instances, "instances", 20000, "W4: suspended instances")
	fs.IntVar(&o.rate, "rate", 1000, "W4: resumes a second")
	fs.IntVar(&o.timers, "timers", 10000, "W5: timers that are due at once")
	fs.BoolVar(&o.raw, "raw", true, "also measure the limits of etcd: put, get, mutex, folded transactions")
	endpoints := fs.String("endpoints", "", "a running etcd, separated by commas, instead of starting one; it is written to")
	fs.StringVar(&o.dir, "data-dir", "", "where etcd keeps its data (default: a temporary directory; mind what disk that is)")
	fs.StringVar(&o.json, "json", "", "write the results to this file")
	fs.StringVar(&o.plots, "plots", "", "write SVG plots into this directory")
	fs.StringVar(&o.profile, "profile", "", "write processor, allocation and mutex profiles of this process into this directory")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	for _, c := range conc {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return o, fmt.Errorf("concurrency %q is no positive number", c)
		}
		o.concurrency = append(o.concurrency, n)
	}
	if *endpoints != "" {
		o.endpoints, o.etcd = strings.Split(*endpoints, ","), []string{"given"}
	}
	for _, w := range o.workloads {
		if workloads[w] == nil {
			return o, fmt.Errorf("there is no workload %q", w)
		}
	}
	return o, nil
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveCommand {
		if err := serveEtcd(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "etcd:", err)
			os.Exit(1)
		}
		return
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run measures every combination that was asked for.
func run(ctx context.Context, o options) error {
	if o.profile != "" {
		stop, err := profile(o.profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	rep := report{Machine: machine(), Started: time.Now().UTC()}
	for _, etcd := range o.etcd {
		for _, transport := range o.transport {
			for _, group := range o.group {
				s := setup{Etcd: etcd, Transport: transport, Group: group, Nodes: o.nodes}
				points, err := s.measure(ctx, o)
				rep.Points = append(rep.Points, points...)
				if err != nil {
					return errors.Join(fmt.Errorf("%s: %w", s, err), rep.write(o))
				}
			}
		}
	}
	return rep.write(o)
}

func (r *report) write(o options) error {
	if err := r.table(os.Stdout); err != nil {
		return err
	}
	if o.json != "" {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.plots == "" {
		return nil
	}
	if err := os.MkdirAll(o.plots, 0o755); err != nil {
		return err
	}
	for name, svg := range r.plots() {
		if err := os.WriteFile(filepath.Join(o.plots, name), svg, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func profile(dir string) (stop func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	setProfileRates()
	cpu, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = cpu.Close()
		for _, name := range []string{"allocs", "mutex", "block"} {
			if f, err := os.Create(filepath.Join(dir, name+".pprof")); err == nil {
				_ = pprof.Lookup(name).WriteTo(f, 0)
				_ = f.Close()
			}
		}
	}, nil
}
