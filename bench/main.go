// Command bench measures Weft and, in the same run, the etcd below it.
//
//	go run ./bench -report bench-results         # everything; or: make bench-report
//	go run ./bench -report bench-results -quick  # less of it
//	go run ./bench -docs docs/performance.md -from bench-results
//
//	go run ./bench                       # W1 to W7, one etcd process, one node
//	go run ./bench -workloads W1,W2 -commit burst,activity -group-commit on,off
//	go run ./bench -nodes 1,2,3 -etcd three -transport http
//	go run ./bench -targets http://a:8080,http://b:8080 -endpoints http://e:2379 -cluster default
//	go run ./bench -counts
//	go run ./bench -report bench-results -million
//	go run ./bench -sustained -duration 30m -quotas 2 -rates 200,300,400
//	go run ./bench -floods all -duration 60s
//	go run ./bench -idle 60s             # what nodes cost that have nothing to do
//	go run ./bench -streams 200          # what open streams of events take of W1
//	go run ./bench -wide 100000          # what one instance that waits at so many places costs a node
//	go run ./bench -help
//
// It starts etcd (this binary again, as a process of its own, with fsync on) and
// nodes (in this process, or over HTTP in processes of their own), or takes those
// of a running cluster, runs each workload with closed-loop callers, and prints
// throughput, latencies, processor time of all processes, requests and bytes at
// etcd, and allocations, each per operation. Before and after each workload it
// measures raw puts, so that each figure is also a ratio to what this etcd did on
// this machine at that time.
//
// What it does not tell: what a real network adds, since everything shares one
// machine and its processors.
//
// docs/performance.md explains the figures and has those of one machine. peers/
// measures other engines beside this one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weft-run/weft/internal/heapfloor"
	"github.com/weft-run/weft/pkg/node"
)

// options are the flags.
type options struct {
	workloads, etcd, transport, commit, group []string
	concurrency, nodes                        []int
	duration                                  time.Duration
	instances, rate, timers                   int
	dir, json, plots, profile                 string
	raw                                       bool
	resumeLocking                             string
	endpoints, targets                        []string
	cluster                                   string

	report, docs, from, floods, steady string
	quick, counts, million             bool
	sustained, walks                   bool
	idle                               time.Duration
	streams                            int
	wide                               int
	wideOf                             string
	rates, quotas                      []int

	// What the parts set, and nobody by a flag.
	door      bool // between the nodes and etcd, to count
	member    memberSettings
	retention *node.Retention
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	list := func(to *[]string, name, value, usage string) {
		*to = split(value)
		fs.Func(name, usage+" (default "+value+")", func(s string) error { *to = split(s); return nil })
	}
	numbers := func(to *[]int, name, value, usage string) {
		set := func(s string) (err error) { *to, err = positive(s); return err }
		_ = set(value)
		fs.Func(name, usage+" (default "+value+")", set)
	}
	list(&o.workloads, "workloads", "W1,W2,W3,W4,W5,W6,W7", "which to run: W1 start to finish, W2 wait and resume, W3 one hot instance, W4 resumes among many suspended, W5 timers due at once, W6 fan-out over 10 children, W7 refresh storm; "+threeCalls+", "+threeCallsSlow+": W1 with three HTTP calls, answered at once and after 5 ms; timers, queue: the same work on few shards and on all")
	list(&o.etcd, "etcd", "one", "one process, three (processes), or embedded (in the node)")
	list(&o.transport, "transport", "inprocess", "how callers reach nodes: inprocess, http (nodes are processes of their own)")
	list(&o.commit, "commit", "burst", "when an instance is saved: burst (once per burst), joined (after each activity, but those without an effect outside together), activity (after each activity, strict); W1 and W2")
	list(&o.group, "group-commit", "on", "on, off")
	fs.StringVar(&o.resumeLocking, "resume-locking", "", "of the nodes: always, auto (default: as they are shipped)")
	numbers(&o.concurrency, "concurrency", "1,16,64,256", "callers at once")
	numbers(&o.nodes, "nodes", "1", "how many nodes")
	fs.DurationVar(&o.duration, "duration", 5*time.Second, "of each measurement")
	fs.IntVar(&o.instances, "instances", 20000, "W4: suspended instances")
	fs.IntVar(&o.rate, "rate", 1000, "W4: resumes a second")
	fs.IntVar(&o.timers, "timers", 10000, "W5: timers that are due at once")
	fs.BoolVar(&o.raw, "raw", true, "also measure the limits of etcd: get, mutex, folded transactions (puts always are)")
	list(&o.endpoints, "endpoints", "", "a running etcd, separated by commas, instead of starting one; it is written to")
	list(&o.targets, "targets", "", "running nodes (http://host:port), instead of starting some; needs -endpoints and -cluster for raw puts and W5")
	fs.StringVar(&o.cluster, "cluster", "", "the name of the cluster in etcd (default one for this run)")
	fs.StringVar(&o.dir, "data-dir", "", "where etcd keeps its data (default: a temporary directory; mind what disk that is)")
	fs.StringVar(&o.json, "json", "", "write the results to this file")
	fs.StringVar(&o.plots, "plots", "", "write SVG plots into this directory")
	fs.StringVar(&o.profile, "profile", "", "write processor, allocation and mutex profiles of this process into this directory, with -transport http W4's heap profiles of the node")
	fs.StringVar(&o.report, "report", "", "run the whole plan and write results.json, table.txt and plots into this directory")
	fs.BoolVar(&o.quick, "quick", false, "with -report: shorter measurements, fewer of them")
	fs.StringVar(&o.floods, "floods", "", "measure only what floods of one client do to 16 callers of W1: all, or those whose name has this text; each for -duration (one minute, as the table in docs/verification.md: -duration 60s)")
	fs.DurationVar(&o.idle, "idle", 0, "measure only what three members of etcd and three nodes cost that have nothing to do, for so long (30s), and who asks etcd for what; with -report into idle.json")
	fs.StringVar(&o.steady, "steady", "", "measure only whether what is sent all the time, for -duration (10m), gets slower: all kinds, or those whose name has this text")
	fs.BoolVar(&o.walks, "walks", false, "with -steady: also over how many keys etcd goes for what nodes ask, also those that are gone")
	fs.IntVar(&o.streams, "streams", 0, "measure only what so many open streams of events (200) take of W1, in four turns of -duration")
	fs.IntVar(&o.wide, "wide", 0, "measure only what one instance with so many places (100000) costs over HTTP, from its start to its end: time, and memory of a node that does nothing else; -etcd embedded: with its etcd in the process")
	fs.StringVar(&o.wideOf, "wide-of", ofPlaces, "of -wide: "+ofPlaces+" where it waits for a task, or "+ofChildren)
	fs.BoolVar(&o.counts, "counts", false, "measure nothing that a busy machine changes: count what an operation asks of etcd and allocates, with one caller")
	fs.BoolVar(&o.million, "million", false, "with -report: make a million instances that wait, and measure a node and resumes beside them, into million.json (with -quick: 10,000)")
	fs.BoolVar(&o.sustained, "sustained", false, "look for the highest rate of starts that is level for -duration, with retention, on each of -quotas; with -report into sustained.json (30 minutes: -duration 30m)")
	numbers(&o.rates, "rates", "200,300,400,500,700,1000,1300,1600,2000", "of -sustained: starts a second to choose from")
	numbers(&o.quotas, "quotas", "2,8", "of -sustained: of etcd, in GiB")
	fs.StringVar(&o.docs, "docs", "", "measure nothing: write the tables of -from into this file, between its marks, and plots beside it")
	fs.StringVar(&o.from, "from", "bench-results", "where -docs finds results.json and peers.json")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if len(o.targets) > 0 {
		o.transport, o.nodes = []string{"http"}, []int{len(o.targets)}
	}
	if len(o.endpoints) > 0 || len(o.targets) > 0 {
		o.etcd = []string{given}
	}
	if o.wideOf != ofPlaces && o.wideOf != ofChildren {
		return o, fmt.Errorf("an instance is wide of %s or %s, not of %q", ofPlaces, ofChildren, o.wideOf)
	}
	for _, w := range o.workloads {
		if workloads[w] == nil {
			return o, fmt.Errorf("there is no workload %q", w)
		}
	}
	for _, t := range o.transport {
		if t != "inprocess" && t != "http" {
			return o, fmt.Errorf("there is no transport %q", t)
		}
	}
	return o, nil
}

