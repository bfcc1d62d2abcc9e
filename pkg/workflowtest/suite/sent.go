package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// Sent is a test file that somebody sent, with the definition that it tests. It runs as
// [RunFile] runs a file, but it reads no files, so that it names other definitions without
// folders, has the activities of Registry only, so that others have to be mocked, and ends with
// its context.
type Sent struct {
	Test       []byte // the test file
	Definition []byte // the definition that it tests, also if the file names another one
	// Other gives the source of another definition by what the file calls it, and is asked once
	// for each; nil: there are none.
	Other func(ctx context.Context, name string) ([]byte, error)
	// Registry has the activities; nil: the built-in ones. What they do outside, they do.
	Registry *engine.Registry
	// Evaluators are those of the languages that may be used; nil: all.
	Evaluators []engine.Evaluator
	Strict     bool // a warning about a definition fails the case
	Crash      bool // a case that passes is run again for each failure of a node
}

// Limits of a test that was sent: what it says is as large as it makes it.
const (
	MaxSentCases    = 100
	MaxSentOthers   = 50      // definitions besides the one under test
	maxSentSources  = 8 << 20 // bytes of all the definitions
	maxSentLines    = 200     // of a journal that is told
	maxSentFailures = 300     // of nodes, in one case
	maxSentMessage  = 16 << 10
	maxSentAnswer   = 4 << 20 // bytes that are told of all cases; then little of each
	leastTold       = 200     // bytes of one text, also then
)

// The name of a file that was sent, and of its definition, in what is said of them.
const (
	sentTest       = "test"
	sentDefinition = "definition"
)

// RunSent runs the cases of a test that was sent, until its context ends: the error is then that
// of the context. A [*FileError] says what is wrong with the test itself.
func RunSent(ctx context.Context, sent Sent) (FileResult, error) {
	s, err := parseSuite(sentTest, sent.Test, true)
	if err != nil {
		return FileResult{}, err
	}
	if n := len(s.cases); n > MaxSentCases {
		return FileResult{}, fmt.Errorf("the test has %d cases, and may have %d", n, MaxSentCases)
	}
	sources, told := &sources{sent: sent, read: map[string]source{}}, telling{left: maxSentAnswer}
	res := FileResult{File: sentTest, Cases: []CaseResult{}}
	for i := range s.cases {
		c := &s.cases[i]
		caseCtx, stop := context.WithCancelCause(ctx)
		c.cfg.Registry = cmp.Or(sent.Registry, activities.Default())
		c.bounds = &trial.Bounds{Context: caseCtx, Stop: stop, Source: sources.source, Evaluators: sent.Evaluators}
		res.add(c, FileOptions{Strict: sent.Strict, Crash: sent.Crash}, nil)
		stop(nil)
		if err := ctx.Err(); err != nil {
			return FileResult{}, fmt.Errorf("the tests did not come to their end: %w", err)
		}
		told.cut(&res.Cases[len(res.Cases)-1])
	}
	res.Warnings = told.list(res.Warnings)
	return res, nil
}

// telling cuts what is told of cases, so that it has a bound however many there are.
type telling struct{ left int }

func (t *telling) text(s string, most int) string {
	s = workflow.CutBytes(s, max(leastTold, min(most, t.left)))
	t.left -= len(s)
	return s
}

func (t *telling) list(texts []string) []string {
	more := len(texts) - maxSentLines
	texts = texts[:min(len(texts), maxSentLines)]
	for i := range texts {
		texts[i] = t.text(texts[i], compare.MaxShown)
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("(and %d more)", more))
	}
	return texts
}

func (t *telling) cut(c *CaseResult) {
	c.Name = t.text(c.Name, compare.MaxShown)
	if len(c.Failures) > trial.MaxFailures {
		c.Failures = append(c.Failures[:trial.MaxFailures], Failure{Line: c.Line, Message: "there are more; the case went no further"})
	}
	for i := range c.Failures {
		f := &c.Failures[i]
		f.Field, f.Message = t.text(f.Field, leastTold), t.text(f.Message, maxSentMessage)
	}
	c.Journal = t.list(c.Journal)
	shown := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(c.Variables)) {
		size := len(name) + engine.Weigh(c.Variables[name])
		switch {
		case t.left <= 0:
			continue
		case size > min(t.left, maxSentMessage):
			shown[name] = t.text(compare.Show(c.Variables[name]), compare.MaxShown)
		default:
			shown[name] = c.Variables[name]
			t.left -= size
		}
	}
	c.Variables = shown
}

// sources are the definitions of a test that was sent: each is read once, and not from a file.
type sources struct {
	sent  Sent
	read  map[string]source
	bytes int
}

type source struct {
	text []byte
	err  error
}

func (s *sources) source(ctx context.Context, name string) ([]byte, error) {
	if got, ok := s.read[name]; ok {
		return got.text, got.err
	}
	var got source
	switch {
	case name == sentDefinition:
		got.text = s.sent.Definition
	case s.sent.Other == nil:
		got.err = fmt.Errorf("there is no other definition %s: %w", name, os.ErrNotExist)
	default:
		got.text, got.err = s.sent.Other(ctx, name)
	}
	s.bytes += len(got.text)
	switch {
	case got.err != nil:
	case len(got.text) > workflow.MaxSource+1:
		got = source{err: errors.New("it is too large")}
	case s.bytes > maxSentSources:
		got = source{err: fmt.Errorf("the definitions have more than %d bytes together; run it with weft test", maxSentSources)}
	}
	s.read[name] = got
	return got.text, got.err
}

// DefinitionID is the id of a published definition that a test file means by a path such as
// ../greeting.yaml.
func DefinitionID(path string) string {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		if cut := strings.TrimSuffix(base, ext); cut != base {
			return cut
		}
	}
	return cmp.Or(base, path)
}
