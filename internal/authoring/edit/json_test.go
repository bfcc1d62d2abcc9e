package edit_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/authoring/edit"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
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
		res, problems := edit.Apply(t.Context(), []byte(src), true, e, types)
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
		if res, problems := edit.Apply(t.Context(), []byte(elsaChart), true, []edit.Edit{e}, types); len(problems) == 0 {
			t.Errorf("%+v was done\n%s", e, res.Text)
		}
	}
	if res, problems := edit.Apply(t.Context(), []byte(elsaChart), true, make([]edit.Edit, edit.MaxEdits+1), types); len(problems) == 0 || !bytes.Equal(res.Text, nil) {
		t.Error("too many edits")
	}
}

const elsaBranch = `{
  "definitionId": "x",
  "root": {
    "id": "choose", "type": "Elsa.If",
    "then": {
      "id": "a",
      "type": "Elsa.WriteLine",
      "mine":   [1,
        2]
    }
  }
}
`

// TestElsasJSONGetsSequences holds, byte by byte, that a second activity beside one that stands alone,
// and one around it, leave that as it is but for its indentation.
func TestElsasJSONGetsSequences(t *testing.T) {
	t.Parallel()
	one := "{\n      \"id\": \"a\",\n      \"type\": \"Elsa.WriteLine\",\n      \"mine\":   [1,\n        2]\n    }"
	deeper := func(by int) string { return strings.ReplaceAll(one, "\n", "\n"+strings.Repeat(" ", by)) }
	for name, c := range map[string]struct {
		edit      edit.Edit
		now, then string // what stands for the activity
	}{
		"behind": {edit.Edit{Op: edit.Insert, Activity: "a", Type: "break"}, "sequence1",
			"{\n      \"id\": \"sequence1\",\n      \"type\": \"Elsa.Sequence\",\n      \"activities\": [\n        " + deeper(4) + ",\n        {\n          \"id\": \"break1\",\n          \"type\": \"Elsa.Break\"\n        }\n      ]\n    }"},
		"before": {edit.Edit{Op: edit.Insert, Activity: "a", Where: edit.Before, Type: "sequence"}, "sequence2",
			"{\n      \"id\": \"sequence2\",\n      \"type\": \"Elsa.Sequence\",\n      \"activities\": [\n        {\n          \"id\": \"sequence1\",\n          \"type\": \"Elsa.Sequence\"\n        },\n        " + deeper(4) + "\n      ]\n    }"},
		"in while": {edit.Edit{Op: edit.Wrap, Activity: "a", Type: "flowNode", ID: "w"}, "w",
			"{\n      \"id\": \"w\",\n      \"type\": \"Elsa.FlowNode\",\n      \"body\": " + deeper(2) + "\n    }"},
		"in parallel": {edit.Edit{Op: edit.Wrap, Activity: "a", Type: "parallel"}, "parallel1",
			"{\n      \"id\": \"parallel1\",\n      \"type\": \"Elsa.Parallel\",\n      \"activities\": [\n        " + deeper(4) + "\n      ]\n    }"},
	} {
		res, problems := edit.Apply(t.Context(), []byte(elsaBranch), true, []edit.Edit{c.edit}, activities.Default())
		if want := strings.Replace(elsaBranch, one, c.then, 1); len(problems) > 0 || string(res.Text) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, problems, res.Text, want)
		}
	}
	for _, e := range []edit.Edit{
		{Op: edit.Wrap, Activity: "all", Type: "sequence"},
		{Op: edit.Wrap, Activity: "all", Type: edit.Retry},
		{Op: edit.Wrap, Activity: "a", Type: "sequence"}, // its outcome True leads on
		{Op: edit.Wrap, Activity: "a", Type: edit.Timeout},
	} {
		if res, problems := edit.Apply(t.Context(), []byte(elsaChart), true, []edit.Edit{e}, activities.Default()); len(problems) != 1 || problems[0].Code != "edit-refused" {
			t.Errorf("%+v: %v\n%s", e, problems, res.Text)
		}
	}
	res, problems := edit.Apply(t.Context(), []byte(elsaChart), true, []edit.Edit{{Op: edit.Wrap, Activity: "b", Type: "sequence", ID: "s"}}, activities.Default())
	for _, want := range []string{`{"id":"s","type":"Elsa.Sequence","activities":[{"id":"b",`, `"target":{"activity":"s","port":"In"}`, `"metadata":{"designer":{"position":{"x":10,"y":130}}}`} {
		if !strings.Contains(string(res.Text), want) {
			t.Errorf("%v: no %s in\n%s", problems, want, res.Text)
		}
	}
}

