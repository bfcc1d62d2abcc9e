package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"text/tabwriter"
	"time"
)

// options are the command line.
type options struct {
	dir, addr string
	nodes     int
	timeout   time.Duration
	only      *regexp.Regexp
	verbose   bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	failed, err := runAll(context.Background(), o, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	case failed > 0:
		os.Exit(1)
	}
}

// parse takes the directory before, between or after the flags.
func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("conformance", flag.ContinueOnError)
	fs.StringVar(&o.addr, "addr", "", "base URL of a node that runs; several with commas")
	fs.IntVar(&o.nodes, "nodes", 1, "nodes to start for each case")
	fs.DurationVar(&o.timeout, "timeout", 30*time.Second, "of one case")
	fs.BoolVar(&o.verbose, "v", false, "show the log of the nodes")
	only := fs.String("run", "", "only cases whose name matches")
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return o, err
		}
		args = fs.Args()
		if len(args) == 0 {
			break
		}
		if o.dir != "" {
			return o, errors.New("there may be one directory")
		}
		o.dir, args = args[0], args[1:]
	}
	if o.dir == "" || o.nodes < 1 {
		return o, errors.New("usage: conformance [--addr URL] [--nodes N] [--run REGEXP] [--timeout D] [-v] DIR")
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("--run: %w", err)
	}
	return o, nil
}

// runAll runs the cases and returns how many failed.
func runAll(ctx context.Context, o options, out io.Writer) (failed int, err error) {
	cases, err := load(o.dir)
	if err != nil {
		return 0, err
	}
	passed := 0
	for _, k := range cases {
		if !o.only.MatchString(k.Name) {
			continue
		}
		begin := time.Now()
		if err := runCase(ctx, o, k); err != nil {
			failed++
			fmt.Fprintf(out, "FAIL  %s: %v\n", k.Name, err)
			continue
		}
		passed++
		fmt.Fprintf(out, "ok    %s (%v)\n", k.Name, time.Since(begin).Round(time.Millisecond))
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\ncases\tpassed\tfailed\n%d\t%d\t%d\n", passed+failed, passed, failed)
	return failed, table.Flush()
}

// runCase runs one case on nodes of its own, or on those that are given.
func runCase(ctx context.Context, o options, k Case) (err error) {
	addrs, stop, err := nodesFor(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	c := &cluster{addrs: addrs}
	defer c.http.CloseIdleConnections()
	return c.run(ctx, o.dir, k)
}
