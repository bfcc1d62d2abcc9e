package elsajson_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

// dotnetRow is one fact of how Elsa reads its JSON. What Weft makes of it is the same if nothing else is said.
type dotnetRow struct {
	Kind, Fact                   string
	Type, Activity, Input, Field string
	JSON, Elsa, Weft             json.RawMessage
	ElsaRefuses, WeftRefuses     bool
	Why                          string // it is otherwise here
	Page                         string // what docs/differences-from-elsa.md says of it
	Warns                        string // the code of the warning at publishing
}

func (row dotnetRow) otherwise() bool {
	return row.ElsaRefuses != row.refused() || row.Weft != nil && string(row.Weft) != string(row.Elsa)
}

func (row dotnetRow) refused() bool { return row.WeftRefuses || row.ElsaRefuses && row.Weft == nil }

// definition is one in which the row's JSON stands where its kind says.
func (row dotnetRow) definition() string {
	const top = `{"definitionId": "x", "variables": [%s], "options": {%s}, "outputs": [{"name": "out", "value": {"type": "Expr", "value": "${{ variables.v }}"}}], "root": %s}`
	start := `{"id": "s", "type": "Elsa.Start"}`
	none := `{"id": "v", "name": "v"}`
	switch row.Kind {
	case "variable":
		return fmt.Sprintf(top, fmt.Sprintf(`{"id": "v", "name": "v", "typeName": %q, "value": %s}`, row.Type, row.JSON), "", start)
	case "type":
		return fmt.Sprintf(top, fmt.Sprintf(`{"id": "v", "name": "v", "typeName": %s}`, row.JSON), "", start)
	case "text":
		return fmt.Sprintf(top, none, "", fmt.Sprintf(`{"id": "w", "type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": %s}}}`, row.JSON))
	case "bare text":
		return fmt.Sprintf(top, none, "", fmt.Sprintf(`{"id": "w", "type": "Elsa.WriteLine", "text": %s}`, row.JSON))
	case "option":
		given := fmt.Sprintf(`{"id": "g", "type": %q, %q: {"typeName": "Object", "expression": {"type": "Literal", "value": %s}}}`, row.Activity, row.Input, row.JSON)
		if strings.HasPrefix(row.Activity, "Elsa.Flow") {
			given = `{"id": "f", "type": "Elsa.Flowchart", "activities": [` + given + `]}`
		}
		return fmt.Sprintf(top, none, "", given)
	case "merge mode":
		return fmt.Sprintf(top, none, "", fmt.Sprintf(`{"id": "f", "type": "Elsa.Flowchart", "customProperties": {"Flowchart:ExecutionMode": "TokenBased"}, "activities": [{"id": "w", "type": "Elsa.WriteLine", "customProperties": {"mergeMode": %s}}]}`, row.JSON))
	case "options":
		return fmt.Sprintf(top, none, fmt.Sprintf(`%q: %s`, row.Field, row.JSON), start)
	case "logging", "single logging":
		return fmt.Sprintf(top, none, "", fmt.Sprintf(`{"id": "s", "type": "Elsa.Start", "customProperties": {"logPersistenceMode": %s}}`, row.JSON))
	case "property":
		return fmt.Sprintf(top, none, "", fmt.Sprintf(`{"id": "s", "type": "Elsa.Start", "customProperties": {"p": %s}, "metadata": {"p": %[1]s}}`, row.JSON))
	}
	return ""
}

