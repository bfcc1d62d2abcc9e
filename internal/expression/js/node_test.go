package js

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A node's program does so too: a script's local time is the same on each machine.
var _ = func() bool {
	time.Local = time.UTC
	return true
}()

// Each script was run by Node 20.20.2 (V8 11.3, ICU 78.2) with TZ=UTC and LANG=en_US.UTF-8; "node" is what it gave, as JSON, or "throws" and the
// error's name, or NaN, Infinity and undefined, of which nothing is kept here. With "weft" the script gives something else
// here, or is "refused" by publishing, "told" by publishing and fails, or "fails" when it runs; "why" is the reason, which stands in
// docs/expressions.md.
func TestNodeGivesTheSame(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/node.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Script, Node, Weft, Why string }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 1200 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if (row.Weft == "") != (row.Why == "") {
			t.Errorf("%s: %q, why %q", row.Script, row.Weft, row.Why)
		}
		want := row.Node
		if row.Weft != "" {
			want = row.Weft
		}
		if got := nodeResult(t, row.Script); !sameResult(got, want) {
			t.Errorf("%s: %s; want %s (Node: %s)", row.Script, got, want, row.Node)
		}
	}
}

func nodeResult(t *testing.T, script string) string {
	t.Helper()
	x := workflow.Expression{Kind: workflow.JavaScript, Value: script}
	c, err := Evaluator{}.Compile(x)
	if err != nil {
		return "refused"
	}
	got, err := c.Eval(t.Context(), expressiontest.Example())
	if err != nil {
		if found, _ := (Evaluator{}).Check(x, &engine.Names{}); len(found) > 0 {
			return "told"
		}
		return "fails"
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sameResult(got, want string) bool {
	if strings.HasPrefix(want, "throws") {
		return got == "refused" || got == "told" || got == "fails"
	}
	switch want {
	case "NaN", "Infinity", "-Infinity", "undefined":
		want = "null"
	}
	if got == want {
		return true
	}
	var a, b any
	return json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
