package definitions

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
)

// testsView runs the tests of a definition in place.
type testsView struct {
	ID      string
	Tests   string
	Strict  bool
	Crash   bool
	Refused *page.Problem // why they did not run
	Result  *tried        // nil: they have not run
}

// tried is what became of tests.
type tried struct {
	Passed, Failed int
	Cases          []triedCase
	Warnings       []string
}

type triedCase struct {
	Name     string
	Line     int
	Failures []struct {
		Line           int
		Field, Message string
	}
	Journal   []string
	Variables json.RawMessage
	Crash     *struct {
		Points, Runs int
		Notes        []string
	} // nil: no node failed in it

	Whole bool // all is told of it; else only what failed first
	Left  int  // failures that are not told
}

// Of so many cases that failed a page tells what they did, and of each so many failures: as much as
// somebody reads.
const (
	wholeCases    = 5
	shownFailures = 10
)

// shorten leaves out what is more than a page may tell.
func (t *tried) shorten() {
	whole := 0
	for i := range t.Cases {
		c := &t.Cases[i]
		if len(c.Failures) == 0 {
			continue
		}
		most := 1
		if whole < wholeCases {
			whole++
			c.Whole, most = true, shownFailures
		}
		if c.Left = max(0, len(c.Failures)-most); c.Left > 0 {
			c.Failures = c.Failures[:most]
		}
	}
}

// Said is a line of the tests; "": it has none of that number.
func (t testsView) Said(line int) string {
	lines := strings.Split(t.Tests, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// Tests shows where tests of a published definition are run, with a first one.
func Tests(v *page.Visit) (string, any, error) {
	view := testsView{ID: v.Request.PathValue("id")}
	f, err := readFace(v, view.ID, nil)
	view.Tests = firstTest(f)
	return "Tests of " + view.ID, view, err
}

// firstTest is a test to begin with: it gives each input without a default a value of its type.
func firstTest(f face) string {
	var inputs []string
	for _, in := range f.Inputs {
		value := map[string]string{"text": `""`, "number": "1", "boolean": "true"}[in.Kind()]
		switch {
		case len(in.Default) > 0:
			continue
		case value == "" && in.List:
			value = "[]"
		case value == "":
			value = "{}"
		}
		name, err := json.Marshal(in.Name) // a text of JSON is one of YAML
		if err != nil {
			continue
		}
		inputs = append(inputs, string(name)+": "+value)
	}
	return "cases:\n  - name: it ends\n    input: {" + strings.Join(inputs, ", ") + "}\n    steps: []\n    expect: {status: Finished}\n"
}

// Tested shows the page with what became of the tests; refused says why they did not run.
func Tested(v *page.Visit, to *page.Answer, refused *page.Problem) {
	form := v.Request.PostForm
	view := testsView{
		ID: form.Get("b.definitionId"), Tests: strings.ReplaceAll(form.Get("b.tests"), "\r\n", "\n"), Strict: form.Get("j.strict") == "true", Crash: form.Get("j.crash") == "true", Refused: refused,
	}
	status := http.StatusOK
	if refused != nil {
		status = refused.Status
	} else {
		if err := json.Unmarshal(to.Body.Bytes(), &view.Result); err != nil {
			v.Fail("definitions", err)
			return
		}
		view.Result.shorten()
	}
	v.Render(status, "tests", page.Page{Title: "Tests of " + view.ID, Here: "definitions", View: view})
}
