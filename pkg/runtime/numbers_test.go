package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

// awaitType waits for a stimulus of its own type whose payload is its input.
const awaitType = "Test.Await"

type await struct{}

func (await) Execute(_ context.Context, x *engine.Execution) error {
	if input, ok := x.TriggerInput(); ok {
		x.SetOutput("result", input["said"])
		return nil
	}
	_, err := x.Wait(engine.Wait{Payload: map[string]any{"for": x.Value("for")}})
	return err
}

func (await) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	return x.TakeOutput("result", r.Input["said"])
}

func (await) Triggers(p *engine.Preparation) []engine.Trigger {
	v, ok := p.TriggerValue("for")
	if !ok {
		return nil
	}
	return []engine.Trigger{{Payload: map[string]any{"for": v}}}
}

// awaiting gives a member the default activities and [awaitType].
func awaiting(cfg *membertest.Config) {
	r := activities.Default()
	err := r.Register(workflow.Descriptor{
		Type: awaitType, Trigger: true, Main: "for",
		Inputs:  []workflow.InputDescriptor{{Name: "for", Type: "Object"}},
		Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "Object"}},
	}, await{})
	if err != nil {
		panic(err)
	}
	cfg.Registry = r
}

// large are numbers that float64 changes, as values have them.
var large = []any{
	int64(9007199254740993), int64(-9007199254740993), int64(1152921504606846976), int64(9223372036854775807),
	json.Number("9223372036854775808"), json.Number("18446744073709551616"), json.Number("123456789012345678901234567890"), json.Number("1e400"),
}

const numbers = `
id: numbers
inputs:
  n: {type: object}
variables:
  kept: {type: object}
  price: {type: number}
  heard: {type: object}
outputs:
  n: {type: object}
  heard: {type: object}
root:
  - setVariable: {variable: kept, value: {js: "({list: [getN()], one: getN()})"}}
  - setVariable: {variable: price, value: "${{ inputs.n }}"}
  - Test.Await: "${{ inputs.n }}"
    outputs: {result: heard}
  - writeLine: "${{ inputs.n }} ${{ variables.kept.list[0] }} ${{ variables.kept.one }} ${{ variables.price }} ${{ variables.heard }}"
  - setOutput: {outputName: n, outputValue: "${{ inputs.n }}"}
  - setOutput: {outputName: heard, outputValue: "${{ variables.heard }}"}
`

const numbersParent = `
id: parent
inputs:
  n: {type: object}
variables:
  child: {type: object}
outputs:
  n: {type: object}
root:
  - executeWorkflow: {workflowDefinitionId: numbers, input: {n: "${{ inputs.n }}"}, waitForCompletion: true}
    outputs: {result: child}
  - event: go
  - writeLine: "${{ variables.child }}"
  - setOutput: {outputName: n, outputValue: "${{ variables.child }}"}
`

// said is the stimulus that the definition numbers waits for.
func said(n any) workflow.Stimulus {
	return workflow.Stimulus{ActivityType: awaitType, Payload: map[string]any{"for": n}, Input: map[string]any{"said": n}}
}

// came checks that a finished instance has the number wherever it was kept.
func (m *member) came(id string, n any) {
	m.T.Helper()
	in := m.Finished(id)
	if want := map[string]any{"n": n}; !reflect.DeepEqual(in.Input, want) {
		m.T.Errorf("%s: input %#v, want %#v", id, in.Input, want)
	}
	if want := map[string]any{"n": n, "heard": n}; !reflect.DeepEqual(in.Output, want) {
		m.T.Errorf("%s: output %#v, want %#v; %v", id, in.Output, want, in.Incidents)
	}
	if want := []string{fmt.Sprintf("%[1]v %[1]v %[1]v %[1]v %[1]v", n)}; !slices.Equal(m.Lines(id), want) {
		m.T.Errorf("%s wrote %q, want %q", id, m.Lines(id), want)
	}
}

func (m *member) startNumbers(def, id string, n any) {
	m.T.Helper()
	res, err := m.Starts.Execute(m.T.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: id, Input: map[string]any{"n": n}, CorrelationID: id})
	if err != nil {
		m.T.Fatal(err)
	}
	if res.Instance.SubStatus == workflow.Faulted {
		m.T.Fatalf("%+v", res.Instance.Incidents)
	}
}

