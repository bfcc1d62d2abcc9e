package edit_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/edit"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

const elsaList = `{
  "definitionId": "x",
  "name":   "odd   spaces",
  "root": {
    "id": "all", "type": "Elsa.Sequence",
    "activities": [
      {
        "id": "a",
        "type": "Elsa.WriteLine",
        "text": { "typeName": "String", "expression": { "type": "Literal", "value": "a" }, "mine": 1 }
      },
      { "id": "b", "type": "Elsa.WriteLine", "\u0074ext": {"typeName":"String","expression":{"type":"Literal","value":"b"}} }
    ]
  }
}
`

const elsaChart = `{"definitionId":"x","root":{"id":"all","type":"Elsa.Flowchart","start":"a","activities":[{"id":"a","type":"Elsa.FlowDecision","metadata":{"designer":{"position":{"x":10,"y":20.5}}}},{"id":"b","type":"Elsa.WriteLine","metadata":{"designer":{"position":{"x":10,"y":130}}}}],"connections":[{"source":{"activity":"a","port":"True"},"target":{"activity":"b","port":"In"}}]}}`

// TestElsasJSON holds that an edit of Elsa's JSON keeps its form and the designer's positions.
func TestElsasJSON(t *testing.T) {
	t.Parallel()
	types := activities.Default()
	apply := func(src string, e ...edit.Edit) string {
		t.Helper()
		res, problems := edit.Apply([]byte(src), true, e, types)
		if len(problems) > 0 {
			t.Fatalf("%+v is refused: %v", e, problems)
		}
		if _, wrong := elsajson.Read(res.Text, "", types); len(wrong) > 0 {
			t.Fatalf("%+v: %v\n%s", e, wrong, res.Text)
		}
		return string(res.Text)
	}
	for _, where := range []string{edit.Before, edit.After} {
		for _, id := range []string{"a", "b"} {
			got := apply(elsaList, edit.Edit{Op: edit.Insert, Activity: id, Where: where, Type: "delay", Inputs: map[string]any{"timeSpan": "5s"}})
			if !strings.Contains(got, "\n        \"id\": \"delay1\",\n        \"type\": \"Elsa.Delay\",") {
				t.Errorf("not indented as its neighbours\n%s", got)
			}
			if back := apply(got, edit.Edit{Op: edit.Delete, Activity: "delay1"}); back != elsaList {
				t.Errorf("what was inserted %s %s cannot be deleted\n%s", where, id, back)
			}
		}
	}
	if got, want := apply(elsaList, edit.Edit{Op: edit.Set, Activity: "a", Key: "text", Text: text("${{ inputs.who }}")}), strings.Replace(elsaList, `{ "type": "Literal", "value": "a" }`, "?", 1); len(got) < len(want) || got[:strings.Index(want, "?")] != want[:strings.Index(want, "?")] || !strings.Contains(got, `, "mine": 1 }`) || !strings.Contains(got, "inputs.who") {
		t.Errorf("an input was set\n%s", got)
	}
	if got := apply(elsaList, edit.Edit{Op: edit.Delete, Activity: "a"}, edit.Edit{Op: edit.Delete, Activity: "b"}); !strings.Contains(got, `"activities": []`) {
		t.Errorf("all are deleted\n%s", got)
	}
	if got := apply(elsaList, edit.Edit{Op: edit.Move, Activity: "a", Where: edit.Down}); strings.Index(got, `"id": "b"`) > strings.Index(got, `"id": "a"`) || !strings.Contains(got, `\u0074ext`) {
		t.Errorf("a was moved\n%s", got)
	}

	got := apply(elsaChart, edit.Edit{Op: edit.Insert, Activity: "a", Port: "True", Type: "writeLine", ID: "c", Inputs: map[string]any{"text": "hi"}})
	for _, want := range []string{`"position":{"x":10,"y":20.5}`, `"position":{"x":290,"y":130.5}`, `{"activity":"c","port":"Done"},"target":{"activity":"b","port":"In"}`, `"source":{"activity":"a","port":"True"},"target":{"activity":"c","port":"In"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if got = apply(got, edit.Edit{Op: edit.Delete, Activity: "b"}); strings.Contains(got, `"b"`) || !strings.Contains(got, `"activity":"c"`) {
		t.Errorf("b was deleted\n%s", got)
	}
	for _, e := range []edit.Edit{
		{Op: edit.Wrap, Activity: "a", Type: "if"},
		{Op: edit.Set, Activity: "a", Key: "result", Text: text("x")},
		{Op: edit.Insert, Activity: "all", Type: "writeLine"},
		{Op: edit.Insert, Activity: "a", Type: "writeLyne"},
		{Op: "x", Activity: "a"},
		{Op: edit.Delete, Activity: "nobody"},
		{Op: edit.Connect, Activity: "a", To: "b", Port: "True"},
		{Op: edit.Disconnect, Activity: "b", To: "a"},
		{Op: edit.Connect, Activity: "a", To: "q"},
		{Op: edit.Move, Activity: "a", Where: edit.Down},
	} {
		if res, problems := edit.Apply([]byte(elsaChart), true, []edit.Edit{e}, types); len(problems) == 0 {
			t.Errorf("%+v was done\n%s", e, res.Text)
		}
	}
	if res, problems := edit.Apply([]byte(elsaChart), true, make([]edit.Edit, edit.MaxEdits+1), types); len(problems) == 0 || !bytes.Equal(res.Text, nil) {
		t.Error("too many edits")
	}
}
