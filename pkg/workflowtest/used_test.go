package workflowtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflowtest"
)

func TestActivitiesInsideUsedDefinitionsAreMocked(t *testing.T) {
	t.Parallel()
	greet := definition(t, "id: greet\nname: Say hello\noptions: {usableAsActivity: true}\nroot:\n  - {writeLine: hello}\n")
	user := definition(t, "id: user\nroot:\n  - {workflow: greet, id: first}\n  - {workflow: greet, id: second}\n")
	w := workflowtest.Start(t, workflowtest.Config{Definition: user, Others: []*workflow.Definition{greet}, Mocks: workflowtest.Mocks{
		"first/writeLine1": workflowtest.Reply{},
	}})
	w.WantStatus(workflow.Finished)
	w.WantLines("hello")
	w.Want(workflowtest.Expect{Calls: map[string][]map[string]any{"first/writeLine1": {{"text": "hello"}}, "writeLine": {{}, {}}}})

	// By the name that Elsa's designer gives it.
	user.Root.Activities = user.Root.Activities[:1]
	user.Root.Activities[0].Ref = &workflow.DefinitionRef{ID: "SayHello"}
	w = workflowtest.Start(t, workflowtest.Config{Definition: user, Others: []*workflow.Definition{greet}})
	w.WantLines("hello")
}

func TestDefinitionsInElsasJSON(t *testing.T) {
	t.Parallel()
	src, err := elsajson.Write(definition(t, "id: json\nroot:\n  - writeLine: hi\n"), activities.Default())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "json.json")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	w := workflowtest.Start(t, workflowtest.Config{File: file})
	w.WantLines("hi")
}

// A mock takes the place of loops and composites too, and of what waits.
func TestWaitingActivitiesAreMocked(t *testing.T) {
	t.Parallel()
	def := definition(t, `
id: waits
variables: {got: object}
root:
  - event: a
    result: got
  - while: true
    body: [{delay: 1h}]
  - flowchart:
      activities: {ask: {flowDecision: true}, yes: {writeLine: yes}, no: {writeLine: no}}
      connections: [ask.True -> yes, ask.False -> no]
  - writeLine: ${{ variables.got }}
`)
	w := workflowtest.Start(t, workflowtest.Config{Definition: def, Mocks: workflowtest.Mocks{
		"event": workflowtest.Reply{Result: "x"}, "while": workflowtest.Reply{}, "ask": workflowtest.Reply{Outcomes: []string{"False"}},
	}})
	w.WantLines("no", "x")
	w.WantOutcomes("while1", "Done")
	w.WantStatus(workflow.Finished)
}

func FuzzATestFile(f *testing.F) {
	f.Add(parcelTest)
	f.Add("definition: a\ncases: [{steps: [cancel, {event: a, early: true}], expect: {calls: {a: 3}}}]")
	f.Add("cases: &c\n- *c")
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "parcel.yaml"), []byte(parcel), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source string) {
		file := filepath.Join(t.TempDir(), "x.test.yaml")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = workflowtest.RunFile(file, workflowtest.FileOptions{}) // must not panic or hang
	})
}
