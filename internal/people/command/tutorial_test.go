package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of a page: ```KIND ARGUMENT.
type block struct {
	line           int
	kind, argument string
	text           string
}

// blocksOf gives the fenced blocks of a page.
func blocksOf(page string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open != nil:
			out, open = append(out, *open), nil
		case isFence:
			kind, argument, _ := strings.Cut(fence, " ")
			open = &block{line: i + 1, kind: kind, argument: argument}
		case open != nil:
			open.text += line + "\n"
		}
	}
	return out
}

// fits tells whether a text is what a page shows: … stands for anything in a line, and
// alone in a line for any lines.
func fits(shown, got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimRight(shown, "\n"))
	pattern = strings.ReplaceAll(pattern, "\n…\n", "\n(?:.*\n)*")
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimRight(got, "\n"))
}

// The tutorial is true: its blocks run in their order, in an empty directory, against a
// node of their own, and give what the page shows.
//
// A block of a language with a name is a file of that name; sh is run, with the exit code
// that it says; sh node is the node; text is what the block before gives.
func TestTheTutorialIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\nTEST_RUN_MAIN=1 exec %q \"$@\"\n", os.Args[0])
	bin, work := filepath.Join(dir, "bin"), filepath.Join(dir, "work")
	for _, folder := range []string{bin, work} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "weft"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	const written = "localhost:8080" // what the node of a reader is called
	address := written
	environ := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+dir, "WEFT_HTTP_ADDR=127.0.0.1:0", "NO_COLOR=1")
	out, ran := "", 0
	for _, b := range blocksOf(string(page)) {
		at := fmt.Sprintf("docs/tutorial.md:%d", b.line)
		switch {
		case b.kind == "sh" && b.argument == "node":
			args := strings.Fields(b.text)
			p := runNodeIn(t, nil, append(args[1:], "--data-dir", filepath.Join(work, "weft-data"))...)
			address = strings.TrimPrefix(p.base, "http://")
			environ = append(environ, "WEFT_SERVER="+p.base)
			inFiles(t, work, written, address)
		case b.kind == "sh":
			want := 0
			_, _ = fmt.Sscanf(b.argument, "exit=%d", &want)
			cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", b.text)
			cmd.Dir, cmd.Env = work, environ
			raw, err := cmd.CombinedOutput()
			if out = strings.ReplaceAll(string(raw), address, written); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
				t.Fatalf("%s: %v\n%s", at, err, out)
			}
			ran++
		case b.kind == "text":
			if !fits(b.text, out) {
				t.Fatalf("%s: the page shows\n%s\nand there is\n%s", at, b.text, out)
			}
		case b.argument != "":
			if err := os.WriteFile(filepath.Join(work, b.argument), []byte(strings.ReplaceAll(b.text, written, address)), 0o600); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: nobody runs this block", at)
		}
	}
	if ran < 10 {
		t.Errorf("only %d blocks were run", ran)
	}
}

// inFiles lets the files that a reader wrote call the node by its real address.
func inFiles(t *testing.T, dir, from, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(raw), from, to)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The runner itself.
func TestWhatThePageShowsIsCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, got string
		want       bool
	}{
		{"a\n", "a\n", true}, {"a\n", "b\n", false}, {"a …\n", "a 3s ago\n", true}, {"a …\n", "a 3s\nb\n", false},
		{"a\n…\nz\n", "a\nb\nc\nz\n", true}, {"a\n…\nz\n", "a\nz\n", true}, {"a.b\n", "axb\n", false},
	} {
		if fits(c.shown, c.got) != c.want {
			t.Errorf("%q against %q is not %v", c.shown, c.got, c.want)
		}
	}
	got := blocksOf("x\n```sh exit=1\na\nb\n```\n```text\n```\n")
	if len(got) != 2 || got[0] != (block{2, "sh", "exit=1", "a\nb\n"}) || got[1].kind != "text" {
		t.Errorf("%+v", got)
	}
}
