package elsajson

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-run/weft/pkg/workflow"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func readSample(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	def, problems := Read(sample(t, name), name, testTypes(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return def
}

// byID finds an activity of a definition.
func byID(t *testing.T, def *workflow.Definition, id string) *workflow.Activity {
	t.Helper()
	var found *workflow.Activity
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		if a.ID == id {
			found = a
		}
		return true
	})
	if found == nil {
		t.Fatalf("there is no activity %s", id)
	}
	return found
}

// unplaced compares without places, types and kept sources.
var unplaced = cmp.Options{cmpopts.IgnoreTypes(workflow.Place{}), cmpopts.EquateEmpty()}

func TestTheDesignersExportIsUnderstood(t *testing.T) {
	t.Parallel()
	def := readSample(t, "modern.json")
	if def.ID != "parcel" || def.VersionID != "9f1c2d" || def.Version != 7 || def.Name != "Parcel" {
		t.Errorf("identity: %+v", def)
	}
	want := workflow.Options{ActivationStrategy: "Singleton", IncidentStrategy: "ContinueWithIncidents", UsableAsActivity: true}
	if d := cmp.Diff(want, def.Options, cmpopts.IgnoreFields(workflow.Options{}, "Extra")); d != "" {
		t.Error(d)
	}
	if v := def.Variables[1]; v.Type != "String" || v.StorageDriver != "Memory" {
		t.Errorf("variable: %+v", v)
	}
	if v := def.Variables[0]; v.StorageDriver != "" || v.Value != "4" {
		t.Errorf("variable: %+v", v)
	}
	in := byID(t, def, "in")
	if !in.CanStart || in.Outputs["parsedContent"] != "v-2" {
		t.Errorf("endpoint: %+v", in)
	}
	wantInputs := map[string]workflow.Expression{
		"path": workflow.Lit("parcels"), "authorize": workflow.Lit(false), "exposeRequestTooLargeOutcome": workflow.Lit(false),
		"supportedMethods": {Kind: workflow.Object, Value: `["POST"]`},
	}
	if d := cmp.Diff(wantInputs, in.Inputs, unplaced); d != "" {
		t.Error(d)
	}
	set := byID(t, def, "set")
	wantInputs = map[string]workflow.Expression{
		"variable": {Kind: workflow.VariableOf, Value: "v-1"},
		"value":    {Kind: workflow.JavaScript, Value: "getWeight() + 1", Memory: "set:input-1"},
	}
	if d := cmp.Diff(wantInputs, set.Inputs, unplaced); d != "" {
		t.Error(d)
	}
	say := byID(t, def, "say")
	if e := say.Inputs["text"]; e.Kind != workflow.VariableOf || e.Value != "v-1" || e.Type != "" || e.Place.Pointer != "/root/activities/3/text" {
		t.Errorf("text: %+v", e)
	}
	if say.LogPersistence != "Exclude" || say.CommitStrategy != "Executed" || byID(t, def, "fork").MergeMode != "Race" {
		t.Errorf("settings: %+v", say)
	}
	wantCons := []workflow.Connection{{Source: "in", Target: "fork"}, {Source: "fork", SourcePort: "A", Target: "set"}, {Source: "fork", SourcePort: "B", Target: "say"}}
	if d := cmp.Diff(wantCons, def.Root.Connections, unplaced, cmpopts.IgnoreFields(workflow.Connection{}, "Extra")); d != "" {
		t.Error(d)
	}
}

func TestOlderSpellingsAreUnderstood(t *testing.T) {
	t.Parallel()
	def := readSample(t, "legacy.json")
	if def.ID != "old" || !def.Options.UsableAsActivity || def.Variables[0].Name != "Count" || def.Root.Start != "a" {
		t.Errorf("definition: %+v", def)
	}
	a, b := byID(t, def, "a"), byID(t, def, "b")
	if a.Inputs["text"].Value != "one" || a.Inputs["text"].Memory != "a:input-1" || !a.CanStart {
		t.Errorf("a: %+v", a)
	}
	if b.Inputs["text"].Value != "two" || !b.CanStart {
		t.Errorf("b: %+v", b)
	}
	if c := def.Root.Connections; len(c) != 1 || c[0].Source != "a" || c[0].Target != "b" || c[0].SourcePort != "" {
		t.Errorf("connections: %+v", c)
	}
}

