package definitions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/authoring/format"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/typesflag"
	"github.com/weft-run/weft/pkg/workflow"
)

// fmtFlags say what becomes of what was formatted.
type fmtFlags struct{ write, check, diff bool }

func (a commands) fmtCommand() *cobra.Command {
	var f fmtFlags
	var types string
	cmd := &cobra.Command{
		Use: "fmt FILE|DIRECTORY|-...", Short: "Give definitions and their tests one form; comments stay", Args: cobra.MinimumNArgs(1),
		Long: "Give definitions and their tests one form. Of a directory those files are taken that are called *.test.yaml, and those with a\n" +
			"root, as definitions have; a file that is named is taken as it is. YAML gets the order of keys that docs/notation.md has, and an indentation of\n" +
			"two; its comments stay, and so does all that stands in one line: quotes, braces, numbers. JSON is indented only. Lines end as the\n" +
			"first one does, and a byte order mark goes. The definition is the\n" +
			"same as before, or the file is left alone. Without a flag the text of one file goes to standard output. If one of the files\n" +
			"has a mistake in its YAML or JSON, none is written.",
		Example: "  weft fmt --write flows/\n  weft fmt --check flows/      # names what is not so, and ends with 1\n  weft fmt - < flow.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			if f.check && f.write {
				return ask.Usage("say --check or --write: what is only checked is not written")
			}
			const what = "definitions or tests (*.yaml, *.yml, *.json)"
			all, err := a.ask.Files(args, what, func(name string) bool { return ask.IsDefinitionFile(name) || format.IsTests(name) }, func(name string) ([]byte, error) {
				if info, err := os.Stat(name); err == nil && !slices.Contains(args, name) && !format.IsTests(name) && (info.Size() == 0 || info.Size() > ask.MaxBody) {
					return nil, nil // no definition is as large
				}
				return a.readToFormat(name)
			})
			if err != nil {
				return err
			}
			there := len(all)
			all = slices.DeleteFunc(all, func(s ask.Source) bool {
				return !slices.Contains(args, s.Name) && !format.IsTests(s.Name) && !format.LooksLikeDefinition(s.Src, s.Name)
			})
			if n := there - len(all); n > 0 {
				a.ask.Note(fmt.Sprintf("%d files that are no definitions, having no root, are left alone", n))
			}
			if len(all) == 0 {
				return ask.Usage("%s has no %s", strings.Join(args, ", "), what)
			}
			return a.formatAll(all, types, f)
		},
	}
	typesflag.Add(cmd.Flags(), &types)
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "write the files, and name those that change")
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing, name the files that would change; exit code 1 if there are any")
	cmd.Flags().BoolVarP(&f.diff, "diff", "d", false, "show what changes")
	return ask.Alone(cmd)
}

func (a commands) readToFormat(name string) ([]byte, error) {
	if format.IsTests(name) {
		return a.ask.ReadSmall(name, format.MaxTests, "a file of tests")
	}
	return a.ask.ReadDefinition(name)
}

// formatAll formats all before one is written.
func (a commands) formatAll(all []ask.Source, dir string, f fmtFlags) error {
	if len(all) > 1 && f == (fmtFlags{}) {
		return ask.Usage("these are %d files: say --write, --check or --diff", len(all))
	}
	types, err := typesflag.Types(dir)
	if err != nil {
		return err
	}
	formatted := make([][]byte, len(all))
	var wrong []string
	for i, s := range all {
		if s.Name == "-" && f.write {
			return ask.Usage("standard input cannot be written: leave --write out")
		}
		out, err := format.Source(s.Src, s.Name, types)
		var problems workflow.Problems
		switch {
		case errors.As(err, &problems):
			for _, p := range problems {
				wrong = append(wrong, problemText(s.Name, p))
			}
		case err != nil:
			wrong = append(wrong, s.Name+": "+err.Error())
		}
		formatted[i] = out
	}
	if len(wrong) > 0 {
		return ask.Exit(ask.ExitBad, errors.New(strings.Join(wrong, "\n")))
	}
	differ := false
	for i, s := range all {
		same := bytes.Equal(s.Src, formatted[i])
		differ = differ || !same
		if err := a.formatted(s, formatted[i], same, f); err != nil {
			return err
		}
	}
	if f.check && differ {
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// formatted does with one file what the flags say.
func (a commands) formatted(s ask.Source, out []byte, same bool, f fmtFlags) error {
	if f == (fmtFlags{}) {
		_, err := a.ask.Out.Write(out)
		return err
	}
	if same {
		return nil
	}
	if f.write {
		if err := ask.WriteFile(s.Name, out); err != nil {
			return err
		}
	}
	if f.diff {
		return difflib.WriteUnifiedDiff(a.ask.Out, difflib.UnifiedDiff{
			A: difflib.SplitLines(string(s.Src)), B: difflib.SplitLines(string(out)), FromFile: s.Name, ToFile: s.Name + " (formatted)", Context: 3,
		})
	}
	_, err := fmt.Fprintln(a.ask.Out, s.Name)
	return err
}

func problemText(name string, p workflow.Problem) string {
	text := fmt.Sprintf("%s:%d:%d: %s (%s)", name, p.Place.Line, p.Place.Column, p.Detail, p.Code)
	for line := range strings.Lines(p.Excerpt) {
		text += "\n    " + strings.TrimRight(line, "\n")
	}
	return text
}
