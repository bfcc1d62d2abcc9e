package sql_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/activities/sql/postgres"
	"github.com/weft-run/weft/pkg/activities/sql/sqlite"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// lab asks databases by instances of one root activity list.
type lab struct {
	t       *testing.T
	on      *sql.Databases
	secrets map[string]string
}

func newLab(t *testing.T, connections map[string]string) *lab {
	t.Helper()
	l := &lab{t, sql.NewDatabases(postgres.Dialect(), sqlite.Dialect()), connections}
	t.Cleanup(func() {
		if err := l.on.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return l
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func compile(t *testing.T, root string, on *sql.Databases) (*engine.Program, workflow.Problems) {
	t.Helper()
	types := activities.Default()
	if on != nil {
		if err := on.Activities(types); err != nil {
			t.Fatal(err)
		}
	}
	def, problems := yaml.Read([]byte("id: d\nvariables: {out: object}\noutputs: {out: object}\ninputs: {x: object}\nroot:\n"+root), "", types)
	if def == nil {
		return nil, problems
	}
	prog, more := engine.Compile(def, engine.Options{Registry: types, Evaluators: expression.All()})
	return prog, append(problems, more...)
}

// ran is what became of an instance.
type ran struct {
	workflow.Instance
	all string // of it
}

func (r *ran) incident() string {
	if len(r.Incidents) == 0 {
		return ""
	}
	return r.Incidents[0].Message
}

// out is its output, as JSON.
func (r *ran) out(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(r.Output["out"])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const given = "  - setOutput: {outputName: out, outputValue: \"${{ variables.out }}\"}\n"

// run runs an instance with the input x.
func (l *lab) run(ctx context.Context, id, root string, x any) *ran {
	l.t.Helper()
	prog, problems := compile(l.t, root, l.on)
	if err := problems.Err(); err != nil {
		l.t.Fatal(err)
	}
	kept, err := secrets.New(l.secrets)
	if err != nil {
		l.t.Fatal(err)
	}
	s := &workflow.Start{DefinitionID: "d", Input: map[string]any{"x": x}}
	b, err := engine.New(prog, id, s, t0, engine.Env{Now: func() time.Time { return t0 }, Secrets: kept})
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := b.Run(ctx, workflow.Command{ID: "start-1", Kind: workflow.CommandStart, Start: s}); err != nil && !errors.Is(err, context.Canceled) {
		l.t.Fatal(err)
	}
	res, err := b.Result()
	if err != nil {
		l.t.Fatal(err)
	}
	raw, err := json.Marshal([]any{res.Instance, res.Journal, string(res.State)})
	if err != nil {
		l.t.Fatal(err)
	}
	return &ran{res.Instance, string(raw)}
}

// query gives the rows of a query, as JSON, or the incident.
func (l *lab) query(text string, x any) string {
	l.t.Helper()
	r := l.run(l.t.Context(), "i1", "  - sqlQuery: {query: "+quoted(text)+", connection: db}\n    result: out\n"+given, x)
	if r.incident() != "" {
		return r.incident()
	}
	return r.out(l.t)
}

// do runs a command, which must do.
func (l *lab) do(text string, x any) {
	l.t.Helper()
	if r := l.run(l.t.Context(), "i1", "  - sqlCommand: {command: "+quoted(text)+", connection: db}\n", x); r.incident() != "" {
		l.t.Fatalf("%s: %s", text, r.incident())
	}
}

// quoted is a text in YAML.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
}