func split(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" })
}

func positive(s string) (out []int, err error) {
	for _, text := range split(s) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no positive number", text)
		}
		out = append(out, n)
	}
	return out, nil
}

// commands are what this binary is besides: its own etcd and nodes.
var commands = map[string]func(args []string) error{serveCommand: serveEtcd, nodeCommand: serveNode, floodCommand: sendFlood}

func main() {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		if err := commands[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	heapfloor.Keep() // as the node's own program does
	o, err := parse(os.Args[1:])
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = do(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func do(ctx context.Context, o options) error {
	if o.docs != "" {
		return writeDocs(o.docs, o.from)
	}
	if o.floods != "" {
		return floodAll(ctx, o)
	}
	if o.idle > 0 {
		return idleAll(ctx, o)
	}
	if o.streams > 0 {
		return streamsAll(ctx, o)
	}
	if o.wide > 0 {
		return wideAll(ctx, o)
	}
	if o.profile != "" {
		stop, err := profile(o.profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	if o.steady != "" {
		return steadyAll(ctx, o)
	}
	if o.counts {
		return countOnly(ctx, o)
	}
	if o.sustained {
		return search(ctx, o)
	}
	passes := []pass{{options: o}}
	if o.report != "" {
		passes = plan(o)
		if err := os.MkdirAll(o.report, 0o755); err != nil {
			return err
		}
		o.json, o.plots = filepath.Join(o.report, "results.json"), o.report
		if o.million {
			passes, o.json, o.plots, o.report = planMillion(o), filepath.Join(o.report, "million.json"), "", ""
		}
	}
	return run(ctx, o, passes)
}

// run measures every combination that was asked for.
func run(ctx context.Context, o options, passes []pass) error {
	rep := report{Machine: machine(), Started: time.Now().UTC(), Load: load(), Quick: o.quick}
	var errs []error
	for _, p := range passes {
		for _, s := range p.setups() {
			if ctx.Err() != nil {
				break
			}
			points, err := s.measure(ctx, p.options)
			for i := range points {
				points[i].Pass = p.name
			}
			rep.Points = append(rep.Points, points...)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", s, err))
			}
			fmt.Printf("%.0f s: %s %s\n", time.Since(rep.Started).Seconds(), p.name, s)
		}
	}
	if o.report != "" && ctx.Err() == nil {
		var err error
		if rep.Counts, err = countAll(ctx, o, countedOperations()); err != nil {
			errs = append(errs, err)
		}
	}
	rep.Seconds = time.Since(rep.Started).Seconds()
	return errors.Join(append(errs, ctx.Err(), rep.write(o))...)
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
