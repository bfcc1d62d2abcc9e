package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/crash"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// FileOptions steer [RunFile].
type FileOptions struct {
	Registry *engine.Registry // nil: the built-in activities
	Only     *regexp.Regexp   // run the cases whose name matches; nil: all
	Strict   bool             // a warning about a definition fails the case
	Against  []string         // definitions, each in the place of the one with its id: each case is run on these too, and what differs is a failure
	Crash    bool             // a case that passes is run again for each failure of a node, see [crash.Try]
}

// FileResult is what became of a test file.
type FileResult struct {
	File  string       `json:"file"`
	Cases []CaseResult `json:"cases"`

	Warnings []string `json:"warnings,omitempty"` // what may be a mistake in the definitions, with file and line
	Reads    []string `json:"-"`                  // the definitions that the file names
}

// CaseResult is what became of one case. Without failures it passed.
type CaseResult struct {
	Name     string    `json:"name"`
	Line     int       `json:"line"`
	Failures []Failure `json:"failures"`

	// Of a case that failed: what the instance under test did, a line each, and the
	// variables of the workflow as its last commit left them.
	Journal   []string       `json:"journal,omitempty"`
	Variables map[string]any `json:"variables,omitempty"`

	Crash *crash.Report `json:"crash,omitempty"` // what failures of nodes do to it; nil: they were not tried
}

// Failure is one thing that was not as the test file says, or could not be done.
type Failure struct {
	Line    int    `json:"line"`            // of the test file
	Field   string `json:"field,omitempty"` // of what is expected, such as output.total
	Message string `json:"message"`         // may have several lines
}

// Failed counts the cases with failures.
func (r FileResult) Failed() int {
	n := 0
	for _, c := range r.Cases {
		if len(c.Failures) > 0 {
			n++
		}
	}
	return n
}

// RunFile runs the cases of a test file; docs/testing.md describes its form. It
// returns an error, with every problem and its place, if the file cannot be
// read. A definition that is not valid fails each case.
func RunFile(file string, opts FileOptions) (FileResult, error) {
	s, err := readSuite(file)
	if err != nil {
		return FileResult{}, err
	}
	if opts.Registry == nil {
		opts.Registry = activities.Default()
	}
	others, err := sideOf(opts.Against, opts.Registry)
	if err != nil {
		return FileResult{}, err
	}
	res := FileResult{File: file, Cases: []CaseResult{}}
	for i := range s.cases {
		c := &s.cases[i]
		res.Reads = append(append(res.Reads, c.cfg.File), c.cfg.OtherFiles...)
		if opts.Only != nil && !opts.Only.MatchString(c.name) {
			continue
		}
		c.cfg.Registry = opts.Registry
		res.add(c, opts, others)
	}
	return res, nil
}

// add runs a case.
func (r *FileResult) add(c *testCase, opts FileOptions, others *side) {
	done := c.run()
	if done.run != nil {
		done.Failures = append(done.Failures, c.differences(done.run)...)
		done.Failures = append(done.Failures, others.differences(c, done.run)...)
	}
	if opts.Crash && len(done.Failures) == 0 {
		done.crash(c)
	}
	for _, w := range done.warnings {
		text := workflow.Problems{w}.Error()
		if opts.Strict {
			done.Failures = append(done.Failures, Failure{Line: c.line, Message: text})
		} else if !slices.Contains(r.Warnings, text) {
			r.Warnings = append(r.Warnings, text)
		}
	}
	if len(done.Failures) > 0 && done.run != nil && done.Crash == nil { // else it did what it should
		done.Journal, done.Variables = trial.Told(done.run)
	}
	r.Cases = append(r.Cases, done.CaseResult)
}

// String gives field and message.
func (f Failure) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// ended is what became of a case, and the run that it was.
type ended struct {
	CaseResult
	run      *trial.Run // nil: it did not begin
	warnings workflow.Problems
}

func (c *testCase) run() ended {
	done := ended{CaseResult: CaseResult{Name: c.name, Line: c.line, Failures: []Failure{}}}
	r, err := trial.New(trial.Within(c.cfg, c.bounds))
	if err != nil {
		done.Failures = append(done.Failures, Failure{Line: c.line, Message: err.Error()})
		return done
	}
	done.run, done.warnings = r, r.Warnings()
	done.Failures = append(done.Failures, c.play(r, c.bounds)...)
	return done
}

// play does what the case does, and compares; what comes behind something that cannot be done is left out.
func (c *testCase) play(r *trial.Run, within *trial.Bounds) (failures []Failure) {
	fail := func(line int, err error) []Failure {
		return append(failures, Failure{Line: line, Message: err.Error()})
	}
	if c.start {
		if err := r.Start(); err != nil {
			return fail(c.line, err)
		}
	}
	for _, s := range c.steps {
		if err := within.Check(r); err != nil {
			return fail(s.line, err)
		}
		if within.Enough(len(failures)) {
			return failures
		}
		if err := s.until(r); err != nil {
			return fail(s.line, err)
		}
		if s.expect != nil {
			failures = append(failures, s.expect.check(r)...)
			continue
		}
		if err := s.do(r); err != nil {
			return fail(s.line, err)
		}
	}
	return append(failures, c.expect.check(r)...)
}

// crash has nodes fail in the case, which passes.
func (e *ended) crash(c *testCase) {
	ctx, most := context.Background(), crash.MaxRuns
	if c.bounds != nil {
		ctx, most = c.bounds.Context, maxSentFailures
	}
	rep, err := crash.Try(ctx, c.cfg, c.bounds, most, func(r *trial.Run, within *trial.Bounds) (problems []string) {
		for _, f := range c.play(r, within) {
			problems = append(problems, f.String())
		}
		return problems
	})
	if err != nil {
		e.Failures = append(e.Failures, Failure{Line: c.line, Message: err.Error()})
		return
	}
	e.Crash = rep
	for _, text := range rep.Failures() {
		e.Failures = append(e.Failures, Failure{Line: c.line, Field: "crash", Message: text})
	}
}

// Suffixes of test files: a node does not take them for definitions.
var suffixes = []string{".test.yaml", ".test.yml"}

// Find lists the test files at and below the given paths, in the order of their
// names: files as they are, directories searched for *.test.yaml. It returns an
// error if a path does not exist or a directory has none.
func Find(paths ...string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, p)
			continue
		}
		found := len(out)
		err = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && isTest(name) {
				out = append(out, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(out) == found {
			return nil, fmt.Errorf("%s has no test files; they are called *%s", p, suffixes[0])
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no test files are given")
	}
	return slices.Compact(out), nil
}

func isTest(name string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(strings.ToLower(name), s) })
}

// besides is the definition that a test file tests if it names none: the one of
// its own name.
func besides(file string) string {
	base := file
	for _, s := range suffixes {
		if cut := len(file) - len(s); cut > 0 && strings.EqualFold(file[cut:], s) {
			base = file[:cut]
		}
	}
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		if info, err := os.Stat(base + ext); base != file && err == nil && info.Mode().IsRegular() {
			return base + ext
		}
	}
	return ""
}

func compareFailures(a, b Failure) int { return cmp.Compare(a.Line, b.Line) }
