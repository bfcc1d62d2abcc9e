package suite

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/answers"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// suite is a test file as it was read.
type suite struct {
	cases []testCase
}

// testCase is one case, ready to run.
type testCase struct {
	name   string
	line   int
	cfg    trial.Config
	bounds *trial.Bounds // of a test that was sent; nil: none
	start  bool
	steps  []step
	expect *expectation

	recorded     string // an instance that Elsa exported with its logs; "": none
	recordedLine int
}

// step is something that a test does, or a look in between.
type step struct {
	line   int
	at     time.Time // when it happens; zero: now
	do     func(*trial.Run) error
	expect *expectation
}

type reading = map[string]func(key, value *yaml.Node)

func readSuite(file string) (*suite, error) {
	src, err := trial.ReadLimited(file, maxTestFile)
	if err != nil {
		return nil, fmt.Errorf("read the test file: %w", err)
	}
	return parseSuite(file, src, false)
}

// parseSuite reads a test file; one that was sent names no files.
func parseSuite(file string, src []byte, sent bool) (*suite, error) {
	r := &fileReader{file: file, src: src, sent: sent, report: workflow.NewReport(src, file)}
	s := &suite{}
	if root := r.parse(); root != nil {
		s = r.suite(root)
	}
	if problems := r.report.Problems(); problems != nil {
		return nil, &FileError{problems}
	}
	return s, nil
}

// FileError is every problem of a test file.
type FileError struct{ Problems workflow.Problems }

// Error lists the problems with their lines.
func (e *FileError) Error() string {
	text := ""
	for i, p := range e.Problems {
		if i > 0 {
			text += "\n"
		}
		text += fmt.Sprintf("%s:%d: %s\n%s", p.Place.File, p.Place.Line, p.Detail, p.Excerpt)
	}
	return text
}

func (r *fileReader) suite(n *yaml.Node) *suite {
	s := &suite{}
	var common trial.Config
	var cases *yaml.Node
	known := r.world(&common)
	known["cases"] = func(_, v *yaml.Node) { cases = v }
	known["definition"] = func(_, v *yaml.Node) { common.File = r.path(v, "definition") }
	known["others"] = func(_, v *yaml.Node) {
		r.list(v, "others", func(_ int, item *yaml.Node) { r.other(item, &common) })
		if n := len(common.OtherFiles); r.sent && n > MaxSentOthers {
			r.problem(v, "the test names %d other definitions, and may name %d", n, MaxSentOthers)
		}
	}
	known["$schema"] = func(_, v *yaml.Node) { r.text(v, "$schema") }
	known["description"] = func(_, v *yaml.Node) { r.text(v, "description") }
	r.fields(n, "a test file", known)
	if r.sent {
		common.File = sentDefinition
	}
	if common.File == "" {
		if common.File = besides(r.file); common.File == "" && r.report.Empty() {
			r.problem(n, "the file names no definition, and there is none of its own name beside it")
		}
	}
	if cases == nil || cases.Kind != yaml.SequenceNode || len(cases.Content) == 0 {
		if r.report.Empty() {
			r.problem(n, "the file has no cases; give it a list of them")
		}
		return s
	}
	names := map[string]bool{}
	for i, item := range cases.Content {
		c := r.testCase(item, common, i)
		if names[c.name] {
			r.problem(item, "two cases are called %q", c.name)
		}
		names[c.name] = true
		s.cases = append(s.cases, c)
	}
	return s
}

