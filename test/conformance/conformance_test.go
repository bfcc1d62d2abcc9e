package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
)

func TestGoodCasesPass(t *testing.T) {
	t.Parallel()
	for _, nodes := range []string{"1", "3"} {
		t.Run(nodes+" nodes", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			o, err := parse([]string{"testdata/good", "--nodes", nodes})
			if err != nil {
				t.Fatal(err)
			}
			failed, err := runAll(t.Context(), o, &out)
			if err != nil || failed != 0 {
				t.Errorf("%d failed, %v:\n%s", failed, err, out.String())
			}
		})
	}
}

// What Elsa's own tests and sources say, as definitions and steps.
func TestElsasCasesPass(t *testing.T) {
	t.Parallel()
	for _, nodes := range []string{"1", "3"} {
		t.Run(nodes+" nodes", func(t *testing.T) {
			if nodes != "1" {
				testsize.Skip(t, "one node runs each of them")
			}
			t.Parallel()
			var out bytes.Buffer
			o, err := parse([]string{"testdata/elsa", "--nodes", nodes})
			if err != nil {
				t.Fatal(err)
			}
			failed, err := runAll(t.Context(), o, &out)
			if err != nil || failed != 0 {
				t.Errorf("%d failed, %v:\n%s", failed, err, out.String())
			}
		})
	}
}

// A runner that cannot fail would look just like a good result.
func TestBadCasesFail(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"--timeout=10s", "testdata/bad"})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := load(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	failed, err := runAll(t.Context(), o, &out)
	if err != nil || failed != len(cases) {
		t.Errorf("%d of %d failed, %v:\n%s", failed, len(cases), err, out.String())
	}
}

func TestUnknownExpectationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		`[{"name": "x", "publish": ["a"], "run": "a", "outputs": {}}]`,
		`[{"name": "x", "publish": ["a"]}]`,
		`[{"name": "x", "publish": ["a"], "run": "a", "until": "later"}]`,
		`[{"name": "x", "publish": ["a"], "run": "a", "mode": "x"}]`,
		`[{"publish": ["a"], "run": "a"}]`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cases.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(dir); err == nil {
			t.Errorf("%s was read", content)
		}
	}
}

func TestLinesAreMergedInTheOrderOfWriting(t *testing.T) {
	t.Parallel()
	at := func(text string, ms int, seq int64) journalItem {
		return journalItem{Sequence: seq, Text: text, Time: time.UnixMilli(int64(ms))}
	}
	got := merge([][]journalItem{
		{at("parent", 1, 1), at("parent, the same moment", 1, 2), at("parent again", 9, 3)},
		{at("child", 4, 1), at("child again", 6, 2)},
		nil,
	})
	if want := "parent|parent, the same moment|child|child again|parent again"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"a", "b"}, {"--nodes", "0", "a"}, {"--run", "(", "a"}, {"--what", "a"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	o, err := parse([]string{"dir", "--addr", "http://a,http://b/", "--run", "x"})
	if err != nil || o.dir != "dir" || o.addr == "" || !o.only.MatchString("axb") {
		t.Errorf("%+v %v", o, err)
	}
}
