package command

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testIn writes a definition with its test, and runs weft test on it.
func testIn(t *testing.T, definition, tests string, flags ...string) (out string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"d.yaml": definition, "d.test.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	cmd := newTestCommand(&b)
	cmd.SetArgs(append(flags, dir))
	err = cmd.ExecuteContext(t.Context())
	return b.String(), err
}

const (
	sends    = "id: d\nroot:\n  - sendHttpRequest: {url: 'https://a.test', method: POST}\n"
	sendsOn  = sends + "    retry: {attempts: 2}\n"
	sentTest = "mocks: {sendHttpRequest: {outputs: {statusCode: 200}}}\ncases:\n  - name: it ends\n    expect: {status: Finished}\n"
)

func TestCrashesOfCases(t *testing.T) {
	t.Parallel()
	out, err := testIn(t, sends, sentTest, "--crash")
	if err == nil || !strings.Contains(out, "FAIL  it ends") || !strings.Contains(out, "give sendHttpRequest1 a retry") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = testIn(t, sendsOn, sentTest, "--crash")
	if err != nil || !strings.Contains(out, "ok    it ends (also in 9 runs with a failure of a node, at 4 points)") || !strings.Contains(out, "note: sendHttpRequest1 may be called again, with the same Idempotency-Key") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = testIn(t, sends, sentTest)
	if err != nil || strings.Contains(out, "failure of a node") {
		t.Errorf("nobody asked for failures: %v\n%s", err, out)
	}
}

func TestCrashesAsJSON(t *testing.T) {
	t.Parallel()
	out, _ := testIn(t, sends, sentTest, "--crash", "--json")
	var r struct {
		Files []struct {
			Cases []struct {
				Failures []struct{ Field string }
				Crash    struct {
					Calls, Points, Runs int
					Repeated            []struct{ SameKey, SameBody bool }
					Differs             []struct{ Fails bool }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	c := r.Files[0].Cases[0]
	if c.Failures[0].Field != "crash" || c.Crash.Calls != 1 || c.Crash.Points != 4 || c.Crash.Runs != 9 || !c.Crash.Repeated[0].SameBody || !c.Crash.Differs[0].Fails {
		t.Errorf("%+v", c)
	}
}

func TestResultsForServers(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name, tests         string
		all, failed, errors int
	}{
		{"passed", sentTest, 1, 0, 0},
		{"failed", strings.ReplaceAll(sentTest, "Finished", "Faulted"), 1, 1, 0},
		{"what XML cannot have", strings.ReplaceAll(sentTest, "it ends", `"a <b> \u0001 & \"c\" ]]>"`), 1, 0, 0},
		{"a file that cannot be read", "cases: 3\n", 1, 0, 1},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "out.xml")
			_, err := testIn(t, sends, of.tests, "--junit", file)
			if (err != nil) != (of.failed+of.errors > 0) {
				t.Error(err)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got junitSuites
			if err := xml.Unmarshal(raw, &got); err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			if got.Tests != of.all || got.Failures != of.failed || got.Errors != of.errors || len(got.Suites) != 1 || len(got.Suites[0].Cases) != 1 {
				t.Errorf("%+v", got)
			}
			c := got.Suites[0].Cases[0]
			if (c.Failure != nil) != (of.failed > 0) || (c.Error != nil) != (of.errors > 0) {
				t.Errorf("%+v", c)
			}
		})
	}
	if _, err := testIn(t, sends, sentTest, "--junit", filepath.Join(t.TempDir(), "no", "such", "out.xml")); err == nil {
		t.Error("a file that cannot be written")
	}
}