// TestDotNetsFormatsAreReadAsElsaReadsThem holds each row of testdata/dotnet.json, which says where they are from.
func TestDotNetsFormatsAreReadAsElsaReadsThem(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/dotnet.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Source string
		Rows   []dotnetRow
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) < 210 {
		t.Fatalf("%d rows", len(table.Rows))
	}
	page, err := os.ReadFile("../../../docs/differences-from-elsa.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		name := strings.Join([]string{row.Kind, row.Type + row.Activity + row.Field, row.Fact}, ": ")
		if row.otherwise() != (row.Why != "") {
			t.Errorf("%s: why %q", name, row.Why)
		}
		if row.otherwise() && row.Page == "" && row.Warns == "" && !row.refused() || !strings.Contains(string(page), row.Page) {
			t.Errorf("%s: neither the page nor the publication says that it is otherwise (%q)", name, row.Page)
		}
		got, codes, err := row.read(t)
		if (err != nil) != row.refused() {
			t.Errorf("%s: refused %v: %v", name, row.refused(), err)
		}
		if warned := slices.Contains(codes, row.Warns); row.Warns != "" && !warned || row.Warns == "" && (slices.Contains(codes, "typed-envelope") || slices.Contains(codes, "lost-digits")) {
			t.Errorf("%s: warnings %v; want %q", name, codes, row.Warns)
		}
		if err != nil || row.refused() {
			continue
		}
		var want any
		right := row.Elsa
		if row.Weft != nil {
			right = row.Weft
		}
		if err := workflow.Unmarshal(right, &want); err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		row.writtenAgain(t, name)
	}
}

// read gives what the row's JSON is here, and the codes of all that publishing says of it.
func (row dotnetRow) read(t *testing.T) (got any, codes []string, err error) {
	t.Helper()
	def, problems := elsajson.Read([]byte(row.definition()), "", activities.Default())
	if def == nil {
		return nil, nil, problems.Err()
	}
	prog, more := check.Definition(def, check.Options{Options: engine.Options{Registry: activities.Default(), Evaluators: expression.All()}})
	for _, p := range problems.Join(more) {
		codes = append(codes, p.Code)
		if p.Place.Line == 0 {
			t.Errorf("%s has no place", p.Detail)
		}
	}
	if errs, _ := problems.Join(more).Split(); len(errs) > 0 {
		return nil, codes, errs.Err()
	}
	switch row.Kind {
	case "option", "merge mode", "options":
		return "taken", codes, nil
	case "type":
		return def.Variables[0].Type, codes, nil
	case "logging":
		return def.Root.LogPersistence, codes, nil
	case "single logging":
		return def.Root.CustomProperties["logPersistenceMode"].(map[string]any)["inputs"].(map[string]any)["text"], codes, nil
	case "property":
		if diff := cmp.Diff(def.Root.CustomProperties["p"], def.Root.Metadata["p"]); diff != "" {
			t.Errorf("-customProperties +metadata\n%s", diff)
		}
		return again(t, def.Root.CustomProperties["p"]), codes, nil
	}
	var said any
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	start := &workflow.Start{DefinitionID: def.ID}
	burst, err := engine.New(prog, "i", start, begin, engine.Env{Now: func() time.Time { return begin }, Lines: func(s string) { said = s }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := burst.Run(context.Background(), workflow.Command{ID: "c", Kind: workflow.CommandStart, Start: start}); err != nil {
		t.Fatal(err)
	}
	result, err := burst.Result()
	if err != nil {
		t.Fatal(err)
	}
	if result.Instance.SubStatus != workflow.Finished {
		t.Errorf("%s: %s, %v", row.Fact, result.Instance.SubStatus, result.Instance)
	}
	if row.Kind != "variable" {
		return said, codes, nil
	}
	return again(t, result.Instance.Output["out"]), codes, nil
}

// again gives a value as it is after JSON.
func again(t *testing.T, v any) (out any) {
	t.Helper()
	raw, err := workflow.Marshal(v)
	if err == nil {
		err = workflow.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writtenAgain checks that the definition keeps the form in which it came.
func (row dotnetRow) writtenAgain(t *testing.T, name string) {
	t.Helper()
	def, _ := elsajson.Read([]byte(row.definition()), "", activities.Default())
	out, err := elsajson.Write(def, activities.Default())
	if err != nil {
		t.Fatal(err)
	}
	var was, is any
	if err := workflow.Unmarshal([]byte(row.definition()), &was); err != nil {
		t.Fatal(err)
	}
	if err := workflow.Unmarshal(out, &is); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("%s: written, -was +is\n%s", name, diff)
	}
}
