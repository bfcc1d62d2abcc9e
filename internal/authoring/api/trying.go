package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest"
)

// testTime is how long the tests of one request may take together.
const testTime = 10 * time.Second

// tryingRoutes run tests, and tell editors what test files may say.
func tryingRoutes() []serve.Route {
	return []serve.Route{
		{Method: "POST", Path: "/definitions/test", Name: "tryDefinition", Costly: true, Role: auth.Designer, Tag: "definitions", Kind: serve.Reads,
			Summary: "Run the cases of a test file against a definition, with mocks and a clock of its own; nothing is stored, and nothing goes out",
			Body:    tryBody{}, Answers: map[int]any{200: triedView{}}, Problems: []workflow.Code{workflow.CodeDefinitionNotFound}, Serve: tryDefinition},
		{Method: "GET", Path: "/schema/test-v1.json", Bare: true, Name: "schemaOfTests", Role: auth.Viewer, Tag: "health", Kind: serve.Open,
			Summary: "The JSON Schema of test files, for editors", Answers: map[int]any{200: serve.TextOf{"application/schema+json"}},
			Serve: func(*serve.Call) (serve.Reply, error) {
				return serve.Reply{Raw: workflowtest.Schema(), RawType: "application/schema+json"}, nil
			}},
	}
}

type tryBody struct {
	Tests        string `json:"tests" doc:"A test file, as weft test takes it. What it calls definition is the one below; others, 50 at most, are published ones: their ids, or the names of their files without folders."`
	Text         string `json:"text" doc:"The definition: Weft's YAML, or Elsa's JSON. Absent: the published one of definitionId."`
	DefinitionID string `json:"definitionId" doc:"Needed without text."`
	Strict       bool   `json:"strict" doc:"A warning about a definition fails the case."`
	Crash        bool   `json:"crash" doc:"Run each case that passes again for each failure that a node may have in it, 300 at most. What is wrong then fails the case, with the field crash."`
}

type triedView struct {
	Passed   int             `json:"passed"`
	Failed   int             `json:"failed"`
	Cases    []triedCaseView `json:"cases"`
	Warnings []string        `json:"warnings" doc:"What may be a mistake in the definitions."`
}

type triedCaseView struct {
	Name      string             `json:"name"`
	Line      int                `json:"line" doc:"Of the test file."`
	Failures  []triedFailureView `json:"failures" doc:"None: it passed."`
	Journal   []string           `json:"journal" doc:"Of one that failed: what the instance did, 200 lines at most."`
	Variables map[string]any     `json:"variables" doc:"Of one that failed: as its last commit left them."`
	Crash     *crashView         `json:"crash" doc:"Of one that was run with failures of nodes."`
}

// crashView is what failures of nodes do to a case.
type crashView struct {
	Calls  int      `json:"calls" doc:"To the outside, that it makes."`
	Points int      `json:"points" doc:"At which a node may fail."`
	Runs   int      `json:"runs" doc:"Each with one failure."`
	Left   int      `json:"left" doc:"Failures that were left out, as they are too many."`
	Notes  []string `json:"notes" doc:"What is to be known, such as calls that may be made again with the same key."`
}

type triedFailureView struct {
	Line    int    `json:"line"`
	Field   string `json:"field" doc:"Of what is expected, such as output.total; empty: it could not be done."`
	Message string `json:"message"`
}

func tryDefinition(c *serve.Call) (serve.Reply, error) {
	var b tryBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), testTime)
	defer cancel()
	source := func(ctx context.Context, id string) ([]byte, error) {
		if err := workflow.CheckID("the id of a definition", id); err != nil {
			return nil, err
		}
		src, err := c.API.Config.Catalog.Source(ctx, id, 0, "")
		return src.Content, err
	}
	// What the node's own program has may do something outside; what workers do is only waited for.
	types := activities.Default()
	if err := declared.Copy(types, c.API.Config.Catalog.Types()); err != nil {
		return serve.Reply{}, err
	}
	sent := workflowtest.Sent{
		Registry: types,
		Test:     []byte(b.Tests), Definition: []byte(b.Text), Strict: b.Strict, Crash: b.Crash, Evaluators: c.API.Config.Catalog.Evaluators(),
		Other: func(ctx context.Context, name string) ([]byte, error) {
			return source(ctx, workflowtest.DefinitionID(name))
		},
	}
	if b.Text == "" {
		var err error
		if sent.Definition, err = source(ctx, b.DefinitionID); err != nil {
			if b.DefinitionID == "" {
				return serve.Reply{}, serve.Invalid("missing-field", "/text", "give the definition as text, or the id of a published one as definitionId")
			}
			return serve.Reply{}, err
		}
	}
	res, err := workflowtest.RunSent(ctx, sent)
	var wrong *workflowtest.FileError
	switch {
	case err == nil:
		return serve.Reply{Status: http.StatusOK, Body: viewTried(res)}, nil
	case errors.As(err, &wrong):
		return serve.Reply{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: wrong.Error(), Problems: wrong.Problems}
	case c.Request.Context().Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return serve.Reply{}, serve.Invalid("too-long", "/tests", fmt.Sprintf("the cases took more than %v together; run them with weft test", testTime))
	case c.Request.Context().Err() != nil:
		return serve.Reply{}, c.Request.Context().Err()
	}
	return serve.Reply{}, serve.Invalid("bad-test", "/tests", err.Error())
}

func viewTried(res workflowtest.FileResult) triedView {
	v := triedView{Failed: res.Failed(), Passed: len(res.Cases) - res.Failed(), Warnings: append([]string{}, res.Warnings...), Cases: shape.Each(res.Cases, func(one workflowtest.CaseResult) triedCaseView {
		return triedCaseView{
			Name: one.Name, Line: one.Line, Journal: append([]string{}, one.Journal...), Variables: shape.Object(one.Variables),
			Failures: shape.Each(one.Failures, func(f workflowtest.Failure) triedFailureView { return triedFailureView{f.Line, f.Field, f.Message} }),
			Crash:    viewCrash(one.Crash),
		}
	})}
	return v
}

func viewCrash(r *workflowtest.CrashReport) *crashView {
	if r == nil {
		return nil
	}
	notes := append([]string{}, r.Notes()...)
	return &crashView{Calls: r.Calls, Points: r.Points, Runs: r.Runs, Left: r.Left, Notes: notes[:min(len(notes), maxCrashNotes)]}
}

// maxCrashNotes is how many notes of a case are told.
const maxCrashNotes = 50