// other reads the name of another definition. In a test that was sent it is no path: there is
// nothing that it could be relative to, and no file is meant by it.
func (r *fileReader) other(n *yaml.Node, cfg *trial.Config) {
	p := r.path(n, "a definition")
	same := func(other string) bool { return p == other }
	if r.sent {
		if strings.ContainsAny(p, `/\`) {
			r.problem(n, "%q is a path, and a test that runs on a node reads no files: name the published definition, %s", p, DefinitionID(p))
		}
		same = func(other string) bool { return DefinitionID(p) == DefinitionID(other) }
	}
	if slices.ContainsFunc(cfg.OtherFiles, same) {
		r.problem(n, "the definition %s is given twice", p)
		return
	}
	cfg.OtherFiles = append(cfg.OtherFiles, p)
}

// path is relative to the test file.
func (r *fileReader) path(n *yaml.Node, what string) string {
	p := filepath.FromSlash(r.text(n, what))
	if filepath.IsAbs(p) || p == "" || r.sent {
		return p
	}
	return filepath.Join(filepath.Dir(r.file), p)
}

// world are the keys that a file has for all of its cases, and each case for
// itself.
func (r *fileReader) world(cfg *trial.Config) reading {
	return reading{
		"mocks":      func(_, v *yaml.Node) { r.mocks(v, &cfg.Mocks) },
		"children":   func(_, v *yaml.Node) { r.children(v, &cfg.Children) },
		"http":       func(_, v *yaml.Node) { r.answers(v, cfg) },
		"secrets":    func(_, v *yaml.Node) { overlay(&cfg.Secrets, r.textMap(v, "secrets")) },
		"properties": func(_, v *yaml.Node) { overlay(&cfg.Properties, r.object(v, "properties")) },
		"now":        func(_, v *yaml.Node) { cfg.Now = r.time(v) },
	}
}

// overlay adds to a copy, so that what the file says for all stays as it is.
func overlay[V any](into *map[string]V, more map[string]V) {
	next := maps.Clone(*into)
	if next == nil {
		next = map[string]V{}
	}
	maps.Copy(next, more)
	*into = next
}

func (r *fileReader) testCase(n *yaml.Node, common trial.Config, i int) testCase {
	c := testCase{name: fmt.Sprintf("case %d", i+1), line: n.Line, cfg: common, start: true}
	known := r.world(&c.cfg)
	known["name"] = func(_, v *yaml.Node) { c.name = r.text(v, "name") }
	known["input"] = func(_, v *yaml.Node) { c.cfg.Input = r.object(v, "input") }
	known["correlationId"] = func(_, v *yaml.Node) { c.cfg.CorrelationID = r.text(v, "correlationId") }
	known["start"] = func(_, v *yaml.Node) { c.start = r.flag(v, "start") }
	known["steps"] = func(_, v *yaml.Node) {
		r.list(v, "steps", func(_ int, item *yaml.Node) { c.steps = append(c.steps, r.step(item)) })
	}
	known["expect"] = func(k, v *yaml.Node) { c.expect = r.expectation(k, v) }
	known["recorded"] = func(k, v *yaml.Node) {
		c.recorded, c.recordedLine = r.path(v, "recorded"), k.Line
		if r.sent {
			r.problem(v, "recorded names a file, and a test that runs on a node reads none")
		}
	}
	r.fields(n, "a case", known)
	if c.expect == nil {
		c.expect = &expectation{line: n.Line}
	}
	if c.recorded == "" && c.expect.want.Incidents == nil && c.expect.want.Status != workflow.Faulted {
		c.expect.want.Incidents = []string{} // what a case does not expect should not go wrong
	}
	return c
}

func (r *fileReader) mocks(n *yaml.Node, into *trial.Mocks) {
	mocks := map[string]trial.Mock{}
	r.pairs(n, "mocks", func(key, value *yaml.Node) {
		if value.Kind != yaml.SequenceNode {
			mocks[key.Value] = r.reply(value)
			return
		}
		var replies trial.Replies
		for _, item := range value.Content {
			replies = append(replies, r.reply(item))
		}
		mocks[key.Value] = replies
	})
	overlay((*map[string]trial.Mock)(into), mocks)
}

func (r *fileReader) reply(n *yaml.Node) trial.Reply {
	var out trial.Reply
	r.fields(n, "a mock", reading{
		"result":   func(_, v *yaml.Node) { out.Result = r.value(v) },
		"outputs":  func(_, v *yaml.Node) { out.Outputs = r.object(v, "outputs") },
		"outcomes": func(_, v *yaml.Node) { out.Outcomes = r.texts(v, "outcomes") },
		"outcome":  func(_, v *yaml.Node) { out.Outcomes = []string{r.text(v, "outcome")} },
		"branch":   func(_, v *yaml.Node) { out.Branch = r.text(v, "branch") },
		"fault":    func(_, v *yaml.Node) { out.Fault = r.text(v, "fault") },
		"after":    func(_, v *yaml.Node) { out.After = r.duration(v, "after") },
	})
	return out
}

func (r *fileReader) children(n *yaml.Node, into *map[string]trial.Child) {
	children := map[string]trial.Child{}
	r.pairs(n, "children", func(key, value *yaml.Node) {
		var c trial.Child
		r.fields(value, "a child", reading{
			"status": func(_, v *yaml.Node) { c.Status = r.status(v, ends) },
			"output": func(_, v *yaml.Node) { c.Output = r.object(v, "output") },
			"hold":   func(_, v *yaml.Node) { c.Hold = r.flag(v, "hold") },
		})
		children[key.Value] = c
	})
	overlay(into, children)
}

// ends are how an instance can end; states are all in which a step leaves one.
var (
	ends   = []string{string(workflow.Finished), string(workflow.Faulted), string(workflow.Cancelled)}
	states = append([]string{string(workflow.Suspended)}, ends...)
)

func (r *fileReader) status(n *yaml.Node, of []string) workflow.SubStatus {
	if !slices.Contains(of, n.Value) {
		r.problem(n, "%s is no status here%s; known are %v", n.Value, workflow.DidYouMean(n.Value, of), of)
	}
	return workflow.SubStatus(n.Value)
}

func (r *fileReader) answers(n *yaml.Node, cfg *trial.Config) {
	var out answers.Answers
	r.list(n, "http", func(_ int, item *yaml.Node) {
		var a answers.Answer
		r.fields(item, "an answer", reading{
			"method":  func(_, v *yaml.Node) { a.Method = r.text(v, "method") },
			"url":     func(_, v *yaml.Node) { a.URL = r.text(v, "url") },
			"status":  func(_, v *yaml.Node) { a.Status = r.number(v, "status") },
			"headers": func(_, v *yaml.Node) { a.Headers = r.textMap(v, "headers") },
			"body":    func(_, v *yaml.Node) { a.Body = r.value(v) },
		})
		out = append(out, a)
	})
	if common, ok := cfg.HTTP.(answers.Answers); ok {
		out = append(out, common...) // those of the case go first
	}
	cfg.HTTP = out
}
