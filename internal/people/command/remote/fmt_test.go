package remote_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	untidy = "root:\n- writeLine:   a   # said\n# Who.\nid: tidy\n"
	tidy   = "# Who.\nid: tidy\nroot:\n  - writeLine: a   # said\n"
)

func TestFmt(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	one := u.file("flows/one.yaml", untidy)
	two := u.file("flows/sub/two.yml", tidy)
	cases := u.file("flows/one.test.yaml", "cases:\n- name: a\n")
	model := u.file("flows/elsa.json", `{"id": "x",  "root": {"type": "Elsa.Finish", "id": "a"}}`)
	hidden := u.file("flows/.git/x.yaml", "a:   b\n")
	dir := filepath.Dir(one)
	holds := func(file, want string) {
		t.Helper()
		if got := string(must(os.ReadFile(file))); got != want {
			t.Errorf("%s has\n%s\nwant\n%s", file, got, want)
		}
	}

	u.wants(0, tidy, "fmt", one)
	u.in = untidy
	u.wants(0, tidy, "fmt", "-")
	if got := u.wants(1, "*", "fmt", "--check", "-d", "-"); !strings.Contains(got.out, "+root:\n+  - writeLine: a   # said\n") {
		t.Errorf("diff of standard input: %s", got.out)
	}
	u.in = tidy
	u.wants(0, "", "fmt", "--check", "-")
	others := map[string]string{
		u.file("flows/package.json", "{\n    \"name\": \"x\"}"):             "{\n    \"name\": \"x\"}",
		u.file("flows/template.yaml", "a: {{ .Values.root }}\n  root: b\n"): "a: {{ .Values.root }}\n  root: b\n",
		u.file("flows/values.yaml", "a:   b\n"):                             "a:   b\n",
		u.file("flows/nothing.yaml", ""):                                    "",
	}
	windows := u.file("windows.json", "{\r\n\"id\": \"x\"}")
	u.wants(0, windows+"\n", "fmt", "-w", windows)
	holds(windows, "{\r\n  \"id\": \"x\"\r\n}\r\n")
	if got := u.wants(1, model+"\n"+cases+"\n"+one+"\n", "fmt", "--check", dir); got.err != "4 files that are no definitions, having no root, are left alone\n" {
		t.Errorf("it says %q", got.err)
	}
	holds(one, untidy)
	if got := u.wants(0, "*", "fmt", "-d", one); !strings.Contains(got.out, "--- "+one) || !strings.Contains(got.out, "-- writeLine:   a   # said\n") {
		t.Errorf("diff: %s", got.out)
	}
	holds(one, untidy)

	// One mistake, and none is written.
	bad := u.file("flows/zz.yaml", "id: x\nroot:\n\t- a\n")
	u.refuses(1, bad+":3:1: this is not YAML", "fmt", "-w", dir)
	holds(one, untidy)
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(one, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(u.home, "link.yaml")
	if err := os.Symlink(two, link); err != nil {
		t.Fatal(err)
	}
	u.wants(0, model+"\n"+cases+"\n"+one+"\n", "fmt", "--write", dir)
	holds(one, tidy)
	holds(two, tidy)
	holds(cases, "cases:\n  - name: a\n")
	holds(model, "{\n  \"id\": \"x\",\n  \"root\": {\n    \"type\": \"Elsa.Finish\",\n    \"id\": \"a\"\n  }\n}\n")
	holds(hidden, "a:   b\n")
	for file, text := range others {
		holds(file, text)
	}
	if info := must(os.Stat(one)); info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v", info.Mode())
	}
	u.wants(0, "", "fmt", "--check", dir)
	u.wants(0, "", "fmt", "-w", dir)
	u.file("flows/sub/two.yml", untidy)
	u.wants(0, link+"\n", "fmt", "-w", link)
	holds(two, tidy)
	if info := must(os.Lstat(link)); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is a file")
	}
}

func TestFmtRefuses(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	empty := filepath.Join(u.home, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	one, two := u.file("one.yaml", untidy), u.file("two.yaml", tidy)
	u.refuses(2, "is larger than a definition may be (1024 KiB)", "fmt", u.file("large.yaml", strings.Repeat("# much\n", 3<<20)))
	u.refuses(2, "is larger than a file of tests may be (4096 KiB)", "fmt", u.file("large.test.yaml", strings.Repeat("# much\n", 3<<20)))
	u.refuses(2, "has no definitions or tests", "fmt", empty)
	u.refuses(2, "no such file", "fmt", "nothing.yaml")
	u.refuses(2, "is empty", "fmt", u.file("blank.yaml", "\n"))
	u.refuses(2, "requires at least 1 arg(s)", "fmt")
	u.refuses(2, "these are 2 files: say --write, --check or --diff", "fmt", one, two)
	u.refuses(2, "say --check or --write", "fmt", "--check", "--write", one)
	u.in = tidy
	u.refuses(2, "standard input cannot be written", "fmt", "-w", "-")
	u.refuses(2, "unknown flag: --server", "fmt", "--server", "http://127.0.0.1:1", one)
	if got := u.to(brokenPipe{}, &bytes.Buffer{}, "fmt", one); got.code != 141 || got.err != "" {
		t.Errorf("a broken pipe: %d %q", got.code, got.err)
	}
}
