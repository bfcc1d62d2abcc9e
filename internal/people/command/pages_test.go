package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/internal/find"
)

// shown are the commands of a page: each `weft …` between backticks, and each line of a block that begins with weft.
func shown(page string) []string {
	var out []string
	inBlock := false
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) { // a line that goes on is one
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inBlock = !inBlock
			continue
		}
		if inBlock {
			line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "sudo ")
			if strings.HasPrefix(line, "weft ") {
				out = append(out, line)
			}
			continue
		}
	}
	blocks := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, "")
	for _, m := range regexp.MustCompile("`(weft [^`]+)`").FindAllStringSubmatch(blocks, -1) {
		out = append(out, strings.Join(strings.Fields(m[1]), " "))
	}
	return out
}

// words splits a command as a shell does, up to a comment, a pipe or what comes after.
func words(line string) []string {
	var out []string
	var word strings.Builder
	quote, begun := rune(0), false
	end := func() {
		if begun {
			out = append(out, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			end()
		case r == '|' || r == ';' || r == '&' || r == '>' || r == '#' && !begun:
			end()
			return out
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	return out
}

// wrong says what the program has against a command of a page; "": it takes it.
func wrong(line string) string {
	args := words(line)[1:]
	root := newCommand(io.Discard, io.Discard, func() []string { return nil })
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err.Error()
	}
	err = cmd.ParseFlags(rest)
	named := err != nil && strings.HasPrefix(rest[len(rest)-1], "--") && strings.Contains(err.Error(), "flag needs an argument") // a flag's name
	if err != nil && !named && !errors.Is(err, pflag.ErrHelp) {
		return err.Error()
	}
	given := cmd.Flags().Args()
	if cmd.HasSubCommands() && len(given) > 0 && cmd != root && given[0] != "SHELL" {
		return fmt.Sprintf("%s has no command %q", cmd.CommandPath(), given[0])
	}
	if len(given) > 0 { // a name alone is one
		if err := cmd.ValidateArgs(given); err != nil {
			return err.Error()
		}
	}
	return wrongQuery(cmd, given)
}

func wrongQuery(cmd *cobra.Command, given []string) string {
	q := ""
	if f := cmd.Flags().Lookup("query"); f != nil {
		q = f.Value.String()
	}
	if cmd.CommandPath() == "weft instances list" {
		q = strings.Join(given, " ")
	}
	q = strings.NewReplacer("…", "x", "NAME", "x", "DEFINITION", "x", "QUERY", "", "VERSION", "3").Replace(q)
	if _, err := find.Parse(q, "/q"); err != nil {
		return fmt.Sprintf("the query %q: %v", q, err)
	}
	return ""
}

// Who follows a page at night types what it says: each command, flag and query of it is one that the program takes.
func TestCommandsOfThePagesAreTaken(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"docs/runbooks/*.md", "docs/operations/*.md", "docs/*.md", "README.md"} {
		found, err := filepath.Glob(filepath.Join("../../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	n := 0
	for _, name := range pages {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shown(string(raw)) {
			if n++; strings.HasSuffix(name, "cli.md") { // generated from the same
				continue
			}
			if text := wrong(line); text != "" {
				t.Errorf("%s: %s: %s", strings.TrimPrefix(name, "../../../"), line, text)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d commands are found", n)
	}
	for line, want := range map[string]string{
		"weft unpause": "unknown", "weft instances list definition=x": "query", "weft queue delete --al": "unknown flag", "weft cluster paus": "no command",
	} {
		if text := wrong(line); !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}