func TestActivitiesAreFoundWhereverTheyNest(t *testing.T) {
	t.Parallel()
	def := readSample(t, "nested.json")
	var ids []string
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		ids = append(ids, a.ID)
		return true
	})
	if got := strings.Join(ids, " "); got != "s each inner d w1 split w2 t send w4 w3 odd w5 child" {
		t.Error(got)
	}
	inner := byID(t, def, "inner")
	if inner.Cases[0].Condition.Kind != workflow.JavaScript || inner.Cases[1].Condition.Value != "True" || inner.Inputs["mode"].Value != "MatchAny" {
		t.Errorf("switch: %+v", inner)
	}
	if send := byID(t, def, "send"); send.Cases[0].Label != "200" || send.Ports["timeout"].ID != "w4" {
		t.Errorf("send: %+v", send)
	}
	if e := byID(t, def, "w2").Inputs["text"]; e.Kind != workflow.InputOf || e.Value != "Street" {
		t.Errorf("input: %+v", e)
	}
	if e := byID(t, def, "each").Inputs["items"]; e.Kind != workflow.Object || e.Value != "[1,2]" {
		t.Errorf("items: %+v", e)
	}
	odd := byID(t, def, "odd")
	if odd.Type != "Vendor.Unknown" || odd.Inputs["speed"].Value != 4.0 || string(odd.Extra["raw"]) != `{"a":[1,{"b":null}]}` {
		t.Errorf("unknown type: %+v", odd)
	}
	child := byID(t, def, "child")
	if child.Ref == nil || child.Ref.ID != "c1" || child.Ref.VersionID != "c1-v2" || child.Ref.Version != 2 || child.Inputs["message"].Value != "hi" || child.Outputs["answer"] != "Item" {
		t.Errorf("child: %+v", child)
	}
}

func TestTransitionsGoToTheStateTheyLeave(t *testing.T) {
	t.Parallel()
	def := readSample(t, "machine.json")
	if def.Root.Initial != "Draft" || len(def.Root.States) != 2 {
		t.Fatalf("%+v", def.Root)
	}
	tr := def.Root.States[0].Transitions
	if len(tr) != 1 || tr[0].Name != "finish" || tr[0].To != "Done" || tr[0].Trigger.ID != "ev" || tr[0].Action.ID != "ac" || tr[0].Condition.Value != true {
		t.Errorf("%+v", tr)
	}
}

func TestConnectionsToNothingArePutAside(t *testing.T) {
	t.Parallel()
	src := `{"definitionId":"x","root":{"id":"f","type":"Elsa.Flowchart","activities":[{"id":"a","type":"Elsa.Start"},{"id":"b","type":"Elsa.End"}],
	 "customProperties":{"notFoundConnections":[{"source":{"activity":"b","port":"Done"},"target":{"activity":"a","port":"In"}}]},
	 "connections":[{"source":{"activity":"a","port":"Done"},"target":{"activity":"gone","port":"In"}},{"source":{"activity":"a"},"target":{"activity":"b"}}]}}`
	def, problems := Read([]byte(src), "", testTypes(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	check := func(def *workflow.Definition) {
		t.Helper()
		if c := def.Root.Connections; len(c) != 2 || c[0].Target != "b" || c[1].Source != "b" || c[1].Target != "a" {
			t.Errorf("connections: %+v", c)
		}
		lost, _ := def.Root.CustomProperties["notFoundConnections"].([]any)
		if len(lost) != 1 {
			t.Errorf("put aside: %+v", lost)
		}
	}
	check(def)
	out, err := Write(def, testTypes(t))
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Read(out, "", testTypes(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	check(again)
}

func TestTheSaveRequestIsUnwrapped(t *testing.T) {
	t.Parallel()
	src := []byte("\xef\xbb\xbf {\"model\": {\"definitionId\": \"x\", \"root\": {\"type\": \"Elsa.WriteLine\", \"id\": \"w\", \"text\": {\"typeName\": \"String\", \"expression\": {\"type\": \"CSharp\", \"value\": \"1\"}}}}, \"publish\": true}")
	model, publish := Unwrap(src)
	if publish == nil || !*publish || !strings.HasPrefix(string(model), `{"definitionId"`) {
		t.Errorf("%s, %v", model, publish)
	}
	def, problems := Read(src, "", testTypes(t))
	if len(problems) > 0 || def.ID != "x" {
		t.Fatal(def, problems)
	}
	if e := def.Root.Inputs["text"]; e.Place.Pointer != "/model/root/text" || e.Kind != workflow.CSharp {
		t.Errorf("%+v", e)
	}
	if m, p := Unwrap([]byte(`{"definitionId":"x"}`)); p != nil || string(m) != `{"definitionId":"x"}` {
		t.Error("what is no request was changed")
	}
}

func TestJSONIsToldFromYAML(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{"{": true, " \n\t[1]": true, "\xef\xbb\xbf{}": true, "id: x": false, "": false, "# {": false, "\xef\xbb\xbfid: x": false} {
		if Looks([]byte(src)) != want {
			t.Errorf("%q", src)
		}
	}
}