// Numbers that float64 does not hold are at the end what they were at the start,
// whichever way an instance and its stimulus took.
func TestNumbersKeepTheirValueOnEveryPath(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, awaiting)
	c[0].Publish(numbers, numbersParent)
	send := func(st workflow.Stimulus) runtime.SendResult {
		t.Helper()
		res, err := c[1].Events.Send(t.Context(), st, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for i, n := range large {
		id := func(path string) string { return fmt.Sprintf("%s-%d", path, i) }

		// In hand, its record read again by the node that resumes it.
		c[0].startNumbers("numbers", id("hand"), n)
		send(said(n))
		c[1].came(id("hand"), n)

		// Through the queue, and claimed by the instance that comes to wait.
		if res := send(said(n)); res.Queued == "" {
			t.Fatalf("%v: got %+v", n, res)
		}
		c[0].startNumbers("numbers", id("queue"), n)
		c[1].came(id("queue"), n)

		// Through the mailbox, dispatched; to one instance.
		if _, err := c[0].Starts.Dispatch(t.Context(), runtime.StartRequest{DefinitionID: "numbers", InstanceID: id("mail"), Input: map[string]any{"n": n}}); err != nil {
			t.Fatal(err)
		}
		st := said(n)
		st.InstanceID = id("mail")
		send(st)
		c[1].came(id("mail"), n)

		// Exported and imported.
		c[0].startNumbers("numbers", id("import"), n)
		out, err := c[1].Inspector.Export(t.Context(), id("import"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		var moved runtime.StateExport
		if err := workflow.Unmarshal(raw, &moved); err != nil {
			t.Fatal(err)
		}
		if _, err := c[1].Commands.Import(t.Context(), id("import"), moved, 0); err != nil {
			t.Fatal(err)
		}
		send(said(n))
		c[0].came(id("import"), n)

		// A child, its start, its end and its output.
		c[0].startNumbers("parent", id("parent"), n)
		send(said(n)) // the child waits, or will
		eventually(t, "the parent waits", func() bool {
			in, err := c[1].Inspector.Instance(t.Context(), id("parent"))
			return err == nil && len(in.Bookmarks) == 1 && in.Bookmarks[0].ActivityType == workflow.EventType
		})
		c[1].Event("go", id("parent"), nil)
		in, _ := c[1].Finished(id("parent")).Output["n"].(map[string]any)
		if want := map[string]any{"n": n, "heard": n}; !reflect.DeepEqual(in["Output"], want) {
			t.Errorf("the child of %s gave %#v, want %#v", id("parent"), in, want)
		}
	}
}

// A stimulus with a number that float64 changes meets what waits for it also
// after the queue's worker sent it on, and after it was a dead letter.
func TestAStoredStimulusMeetsWhatItsNumberMeets(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, awaiting, func(cfg *membertest.Config) { cfg.QueueTTL = 200 * time.Millisecond })
	for i, n := range large {
		if _, err := c[0].Events.Send(t.Context(), said(n), nil); err != nil {
			t.Fatal(err)
		}
		var dead []runtime.DeadLetter
		eventually(t, "the stimulus expires", func() bool {
			page, err := c[1].Inspector.DeadLetters(t.Context(), runtime.DeadLetterFilter{}, "", 10)
			dead = page.Items
			return err == nil && len(dead) == 1
		})
		if i == 0 {
			c[0].Publish(numbers)
		}
		id := fmt.Sprint("dead", i)
		c[0].startNumbers("numbers", id, n)
		if _, err := c[1].Letters.ReplayDeadLetter(t.Context(), dead[0].ID, repair.Edit{}, nil); err != nil {
			t.Fatal(err)
		}
		c[1].came(id, n)
	}
}

// A queued stimulus that a new trigger wants is sent on by the queue's worker.
func TestAQueuedNumberStartsALaterTrigger(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, awaiting)
	for i, n := range large {
		if _, err := c[0].Events.Send(t.Context(), said(n), nil); err != nil {
			t.Fatal(err)
		}
		def := fmt.Sprint("later", i)
		literal := fmt.Sprint(n)
		if literal == "1e400" {
			literal = "!!float 1e400" // a text to YAML's library
		}
		c[0].Publish(fmt.Sprintf("id: %s\nvariables:\n  heard: {type: object}\noutputs:\n  heard: {type: object}\nroot:\n  - Test.Await: %s\n    trigger: true\n    outputs: {result: heard}\n  - setOutput: {outputName: heard, outputValue: \"${{ variables.heard }}\"}\n", def, literal))
		var items []workflow.Instance
		eventually(t, "the trigger takes the stimulus", func() bool {
			page, err := c[0].Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: def, Status: workflow.StatusFinished}, runtime.Paging{})
			items = page.Items
			return err == nil && len(items) == 1
		})
		if want := map[string]any{"heard": n}; !reflect.DeepEqual(items[0].Output, want) {
			t.Errorf("got %#v, want %#v", items[0].Output, want)
		}
	}
}
