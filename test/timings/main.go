// Command timings reads what `go test -json` writes, prints it as go test does, with the
// output of what failed, and says at the end where the time went.
//
// It guarantees that all output of a package that failed is printed, and that a package or
// a test which takes longer than it may is named, unless [slow] has its reason. It judges
// nothing: that is the exit code of go test, which the shell keeps (pipefail), and a busy
// machine takes longer for everything.
//
//	go test -json ./... | go run ./test/timings
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// How long a package and a test may take, in seconds on two cores that do nothing else.
const (
	ofPackage = 40
	ofTest    = 8
)

const module = "github.com/weft-run/weft"

// event is a line of go test -json: https://pkg.go.dev/cmd/test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build-output
	Test       string
	Output     string
	Elapsed    float64 // in seconds
}

// took is how long a package or a test ran.
type took struct {
	name    string
	seconds float64
}

// run is what was read.
type run struct {
	out             io.Writer
	pending         map[string]*strings.Builder // output by package and test, until it is known whether it is wanted
	packages, tests []took
}

func main() {
	r := &run{out: os.Stdout, pending: map[string]*strings.Builder{}}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "timings:", err)
		os.Exit(2)
	}
	r.report(slow)
}

// read reads events to the end, and prints them as they come.
func (r *run) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			// A process that died left these behind.
			for _, name := range slices.Sorted(maps.Keys(r.pending)) {
				fmt.Fprint(r.out, r.pending[name])
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the events of go test: %w", err)
		}
	}
}

func (r *run) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(r.out, line) // of the go command itself
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if r.pending[key] == nil {
			r.pending[key] = new(strings.Builder)
		}
		r.pending[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		r.end(e, key)
	}
}

// end is the end of a test or of a package.
func (r *run) end(e event, key string) {
	name := strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/")
	text := r.pending[key]
	delete(r.pending, key)
	if e.Test != "" {
		if e.Action == "fail" {
			fmt.Fprint(r.out, text)
		}
		r.tests = append(r.tests, took{name + "." + e.Test, e.Elapsed}) // the time of parallel subtests is their own
		return
	}
	r.packages = append(r.packages, took{name, e.Elapsed})
	if text == nil {
		return
	}
	if e.Action == "fail" {
		for _, left := range slices.Sorted(maps.Keys(r.pending)) {
			if strings.HasPrefix(left, e.Package+" ") {
				fmt.Fprint(r.out, r.pending[left]) // a test that did not end
				delete(r.pending, left)
			}
		}
		fmt.Fprint(r.out, text)
		return
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") {
			fmt.Fprint(r.out, line)
		}
	}
}

// report says where the time went.
func (r *run) report(named map[string]string) {
	for _, of := range []struct {
		what  string
		took  []took
		bound float64
	}{{"package", r.packages, ofPackage}, {"test", r.tests, ofTest}} {
		slices.SortFunc(of.took, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
		sum := 0.0
		for _, t := range of.took {
			sum += t.seconds
		}
		fmt.Fprintf(r.out, "== %d %ss, %.0f s; the slowest:\n", len(of.took), of.what, sum)
		for i, t := range of.took {
			over := t.seconds > of.bound && named[t.name] == ""
			if i >= 12 && !over {
				break
			}
			note := named[t.name]
			if over {
				note = fmt.Sprintf("OVER %.0f s", of.bound)
			}
			fmt.Fprintf(r.out, "%8.1f s  %s  %s\n", t.seconds, t.name, note)
		}
	}
}
