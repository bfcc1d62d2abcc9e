package elsajson

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// badInputs are sources with what must be said about them: code, pointer, line
// and column of each problem, in order.
var badInputs = []struct {
	name, src string
	want      []string
}{
	{"nothing", ``, []string{"bad-json  1:1"}},
	{"not JSON", "{\n  \"root\": }", []string{"bad-json /root 2:11"}},
	{"a name without quotes", `{"a/~": [{b: 1}]}`, []string{"bad-json /a~1~0/0 1:11"}},
	{"a comma too many", `{"a": 1,}`, []string{"bad-json  1:8"}},
	{"more after it", "{}\n]", []string{"bad-json  2:1"}},
	{"a comma after it", "{},", []string{"bad-json  1:3"}},
	{"cut off", `{"definitionId": "x", "root": {"type": "Elsa.Wri`, []string{"bad-json /root/type 1:49"}},
	{"more than one value", `{} {}`, []string{"bad-json  1:4"}},
	{"no UTF-8", "{\"a\": \"\xff\"}", []string{"bad-json  1:8"}},
	{"an array", `[]`, []string{"wrong-shape  1:1"}},
	{"a bad number", `{"version": 01}`, []string{"bad-json  1:14"}},
	{"a control character", "{\"name\": \"a\nb\"}", []string{"bad-json /name 1:12"}},
	{"no root", `{"definitionId": "x"}`, []string{"missing-root  1:1"}},
	{"a bad id", `{"definitionId": "a/b", "root": {"type": "Elsa.Start", "id": "s"}}`, []string{"invalid-id /definitionId 1:18"}},
	{"no id", `{"root": {"type": "Elsa.Start", "id": "s"}}`, []string{"missing-id  1:1"}},
	{"no type", `{"definitionId": "x", "root": {"id": "s", "activities": []}}`, []string{"missing-type /root 1:31"}},
	{"doubled fields", "{\"definitionId\": \"x\", \"name\": \"a\", \"name\": \"b\",\n \"root\": {\"type\": \"Elsa.Start\", \"Type\": \"Elsa.End\", \"id\": \"s\", \"metadata\": {\"a\": 1, \"a\": 2}}}",
		[]string{"duplicate-key /name 1:36", "duplicate-key /root/Type 2:33", "duplicate-key /root/metadata/a 2:85"}},
	{"wrong shapes everywhere", "{\"definitionId\": \"x\", \"version\": \"one\", \"inputs\": [3], \"options\": 1,\n \"root\": {\"type\": \"Elsa.Sequence\", \"id\": {}, \"metadata\": [],\n  \"activities\": [1, {\"type\": \"Elsa.WriteLine\", \"text\": {\"typeName\": \"String\", \"expression\": {\"type\": \"Variable\", \"value\": 3}}}]}}",
		[]string{"wrong-shape /version 1:34", "wrong-shape /inputs/0 1:52", "wrong-shape /options 1:67", "wrong-shape /root/id 2:42", "wrong-shape /root/metadata 2:58", "wrong-shape /root/activities/0 3:18", "wrong-shape /root/activities/1/text/expression/value 3:123"}},
	{"a transition from nowhere", `{"definitionId": "x", "root": {"type": "Elsa.StateMachine", "id": "m", "states": [], "transitions": [{"from": "A", "to": "B"}]}}`, []string{"unknown-state /root/transitions/0 1:102"}},
}

func TestEveryProblemIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range badInputs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, problems := Read([]byte(c.src), "", testTypes(t))
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%s %s %d:%d", p.Code, p.Place.Pointer, p.Place.Line, p.Place.Column))
				if p.Detail == "" || p.Excerpt == "" && c.src != "" {
					t.Errorf("%+v lacks a detail or an excerpt", p)
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestLimitsEndCleanly(t *testing.T) {
	t.Parallel()
	leaf := `{"type":"Elsa.Start","id":"s"}`
	nested := func(n int) string {
		return `{"definitionId":"x","root":` + strings.Repeat(`{"type":"Elsa.FlowNode","id":"n","body":`, n) + leaf + strings.Repeat(`}`, n) + `}`
	}
	wide := func(n int) string {
		return `{"definitionId":"x","root":{"type":"Elsa.Sequence","id":"s","activities":[` + strings.TrimSuffix(strings.Repeat(`{"type":"Elsa.Start","id":"s"},`, n), ",") + `]}}`
	}
	for name, c := range map[string]struct{ src, want string }{
		"large":           {`{"a":"` + strings.Repeat("x", workflow.MaxSource) + `"}`, "too-large"},
		"brackets":        {strings.Repeat("[", 100_000), "too-deep"},
		"objects":         {strings.Repeat(`{"a":`, 100_000), "too-deep"},
		"nested 199":      {nested(199), ""},
		"nested 200":      {nested(200), "too-deep"},
		"nested 1000":     {nested(1000), "too-deep"},
		"10000 in a row":  {wide(9_999), ""},
		"10001 in a row":  {wide(10_000), "too-many-activities"},
		"20000 in a row":  {wide(20_000), "too-many-activities"},
		"one long string": {`{"a":"` + strings.Repeat(`\u0041`, 100_000), "bad-json"},
	} {
		_, problems := Read([]byte(c.src), "", testTypes(t))
		code := ""
		if len(problems) > 0 {
			code = problems[0].Code
		}
		if code != c.want || len(problems) > 1 {
			t.Errorf("%s: got %q (%d problems), want %q", name, code, len(problems), c.want)
		}
	}
}

// A name that is long, and stands in the pointer of many, is kept once.
func TestPointersAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("p", 50_000)
	leaf := `{"type":"Elsa.Start","id":"s"},`
	deep := strings.Repeat(`{"name of forty characters, or even more":`, 1000)
	for name, src := range map[string]string{
		"activities": `{"definitionId":"x","root":{"type":"Elsa.FlowNode","id":"n","` + long + `":{"type":"Elsa.Sequence","id":"s","activities":[` + strings.TrimSuffix(strings.Repeat(leaf, 5000), ",") + `]}}}`,
		"doubles":    `{"definitionId":"x","root":{"type":"Elsa.Start","id":"s","metadata":{"` + long + `":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, 5000), ",") + `}}}}`,
		"depth":      `{"definitionId":"x","root":{"type":"Elsa.Start","id":"s","metadata":` + deep + `{"a":1,"a":2}` + strings.Repeat("}", 1000) + `}}`,
		"syntax":     `{"` + long + `":` + deep + `?`,
	} {
		def, problems := Read([]byte(src), "", testTypes(t))
		kept, most := 0, 0
		note := func(at workflow.Place) { kept, most = kept+1, max(most, len(at.Pointer)) }
		for _, p := range problems {
			note(p.Place)
		}
		if def != nil {
			workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
				note(a.Place)
				return true
			})
		}
		if kept == 0 || most > jsontree.MaxPointer+len("/…") {
			t.Errorf("%s: a pointer of %d bytes in one of %d places", name, most, kept)
		}
	}
}
