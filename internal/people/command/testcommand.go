package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/typesflag"
	"github.com/weft-run/weft/pkg/workflowtest"
)

// errFailed says that tests failed, after the failures were shown.
var errFailed = errors.New("tests failed")

// newTestCommand is weft test: it runs test files, without a node.
func newTestCommand(stdout io.Writer) *cobra.Command {
	var only, junit, types string
	var against []string
	var asJSON, strict, again, crash bool
	cmd := &cobra.Command{
		Use:   "test FILE|DIRECTORY...",
		Short: "Test workflows: run test files (*.test.yaml) with mocked activities and virtual time",
		Long: "Test workflows without a node: each case of a test file runs a definition with mocked activities and a clock\n" +
			"that the test moves, and compares what happened with what is expected. docs/testing.md describes the files.\n" +
			"--against runs each case on other definitions too, such as an export of Elsa's beside its YAML, or the next version, and\n" +
			"tells where lines, ends, outputs and what completed differ; recorded: in a case does the same with what Elsa did.\n" +
			"Directories are searched for *.test.yaml. The exit code is 1 if any case fails or what a file has cannot be read, and 2 if there is no such file.",
		Args:          cobra.MinimumNArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			registry, err := typesflag.Types(types)
			if err != nil {
				return &usageError{err}
			}
			opts := workflowtest.FileOptions{Registry: registry, Strict: strict, Against: against, Crash: crash}
			if only != "" {
				var err error
				if opts.Only, err = regexp.Compile(only); err != nil {
					return &usageError{fmt.Errorf("--run is no regular expression: %w", err)}
				}
			}
			if again {
				return watchTests(cmd.Context(), stdout, args, opts)
			}
			report, err := runTests(stdout, args, opts, asJSON)
			if junit != "" && report != nil {
				if err := writeJUnit(junit, report); err != nil {
					return err
				}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&only, "run", "", "only the cases whose name matches this regular expression")
	typesflag.Add(cmd.Flags(), &types)
	cmd.Flags().StringArrayVar(&against, "against", nil, "a definition, or a directory of them, that each case is run on too, in the place of the one with its id: what differs fails the case")
	cmd.Flags().BoolVar(&strict, "strict", false, "what may be a mistake in a definition fails its cases")
	cmd.Flags().BoolVar(&crash, "crash", false, "run each case that passes again for each failure that a node may have in it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the results as one JSON object")
	cmd.Flags().StringVar(&junit, "junit", "", "also write the results to this file, in the form of JUnit")
	cmd.Flags().BoolVar(&again, "watch", false, "run them again when a file changes, until interrupted")
	cmd.MarkFlagsMutuallyExclusive("json", "watch")
	cmd.MarkFlagsMutuallyExclusive("junit", "watch")
	return cmd
}

// testReport is what --json shows.
type testReport struct {
	Passed int                       `json:"passed"`
	Failed int                       `json:"failed"`
	Files  []workflowtest.FileResult `json:"files"`
	Errors []string                  `json:"errors"` // files that could not be read

	reads []string // the definitions that the files name
}

// runTests runs test files once; the report is nil if there are none.
func runTests(w io.Writer, args []string, opts workflowtest.FileOptions, asJSON bool) (*testReport, error) {
	files, err := workflowtest.Find(args...)
	if err != nil {
		return nil, &usageError{err}
	}
	report := &testReport{Files: []workflowtest.FileResult{}, Errors: []string{}}
	for _, file := range files {
		res, err := workflowtest.RunFile(file, opts)
		if err != nil {
			report.Errors = append(report.Errors, err.Error())
			if !asJSON {
				fmt.Fprintf(w, "%s\n", err)
			}
			continue
		}
		report.Files = append(report.Files, res)
		report.reads = append(report.reads, res.Reads...)
		report.Failed += res.Failed()
		report.Passed += len(res.Cases) - res.Failed()
		if !asJSON {
			showFile(w, res)
		}
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return report, err
		}
	}
	switch {
	case report.Failed > 0 || len(report.Errors) > 0:
		return report, fmt.Errorf("%w: %s", errFailed, report.summary())
	case report.Passed == 0:
		return report, errors.New("no case was run; look at --run")
	case !asJSON:
		fmt.Fprintf(w, "ok: %s\n", report.summary())
	}
	return report, nil
}

func (r testReport) summary() string {
	text := fmt.Sprintf("%d of %d cases passed", r.Passed, r.Passed+r.Failed)
	if n := len(r.Errors); n > 0 {
		text += fmt.Sprintf(", %d files could not be read", n)
	}
	return text
}

// showFile shows each case, and for each failure its place and what it is about.
func showFile(w io.Writer, res workflowtest.FileResult) {
	fmt.Fprintln(w, res.File)
	for _, text := range res.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", text)
	}
	for _, c := range res.Cases {
		if len(c.Failures) == 0 {
			fmt.Fprintf(w, "  ok    %s%s\n", c.Name, tried(c.Crash))
			showNotes(w, c.Crash)
			continue
		}
		fmt.Fprintf(w, "  FAIL  %s\n", c.Name)
		for _, f := range c.Failures {
			fmt.Fprintf(w, "        %s:%d: %s\n", res.File, f.Line, strings.ReplaceAll(f.String(), "\n", "\n          "))
		}
		showNotes(w, c.Crash)
		for i, line := range c.Journal {
			if i == 0 {
				fmt.Fprintln(w, "        what it did:")
			}
			fmt.Fprintf(w, "          %s\n", line)
		}
		if len(c.Variables) > 0 {
			if raw, err := json.Marshal(c.Variables); err == nil {
				fmt.Fprintf(w, "        variables: %s\n", raw)
			}
		}
	}
}

// tried says how often a node failed in a case; nil: it was not tried.
func tried(r *workflowtest.CrashReport) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" (also in %s with a failure of a node, at %s)", counted(r.Runs, "run"), counted(r.Points, "point"))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func showNotes(w io.Writer, r *workflowtest.CrashReport) {
	if r == nil {
		return
	}
	for _, text := range r.Notes() {
		fmt.Fprintf(w, "        note: %s\n", strings.ReplaceAll(text, "\n", "\n          "))
	}
}
