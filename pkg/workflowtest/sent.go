package workflowtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
)

// Sent is a test file that somebody sent, with the definition that it tests. It runs as
// [RunFile] runs a file, but it reads no files, so that it names other definitions without
// folders, has the built-in activities only, so that others have to be mocked, and ends with
// its context.
type Sent struct {
	Test       []byte // the test file
	Definition []byte // the definition that it tests, also if the file names another one
	// Other gives the source of another definition by what the file calls it, and is asked once
	// for each; nil: there are none.
	Other func(ctx context.Context, name string) ([]byte, error)
	// Evaluators are those of the languages that may be used; nil: all.
	Evaluators []engine.Evaluator
	Strict     bool // a warning about a definition fails the case
}

// Limits of a test that was sent: what it says is as large as it makes it.
const (
	MaxSentCases    = 100
	MaxSentOthers   = 50      // definitions besides the one under test
	maxSentSources  = 8 << 20 // bytes of all the definitions
	maxSentCommands = 2_000   // of one case
	maxSentItems    = 20_000  // of the journals of one case
	maxSentLines    = 200     // of a journal that is told
	maxSentBytes    = 4 << 20 // of the states of one case
	maxSentTold     = 4 << 20 // of what is told of all cases that failed
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
	guard := &guard{ctx: ctx, evaluators: sent.Evaluators, sources: &sources{sent: sent, read: map[string]source{}}}
	res := FileResult{File: sentTest, Cases: []CaseResult{}}
	told := 0
	for i := range s.cases {
		c := &s.cases[i]
		c.cfg.Registry, c.cfg.guard = activities.Default(), guard
		res.add(c, FileOptions{Strict: sent.Strict})
		if err := ctx.Err(); err != nil {
			return FileResult{}, fmt.Errorf("the tests did not come to their end: %w", err)
		}
		last := &res.Cases[len(res.Cases)-1]
		if n := len(last.Journal); n > maxSentLines {
			last.Journal = append(last.Journal[:maxSentLines], fmt.Sprintf("(and %d more)", n-maxSentLines))
		}
		raw, err := json.Marshal(last)
		if err != nil {
			return FileResult{}, fmt.Errorf("tell what case %s did: %w", last.Name, err)
		}
		if told += len(raw); told > maxSentTold {
			return FileResult{}, fmt.Errorf("what is to be told of the cases up to line %d has more than %d bytes; send fewer, or run them with weft test", last.Line, maxSentTold)
		}
	}
	return res, nil
}

// guard is what a test that was sent may do; nil: everything.
type guard struct {
	ctx        context.Context //nolint:containedctx // that of the whole run, which its methods do not take
	sources    *sources
	evaluators []engine.Evaluator
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
	case len(got.text) > maxFile:
		got = source{err: errors.New("it is too large")}
	case s.bytes > maxSentSources:
		got = source{err: fmt.Errorf("the definitions have more than %d bytes together; run it with weft test", maxSentSources)}
	}
	s.read[name] = got
	return got.text, got.err
}

func (g *guard) context() context.Context {
	if g == nil {
		return context.Background()
	}
	return g.ctx
}

// source reads a definition: from a file, or from what was sent with the test.
func (g *guard) source(name string) ([]byte, error) {
	if g == nil {
		return readLimited(name, maxFile)
	}
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	return g.sources.source(g.ctx, name)
}

// check stops a run that does more than a test that was sent may do.
func (g *guard) check(r *Run) error {
	if g == nil {
		return nil
	}
	if err := g.ctx.Err(); err != nil {
		return err
	}
	items, bytes := 0, 0
	for _, in := range r.instances {
		items += len(in.journal)
		bytes += len(in.state)
	}
	switch {
	case r.commands > maxSentCommands:
		return fmt.Errorf("the case runs more than %d commands; run it with weft test", maxSentCommands)
	case items > maxSentItems:
		return fmt.Errorf("the case does more than %d things; run it with weft test", maxSentItems)
	case bytes > maxSentBytes:
		return fmt.Errorf("the instances of the case have more than %d bytes; run it with weft test", maxSentBytes)
	}
	return nil
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