// TestEditsOfAnyJSON holds for Elsa's JSON, in lines and in one, what TestEditsOfAnyText does for YAML.
func TestEditsOfAnyJSON(t *testing.T) {
	t.Parallel()
	types := activities.Default()
	done, refused := map[string]int{}, map[string]int{}
	ops := []string{"before", "after", "delete", "up", "down", "beside", "if", "parallel", "sequence", "while", "retry", "timeout", "set"}
	rapid.Check(t, func(t *rapid.T) {
		def, problems := yaml.Read(definition(t), "", types)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		src, err := elsajson.Write(def, types)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "one line") {
			var b bytes.Buffer
			if err := json.Compact(&b, src); err != nil {
				t.Fatal(err)
			}
			src = b.Bytes()
		}
		texts := shape(t, src, true)
		var ids []string
		workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
			if a.Type == "Elsa.WriteLine" {
				ids = append(ids, a.ID)
			}
			return true
		})
		e := edit.Edit{Activity: rapid.SampledFrom(ids).Draw(t, "which")}
		fresh := map[string]any{"text": "new"}
		op := rapid.SampledFrom(append([]string{"up", "down"}, ops...)).Draw(t, "edit") // those twice: often nothing is there
		switch op {
		case "before", "after":
			e.Op, e.Where, e.Type, e.Inputs = edit.Insert, op, "writeLine", fresh
		case "delete":
			e.Op = edit.Delete
		case "up", "down":
			e.Op, e.Where = edit.Move, op
		case "beside":
			e.Op, e.Where, e.To = edit.Move, rapid.SampledFrom([]string{edit.Before, edit.After}).Draw(t, "side"), rapid.SampledFrom(ids).Draw(t, "to")
		case "set":
			e.Op, e.Key, e.Value = edit.Set, "text", "new"
		default:
			e.Op, e.Type = edit.Wrap, op
		}
		res, problems := edit.Apply(t.Context(), src, true, []edit.Edit{e}, types)
		if len(problems) > 0 {
			refused[op]++
			if op == "up" || op == "down" || op == "beside" || op == "delete" && strings.Contains(problems[0].Detail, "has to hold") ||
				(op == "timeout" || op == "retry") && strings.Contains(problems[0].Detail, "already") {
				return
			}
			t.Fatalf("%+v is refused: %v\n%s", e, problems, src)
		}
		done[op]++
		now := shape(t, res.Text, true)
		gone, came := 0, 0
		for _, text := range texts {
			if !slices.Contains(now, text) {
				gone++
			}
		}
		for _, text := range now {
			if !slices.Contains(texts, text) {
				came++
			}
		}
		want := map[string][2]int{"before": {0, 1}, "after": {0, 1}, "delete": {1, 0}, "set": {1, 1}}[op]
		if gone != want[0] || came != want[1] {
			t.Fatalf("%+v: %q became %q\n%s\nbecame\n%s", e, texts, now, src, res.Text)
		}
		if bytes.Count(src, []byte("\n")) > 1 && op != "set" && op != "delete" && e.Op != edit.Move { // each line is still there, in its order
			rows := strings.Split(string(res.Text), "\n")
			at := 0
			for row := range strings.SplitSeq(string(src), "\n") {
				bare := strings.Trim(row, " ,")
				for at < len(rows) && !strings.HasSuffix(strings.Trim(rows[at], " ,"), bare) {
					at++
				}
				if at == len(rows) {
					t.Fatalf("%+v: the line %q is lost\n%s\nbecame\n%s", e, row, src, res.Text)
				}
			}
		}
		if e.Op != edit.Insert || bytes.Count(res.Text, []byte("Elsa.Sequence")) > bytes.Count(src, []byte("Elsa.Sequence")) {
			return
		}
		back, problems := edit.Apply(t.Context(), res.Text, true, []edit.Edit{{Op: edit.Delete, Activity: res.Activity}}, types)
		if len(problems) > 0 || !bytes.Equal(back.Text, src) {
			t.Fatalf("%+v: what was inserted cannot be deleted: %v\n%s\nbecame\n%s\nand then\n%s", e, problems, src, res.Text, back.Text)
		}
	})
	eachWasDone(t, ops, done, refused)
}
