// Command peers measures Weft beside other durable workflow engines, in one run
// and on one machine: Temporal's server on SQLite and on Postgres, and River on
// Postgres, on the same two workloads as Weft's own benchmark program (W1: start,
// three activities, 200 bytes of input, finish; W2: start, wait for an event, send
// it, finish).
//
//	go -C bench/peers run . -out ../../bench-results     # or: make bench-peers
//
// It works in rounds. In each round every system is started with an empty
// store, in a process of its own that holds server, worker and callers, measured
// at every concurrency, and stopped; the order turns from round to round. So a
// machine that slows down slows all of them. Weft is measured by ../ with etcd as a
// process of its own. Processor time is that of all processes of a system, its
// database included. A figure is the median of the rounds.
//
// Everything writes durably: etcd and Postgres with fsync, SQLite with a
// write-ahead log and synchronous=FULL. The settings of each are in its file and
// in the report.
//
// It is a module of its own, since Temporal's server brings 200 modules, and no
// part of CI, since compiling them takes minutes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// system is an engine that is up.
type system struct {
	settings   string
	operations []operation
	cpu        func() time.Duration // of its other processes, so far; nil: there are none
	stop       func() error
}

// operation is one workload: one call is one instance from start to finish.
type operation struct {
	name, commit string
	do           func(ctx context.Context, i int64) error
}

// systems are what can be measured in a process of this program.
var systems = map[string]func(ctx context.Context, dir string) (*system, error){
	"temporal-sqlite":   temporalOnSQLite,
	"temporal-postgres": temporalOnPostgres,
	"river":             riverOnPostgres,
}

type options struct {
	systems     []string
	concurrency []int
	duration    time.Duration
	rounds      int
	budget      time.Duration
	out, root   string
	one         string // this process measures one system once
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("peers", flag.ContinueOnError)
	names := fs.String("systems", "weft,temporal-sqlite,temporal-postgres,river", "which to measure")
	conc := fs.String("concurrency", "1,16,64,256", "callers at once")
	fs.DurationVar(&o.duration, "duration", 2*time.Second, "of each measurement")
	fs.IntVar(&o.rounds, "rounds", 3, "how often each is measured")
	fs.DurationVar(&o.budget, "budget", 7*time.Minute, "no round begins that would probably end after this")
	fs.StringVar(&o.out, "out", "../../bench-results", "directory for peers.json and peers.md")
	fs.StringVar(&o.root, "root", "../..", "Weft's module")
	fs.StringVar(&o.one, "one", "", "for this program itself: measure one system once, write JSON to standard output")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.systems = strings.Split(*names, ",")
	for _, s := range o.systems {
		if s != weft && systems[s] == nil {
			return o, fmt.Errorf("there is no system %q", s)
		}
	}
	for s := range strings.SplitSeq(*conc, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return o, fmt.Errorf("concurrency %q is no positive number", s)
		}
		o.concurrency = append(o.concurrency, n)
	}
	return o, nil
}

func main() {
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
	do := run
	if o.one != "" {
		do = measureOne
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1) //nolint:gocritic // stopped above
	}
}

// run measures all in rounds and writes the report.
func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "weft-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bench := filepath.Join(dir, "bench")
	if slices.Contains(o.systems, weft) {
		if err := buildBench(ctx, o.root, bench); err != nil {
			return err
		}
	}
	var errs []error
	began := time.Now()
	rep := report{Machine: machine(), Started: began.UTC(), Settings: map[string]string{}}
	for round := range o.rounds {
		if so := time.Since(began); round > 0 && so+so/time.Duration(round) > o.budget {
			fmt.Printf("no round %d: it would take too long\n", round+1)
			break
		}
		for i := range o.systems {
			name := o.systems[(i+round)%len(o.systems)]
			fmt.Printf("round %d of %d: %s (%.0f s so far)\n", round+1, o.rounds, name, time.Since(began).Seconds())
			var r result
			if name == weft {
				r, err = measureWeft(ctx, bench, filepath.Join(dir, "weft.json"), o)
			} else {
				r, err = measureApart(ctx, name, o)
			}
			if ctx.Err() != nil {
				return errors.Join(append(errs, ctx.Err())...)
			}
			if err != nil { // the others are measured all the same
				errs = append(errs, fmt.Errorf("round %d, %s: %w", round+1, name, err))
				continue
			}
			rep.Settings[name] = r.Settings
			for _, p := range r.Points {
				p.System, p.Round = name, round+1
				rep.Points = append(rep.Points, p)
			}
		}
	}
	rep.Seconds = time.Since(began).Seconds()
	return errors.Join(append(errs, rep.write(o.out))...)
}

// result is what measuring one system once gives.
type result struct {
	Settings string  `json:"settings"`
	Points   []point `json:"points"`
}

// measureApart measures one system in a process of its own.
func measureApart(ctx context.Context, name string, o options) (result, error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	var conc []string
	for _, c := range o.concurrency {
		conc = append(conc, strconv.Itoa(c))
	}
	cmd := exec.CommandContext(ctx, self, "-one", name, "-duration", o.duration.String(), "-concurrency", strings.Join(conc, ","))
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it has to stop its database
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return result{}, err
	}
	var r result
	return r, json.Unmarshal(out, &r)
}

// measureOne is what that process does.
func measureOne(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "weft-peer-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sys, err := systems[o.one](ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.stop()) }()
	r := result{Settings: sys.settings}
	for _, op := range sys.operations {
		if out := closedLoop(ctx, 4, o.duration/2, op.do); out.ops == 0 { // warm up
			return fmt.Errorf("%s: nothing works: %w", op.name, out.err)
		}
	}
	saturated := make([]bool, len(sys.operations))
	for _, callers := range o.concurrency {
		for i, op := range sys.operations {
			if saturated[i] {
				continue
			}
			p := sys.measure(ctx, op, callers, o.duration)
			saturated[i] = p.saturated(o.duration)
			r.Points = append(r.Points, p)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
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
