package elsastate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/elsastate"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

// compile compiles the first of these definitions of Elsa's JSON, which may use the others.
func compile(t *testing.T, sources ...string) *engine.Program {
	t.Helper()
	registry, defs := activities.Default(), map[string]*workflow.Definition{}
	var first *workflow.Definition
	for i, src := range sources {
		def, problems := elsajson.Read([]byte(src), "x.json", registry)
		if bad, _ := problems.Split(); len(bad) > 0 {
			t.Fatal(bad)
		}
		defs[def.ID] = def
		if i == 0 {
			first = def
		}
	}
	prog, problems := engine.Compile(first, engine.Options{Registry: registry, Evaluators: expression.All(), Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
		def, ok := defs[ref.ID]
		return def, ok
	}})
	if prog == nil {
		t.Fatal(problems)
	}
	return prog
}

// run is an instance that goes on, loaded again between any two commands, as a store would have it.
type run struct {
	t     *testing.T
	prog  *engine.Program
	env   engine.Env
	in    workflow.Instance
	state json.RawMessage
	lines []string
	count int
}

func goOn(t *testing.T, prog *engine.Program, m *elsastate.Moved) *run {
	t.Helper()
	r := &run{t: t, prog: prog, in: m.Instance, state: m.State}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r.env = engine.Env{Now: func() time.Time { return at }, Lines: func(text string) { r.lines = append(r.lines, text) }}
	return r
}

func (r *run) do(cmd workflow.Command) {
	r.t.Helper()
	r.count++
	cmd.ID, cmd.CreatedAt = fmt.Sprint("c", r.count), r.env.Now()
	for range 100 {
		raw, err := json.Marshal(r.in)
		if err != nil {
			r.t.Fatal(err)
		}
		var header workflow.Instance
		if err := workflow.Unmarshal(raw, &header); err != nil {
			r.t.Fatal(err)
		}
		b, err := engine.Load(r.prog, header, r.state, r.env)
		if err != nil {
			r.t.Fatal(err)
		}
		out, err := b.Run(context.Background(), cmd)
		if err != nil {
			r.t.Fatal(err)
		}
		res, err := b.Result()
		if err != nil {
			r.t.Fatal(err)
		}
		r.in, r.state = res.Instance, res.State
		if out == engine.Applied {
			return
		}
		if out != engine.CommitFirst {
			r.t.Fatalf("%+v: %s", cmd, out)
		}
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
	r.t.Fatal("it commits without an end")
}

// resume resumes what waits under a name.
func (r *run) resume(name string, input map[string]any) {
	r.t.Helper()
	i := slices.IndexFunc(r.in.Bookmarks, func(b workflow.Bookmark) bool { return b.Name == name })
	if i < 0 {
		r.t.Fatalf("nothing waits for %s: %+v", name, r.in.Bookmarks)
	}
	r.do(workflow.Command{Kind: workflow.CommandResume, Bookmark: r.in.Bookmarks[i].ID, Input: input})
}

func (r *run) wants(sub workflow.SubStatus, lines ...string) {
	r.t.Helper()
	if r.in.SubStatus != sub || !slices.Equal(r.lines, lines) {
		r.t.Errorf("it is %s with %q, %+v, %+v", r.in.SubStatus, r.lines, r.in.Bookmarks, r.in.Incidents)
	}
}

func read(t *testing.T, src string) *elsastate.Instance {
	t.Helper()
	in, err := elsastate.Read([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func move(t *testing.T, src string, prog *engine.Program) *elsastate.Moved {
	t.Helper()
	m, problems := elsastate.Move(read(t, src), prog, 1)
	if m == nil {
		t.Fatal(problems)
	}
	return m
}

func file(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// definition is Elsa's JSON with a root.
func definition(id, root string, more ...string) string {
	return fmt.Sprintf(`{"definitionId": %q, "name": %q, "version": 3, %s "root": %s}`, id, id, strings.Join(append(more, ""), ", "), root)
}

func line(id, kind, value string) string {
	return fmt.Sprintf(`{"type": "Elsa.WriteLine", "version": 1, "id": %q, "text": {"typeName": "String", "expression": {"type": %q, "value": %q}}}`, id, kind, value)
}

func event(id, name string) string {
	return fmt.Sprintf(`{"type": "Elsa.Event", "version": 1, "id": %q, "eventName": {"typeName": "String", "expression": {"type": "Literal", "value": %q}}}`, id, name)
}

func sequence(id string, of ...string) string {
	return fmt.Sprintf(`{"type": "Elsa.Sequence", "version": 1, "id": %q, "activities": [%s]}`, id, strings.Join(of, ", "))
}

// A context, a bookmark and a state, as Elsa's API shows them: JsonWorkflowStateSerializer adds references and types,
// which the files in testdata have.
func ctx(id, parent, node, properties string, more ...string) string {
	return fmt.Sprintf(`{"id": %q, "parentContextId": %q, "scheduledActivityNodeId": %q, "status": "Running", "properties": {%s}%s}`, id, parent, node, properties, strings.Join(append([]string{""}, more...), ", "))
}

func mark(of, payload string) string {
	return fmt.Sprintf(`{"id": "b-%[1]s", "name": "x", "hash": "h", "payload": %[2]s, "activityInstanceId": %[1]q, "createdAt": "2026-11-29T10:00:00+00:00", "autoBurn": true}`, of, payload)
}

func state(definition, marks, contexts string, more ...string) string {
	return fmt.Sprintf(`{"id": "i1", "definitionId": %q, "definitionVersion": 3, "status": "Running", "subStatus": "Suspended", "createdAt": "2026-11-29T09:00:00+00:00", "updatedAt": "2026-11-29T10:00:00+00:00",
 "bookmarks": [%s], "activityExecutionContexts": [%s]%s}`, definition, marks, contexts, strings.Join(append([]string{""}, more...), ", "))
}

// What WorkflowInstances/Export of elsa-core writes: a state by JsonWorkflowStateSerializer, with the references of
// CrossScopedReferenceHandler and the types and lists of PolymorphicObjectConverter (as its test data, Polymorphism/data.json, has them).
func TestAnExportGoesOnWhereItWaited(t *testing.T) {
	t.Parallel()
	prog := compile(t, file(t, "order.json"))
	m := move(t, file(t, "order-instance.json"), prog)
	in := m.Instance
	if in.ID != "8d1f6a2be47c9035" || in.CorrelationID != "order-7" || in.Name != "Order 7" || in.Version != 1 || in.Status != workflow.StatusRunning ||
		in.Input["Customer"] != "Ann" || in.Output["Total"] != int64(12) || len(in.Incidents) != 1 || in.Incidents[0].Message != "first try" || in.Parent != nil {
		t.Errorf("%+v", in)
	}
	r := goOn(t, prog, m)
	r.resume("paid", map[string]any{"payload": map[string]any{"by": "card"}})
	r.wants(workflow.Finished, "7 apples of 3 by card, shipped 2026-12-24T08:00:00Z for Ann")
}

func TestEachWaitIsMapped(t *testing.T) {
	t.Parallel()
	wait := func(activity string) string {
		return definition("w", sequence("root", activity, line("after", "Literal", "went on")))
	}
	at := func(payload, activityState string) string {
		return state("w", mark("c3", payload), ctx("c1", "", "Workflow1", "")+", "+ctx("c2", "c1", "Workflow1:root", `"CurrentIndex": 1`)+", "+ctx("c3", "c2", "Workflow1:root:wait", "", `"activityState": `+activityState))
	}
	expr := func(kind, value string) string {
		return fmt.Sprintf(`{"typeName": "String", "expression": {"type": %q, "value": %q}}`, kind, value)
	}
	due := time.Date(2027, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	for name, c := range map[string]struct {
		activity, payload, state string
		waits                    string
		fits                     func(b *workflow.Bookmark) bool
		input                    map[string]any
	}{
		"an event whose name was computed then": {`{"type": "Elsa.Event", "id": "wait", "eventName": ` + expr("JavaScript", "getVariable('gone')") + `}`, `{"eventName": "paid", "_type": "EventStimulus"}`, `{}`, "paid",
			func(b *workflow.Bookmark) bool {
				hash, _ := workflow.Hash(workflow.EventType, workflow.EventPayload("paid"))
				return b.Hash == hash && b.DueAt == nil
			}, map[string]any{"payload": 1}},
		"a delay":      {`{"type": "Elsa.Delay", "id": "wait", "timeSpan": ` + expr("Literal", "10:00:00") + `}`, `{"resumeAt": "2027-01-02T04:04:05.6+01:00"}`, `{}`, "delay", func(b *workflow.Bookmark) bool { return b.DueAt.Equal(due) }, nil},
		"a timer":      {`{"type": "Elsa.Timer", "id": "wait", "interval": ` + expr("Literal", "10:00:00") + `}`, `{"resumeAt": "2027-01-02T03:04:05.6+00:00"}`, `{}`, "timer", func(b *workflow.Bookmark) bool { return b.DueAt.Equal(due) }, nil},
		"a start time": {`{"type": "Elsa.StartAt", "id": "wait", "dateTime": ` + expr("JavaScript", "new Date()") + `}`, `{"executeAt": "2027-01-02T03:04:05.6Z"}`, `{}`, "startAt", func(b *workflow.Bookmark) bool { return b.DueAt.Equal(due) }, nil},
		"a cron":       {`{"type": "Elsa.Cron", "id": "wait", "cronExpression": ` + expr("Literal", "0 0 0 1 1 *") + `}`, `{"executeAt": "2027-01-02T03:04:05.6Z", "cronExpression": "0 0 0 1 1 *"}`, `{}`, "cron", func(b *workflow.Bookmark) bool { return b.DueAt.Equal(due) }, nil},
		"a task": {`{"type": "Elsa.RunTask", "id": "wait", "taskName": ` + expr("Literal", "Sign") + `}`, `{"taskId": "t-1", "taskName": "Sign"}`, `{"Payload": {"page": 3}}`, "Sign",
			func(b *workflow.Bookmark) bool {
				hash, _ := workflow.Hash(workflow.TaskType, map[string]any{"taskId": "t-1"})
				return b.Hash == hash && b.Metadata.(map[string]any)["page"] == int64(3)
			}, map[string]any{"result": "yes"}},
		"a request": {`{"type": "Elsa.HttpEndpoint", "id": "wait", "path": ` + expr("Literal", "orders/{Id}") + `, "blockedFileExtensions": ` + expr("Object", `[".exe"]`) + `}`,
			`{"path": "orders/{id}", "method": "post", "authorize": true, "requestTimeout": "00:01:00", "requestSizeLimit": 1000}`, `{"FileSizeLimit": 5}`, "POST /orders/{Id}",
			func(b *workflow.Bookmark) bool {
				e := workflow.EndpointOf(b)
				return e.Authorize && e.Timeout == time.Minute && e.MaxBody == 1000 && e.Files.MaxSize == 5 && slices.Equal(e.Files.Blocked, []string{".exe"})
			}, map[string]any{"method": "POST"}},
		"a child": {`{"type": "Elsa.ExecuteWorkflow", "id": "wait", "workflowDefinitionId": ` + expr("Literal", "kid") + `}`, `{"childInstanceId": "k1"}`, `{}`, "kid",
			func(b *workflow.Bookmark) bool { return b.Child() == "k1" }, map[string]any{"WorkflowSubStatus": "Finished"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prog := compile(t, wait(c.activity))
			m := move(t, at(c.payload, c.state), prog)
			if len(m.Instance.Bookmarks) != 1 || m.Instance.Bookmarks[0].Name != c.waits || !c.fits(&m.Instance.Bookmarks[0]) || !workflow.MeetsHash(&m.Instance.Bookmarks[0]) {
				t.Errorf("%+v", m.Instance.Bookmarks)
			}
			if is := m.Children(); name == "a child" != (len(is) == 1) {
				t.Errorf("it waits for %v", is)
			}
			r := goOn(t, prog, m)
			r.resume(c.waits, c.input)
			r.wants(workflow.Finished, "went on")
		})
	}
}

func TestEachContainerGoesOnFromItsMemory(t *testing.T) {
	t.Parallel()
	js := func(value string) string { return line("say", "JavaScript", value) }
	input := func(kind, value string) string {
		return fmt.Sprintf(`{"typeName": "Object", "expression": {"type": %q, "value": %q}}`, kind, value)
	}
	root := ctx("c1", "", "Workflow1", "")
	in := func(container, activityState, of string, below ...string) string {
		return root + ", " + ctx("c2", "c1", "Workflow1:root", container, `"activityState": `+activityState) + ", " + ctx("c3", "c2", "Workflow1:root:"+of, "", below...)
	}
	go3 := mark("c3", `{"eventName": "go"}`)
	body := func(variables string) string {
		return ctx("c3", "c2", "Workflow1:root:body", `"CurrentIndex": 1`, `"dynamicVariables": [`+variables+`]`) + ", " + ctx("c4", "c3", "Workflow1:root:body:e", "")
	}
	go4 := mark("c4", `{"eventName": "go"}`)
	loop := root + ", " + `{"id": "c2", "parentContextId": "c1", "scheduledActivityNodeId": "Workflow1:root", "status": "Running", `
	for name, c := range map[string]struct {
		definition, state string
		sends             int
		lines             []string
	}{
		"Parallel, of which one branch has ended": {`{"type": "Elsa.Parallel", "id": "root", "activities": [` + line("done", "Literal", "no") + `, ` + event("e", "go") + `]}`,
			state("d", go3, in(`"ScheduledChildren": 1`, `{}`, "e")), 1, nil},
		"Fork that waits for any": {`{"type": "Elsa.Fork", "id": "root", "joinMode": "WaitAny", "branches": [` + event("e", "go") + `, ` + event("f", "other") + `]}`,
			state("d", go3+", "+mark("c4", `{"eventName": "other"}`), in("", `{}`, "e")+", "+ctx("c4", "c2", "Workflow1:root:f", "")), 1, nil},
		"ForEach, at its second item": {`{"type": "Elsa.ForEach", "id": "root", "items": ` + input("JavaScript", "[]") + `, "body": ` + sequence("body", event("e", "go"), js("getVariable('CurrentIndex') + getVariable('CurrentValue')")) + `}`,
			state("d", go4, loop+`"properties": {"CurrentIndex": 2}, "activityState": {"Items": ["a", "b", "c"]}}, `+body(`{"id": "v1", "name": "CurrentIndex", "typeName": "Int32", "value": "1"}, {"id": "v2", "name": "CurrentValue", "typeName": "Object", "value": "b"}`)), 2, []string{"1b", "2c"}},
		"For, downwards": {`{"type": "Elsa.For", "id": "root", "start": ` + input("Literal", "9") + `, "end": ` + input("Literal", "1") + `, "step": ` + input("Literal", "-4") + `, "body": ` + sequence("body", event("e", "go"), js("getVariable('CurrentValue')")) + `}`,
			state("d", go4, loop+`"properties": {"CurrentStep": 5}}, `+body(`{"id": "v2", "name": "CurrentValue", "typeName": "Object", "value": "5"}`)), 2, []string{"5", "1"}},
		"While": {`{"type": "Elsa.While", "id": "root", "condition": ` + input("JavaScript", "getVariable('n') < 2") + `, "body": ` + sequence("body", event("e", "go"), js("setVariable('n', getVariable('n') + 1)")) + `}`,
			state("d", go4, strings.Replace(loop, `"scheduledActivityNodeId": "Workflow1", "status": "Running", "properties": {}`, `"scheduledActivityNodeId": "Workflow1", "status": "Running", "properties": {"Variables": {"v-n": 0}}`, 1)+`"properties": {}}, `+body("")), 2, []string{"", ""}},
		"Flowchart, by counters, before a join": {chart(""), state("d", go3, in(`"FlowScope": {"activitiesVisitCount": {"$id": "9", "start": 1, "left": 1}, "connectionVisitCount": {"start:Done->left:In": 1, "start:Done->e:In": 1, "left:Done->join:In": 1}, "connectionLastVisitFollowed": {"start:Done->left:In": true, "start:Done->e:In": true, "left:Done->join:In": true}, "_type": "FlowScope"}`, `{}`, "e")), 1, []string{"joined"}},
		"Flowchart, by tokens":                  {chart(`"customProperties": {"Flowchart:ExecutionMode": "TokenBased"},`), state("d", go3, in(`"Flowchart.Tokens": {"$values": [{"fromActivityId": "start", "outcome": "Done", "toActivityId": "left", "consumed": true, "blocked": false}, {"fromActivityId": "start", "outcome": "Done", "toActivityId": "e"}, {"fromActivityId": "left", "outcome": "Done", "toActivityId": "join"}]}`, `{}`, "e")), 1, []string{"joined"}},
		"StateMachine": {`{"type": "Elsa.StateMachine", "id": "root", "initialState": "A", "states": [{"name": "A", "exit": ` + line("bye", "Literal", "bye") + `}, {"name": "B", "entry": ` + line("hi", "Literal", "hi") + `}], "transitions": [{"name": "go", "from": "A", "to": "B", "trigger": ` + event("e", "go") + `}]}`,
			state("d", go3, in(`"CurrentState": "A"`, `{}`, "e", `"tag": "0:go"`)), 1, []string{"bye", "hi"}},
		"If and Switch in each other": {`{"type": "Elsa.If", "id": "root", "condition": ` + input("JavaScript", "false") + `, "then": {"type": "Elsa.Switch", "id": "body", "cases": [{"label": "x", "condition": {"type": "JavaScript", "value": "false"}, "activity": ` + event("e", "go") + `}]}}`,
			state("d", go4, in("", `{}`, "body")+", "+ctx("c4", "c3", "Workflow1:root:body:e", "")), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prog := compile(t, definition("d", c.definition, `"variables": [{"id": "v-n", "name": "n", "typeName": "Int32", "value": "7"}]`))
			r := goOn(t, prog, move(t, c.state, prog))
			for range c.sends {
				r.resume("go", map[string]any{"payload": 1})
			}
			r.wants(workflow.Finished, c.lines...)
		})
	}
}

// chart has two ways from its start to a join.
func chart(more string) string {
	c := func(from, to string) string {
		return fmt.Sprintf(`{"source": {"activity": %q, "port": "Done"}, "target": {"activity": %q, "port": "In"}}`, from, to)
	}
	return `{"type": "Elsa.Flowchart", "id": "root", ` + more + ` "activities": [` + line("start", "Literal", "s") + `, ` + line("left", "Literal", "l") + `, ` + event("e", "go") + `, {"type": "Elsa.FlowJoin", "id": "join", "mode": {"typeName": "Elsa.Workflows.Activities.Flowchart.Models.FlowJoinMode", "expression": {"type": "Literal", "value": "WaitAll"}}}, ` + line("end", "Literal", "joined") + `],
 "connections": [` + strings.Join([]string{c("start", "left"), c("start", "e"), c("left", "join"), c("e", "join"), c("join", "end")}, ", ") + `]}`
}

// A definition that is used as an activity has a context for its workflow, beside that of the activity.
func TestInsideOfADefinitionThatIsUsedAsAnActivity(t *testing.T) {
	t.Parallel()
	inner := strings.Replace(definition("greet", sequence("root", event("e", "go"), line("say", "JavaScript", "getInput('Who') + getVariable('n')")), `"options": {"usableAsActivity": true}`, `"inputs": [{"name": "Who", "type": "String"}]`, `"variables": [{"id": "v-n", "name": "n", "typeName": "Int32", "value": "7"}]`), `"name": "greet"`, `"name": "Greet"`, 1)
	outer := definition("d", sequence("root", `{"type": "Greet", "version": 3, "id": "call", "workflowDefinitionId": "greet", "who": {"typeName": "String", "expression": {"type": "JavaScript", "value": "'gone'"}}}`, line("after", "Literal", "after")))
	prog := compile(t, outer, inner)
	m := move(t, state("d", mark("c5", `{"eventName": "go"}`), strings.Join([]string{
		ctx("c5", "c4", "Workflow1:root:call:Workflow1:root:e", ""), // their order is none
		ctx("c1", "", "Workflow1", ""), ctx("c2", "c1", "Workflow1:root", `"CurrentIndex": 1`), ctx("c3", "c2", "Workflow1:root:call", "", `"activityState": {"Who": "Ann"}`),
		ctx("c3b", "c3", "Workflow1:root:call:Workflow1", `"Variables": {"v-n": 8}`), ctx("c4", "c3b", "Workflow1:root:call:Workflow1:root", `"CurrentIndex": 1`)}, ", ")), prog)
	r := goOn(t, prog, m)
	r.resume("go", nil)
	r.wants(workflow.Finished, "Ann8", "after")
}

// One that has faulted keeps its incidents, and is tried again where it failed; what waited beside it waits again.
func TestAFaultedOneIsTriedAgain(t *testing.T) {
	t.Parallel()
	prog := compile(t, definition("d", `{"type": "Elsa.Parallel", "id": "root", "activities": [`+line("say", "Literal", "mended")+`, `+event("e", "go")+`]}`))
	src := strings.ReplaceAll(state("d", mark("c4", `{"eventName": "go"}`), ctx("c1", "", "Workflow1", "")+", "+ctx("c2", "c1", "Workflow1:root", "")+", "+
		strings.Replace(ctx("c3", "c2", "Workflow1:root:say", ""), "Running", "Faulted", 1)+", "+ctx("c4", "c2", "Workflow1:root:e", ""),
		`"incidents": [{"activityId": "say", "activityNodeId": "Workflow1:root:say", "activityInstanceId": "c3", "activityType": "Elsa.WriteLine", "message": "no", "exception": {"type": "X", "message": "why"}, "timestamp": "2026-11-29T10:00:00+00:00"}]`,
		`"finishedAt": "2026-11-29T10:00:00+00:00"`), `"Running", "subStatus": "Suspended"`, `"Finished", "subStatus": "Faulted"`)
	m := move(t, src, prog)
	if in := m.Instance; in.SubStatus != workflow.Faulted || in.FinishedAt == nil || len(in.Bookmarks) != 0 || in.Incidents[0].Cause != "why" || in.Incidents[0].ContextID == "" {
		t.Errorf("%+v", in)
	}
	r := goOn(t, prog, m)
	r.do(workflow.Command{Kind: workflow.CommandRetry})
	r.wants(workflow.Suspended, "mended")
	r.resume("go", nil)
	r.wants(workflow.Finished, "mended")
}

func TestWhatCannotBeTakenOverIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	seq := definition("d", sequence("root", event("e", "go"), line("say", "Literal", "x")), `"variables": [{"id": "v-n", "name": "n", "typeName": "Int32"}]`)
	at := func(activity, properties string) string {
		return ctx("c1", "", "Workflow1", "") + ", " + ctx("c2", "c1", "Workflow1:root", `"CurrentIndex": 1`) + ", " + ctx("c3", "c2", "Workflow1:root:"+activity, properties)
	}
	good := state("d", mark("c3", `{"eventName": "go"}`), at("e", ""))
	for name, c := range map[string]struct{ definition, state, place, says string }{
		"executing":             {seq, strings.Replace(good, "Suspended", "Executing", 1), "/subStatus", "drain Elsa until it waits"},
		"interrupted":           {seq, strings.Replace(good, "Suspended", "Interrupted", 1), "/subStatus", "drain Elsa until it waits"},
		"in a burst":            {seq, strings.Replace(good, `"id": "i1"`, `"id": "i1", "isExecuting": true`, 1), "/subStatus", "drain Elsa"},
		"scheduled":             {seq, strings.Replace(good, `"id": "i1"`, `"id": "i1", "scheduledActivities": [{"activityNodeId": "x"}]`, 1), "/scheduledActivities", "let Elsa run them"},
		"ended":                 {seq, strings.Replace(good, "Suspended", "Finished", 1), "/subStatus", "it has ended"},
		"another definition":    {seq, strings.Replace(good, ":e", ":gone", 1), "/activityExecutionContexts/2/scheduledActivityNodeId", "has none of that id there"},
		"a changed sequence":    {seq, strings.Replace(good, `"CurrentIndex": 1`, `"CurrentIndex": 2`, 1), "/activityExecutionContexts/1/properties", "was the sequence changed?"},
		"a lost bookmark":       {seq, state("d", "", at("e", "")), "/activityExecutionContexts/2", "in Elsa neither"},
		"a bookmark of nothing": {seq, state("d", mark("c3", `{"eventName": "go"}`)+", "+mark("c9", `{}`), at("e", "")), "/bookmarks/1/activityInstanceId", "does not run"},
		"no parent":             {seq, strings.Replace(good, `"parentContextId": "c2"`, `"parentContextId": "c8"`, 1), "", ""},
		"a circle":              {seq, strings.Replace(good, `"id": "c1", "parentContextId": ""`, `"id": "c1", "parentContextId": "c3"`, 1), "", "around itself"},
		"a variable that is no number": {seq, strings.Replace(good, `"scheduledActivityNodeId": "Workflow1", "status": "Running", "properties": {}`, `"scheduledActivityNodeId": "Workflow1", "status": "Running", "properties": {"Variables": {"v-n": "many"}}`, 1),
			"/activityExecutionContexts/0/properties/Variables/v-n", "Int32"},
		"no time":               {definition("d", sequence("root", `{"type": "Elsa.Delay", "id": "e", "timeSpan": {"typeName": "TimeSpan", "expression": {"type": "Literal", "value": "1:00:00"}}}`)), good, "/bookmarks/0", "no time that can be read"},
		"a bulk dispatch":       {definition("d", sequence("root", `{"type": "Elsa.BulkDispatchWorkflows", "id": "e", "workflowDefinitionId": {"typeName": "String", "expression": {"type": "Literal", "value": "k"}}, "items": {"typeName": "Object", "expression": {"type": "Object", "value": "[1]"}}}`)), good, "/bookmarks/0", "let them end in Elsa"},
		"a background job":      {seq, strings.Replace(state("d", mark("c3", `{}`), at("say", "")), `"CurrentIndex": 1`, `"CurrentIndex": 2`, 1), "/bookmarks/0", "is not known here"},
		"an endpoint's locks":   {definition("d", sequence("root", `{"type": "Elsa.HttpEndpoint", "id": "e", "path": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}, "blockedFileExtensions": {"typeName": "Object", "expression": {"type": "JavaScript", "value": "['.exe']"}}}`)), state("d", mark("c3", `{"path": "x", "method": "get"}`), at("e", "")), "/bookmarks/0", "BlockedFileExtensions"},
		"items that are gone":   {definition("d", `{"type": "Elsa.ForEach", "id": "root", "items": {"typeName": "Object", "expression": {"type": "JavaScript", "value": "[1]"}}, "body": `+event("e", "go")+`}`), good, "/activityExecutionContexts/1/properties", "its Items was not kept"},
		"a fault around others": {seq, strings.Replace(good, `"scheduledActivityNodeId": "Workflow1:root", "status": "Running"`, `"scheduledActivityNodeId": "Workflow1:root", "status": "Faulted"`, 1), "/activityExecutionContexts/1/status", "begin it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, problems := elsastate.Move(read(t, c.state), compile(t, c.definition), 1)
			if m != nil || len(problems) == 0 || !slices.ContainsFunc(problems, func(p workflow.Problem) bool {
				return strings.HasPrefix(p.Place.Pointer, c.place) && strings.Contains(p.Detail, c.says)
			}) {
				t.Errorf("%+v", problems)
			}
		})
	}
	move(t, good, compile(t, seq))
}

func TestAFileThatIsNoInstanceSaysWhy(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	doubled := `{"$id": "x0"}`
	for i := range 40 { // each has the one before twice
		doubled = fmt.Sprintf(`{"$id": "x%d", "a": %s, "b": {"$ref": "x%d"}}`, i+1, doubled, i)
	}
	for src, says := range map[string]string{
		`{`:                              "no JSON",
		`{} {}`:                          "no JSON",
		`{"WorkflowState": {}}`:          "no id",
		`{"WorkflowState": {"id": "a"}}`: "of which definition",
		`{"WorkflowState": {"id": "a", "definitionId": "d"}}`:                     "no subStatus",
		`{"WorkflowState": {"id": "a/b", "definitionId": "d", "subStatus": "x"}}`: "position 2",
		`{"WorkflowState": {"$ref": "1"}}`:                                        "not there",
		`{"WorkflowState": {"$id": "1", "a": {"$ref": "1"}}}`:                     "inside of itself",
		`{"WorkflowState": {"a": {"$id": "1"}, "b": {"$id": "1"}}}`:               "two objects",
		`{"WorkflowState": {"a": {"_island": "{"}}}`:                              "text of JSON",
		`{"WorkflowState": ` + doubled + `}`:                                      "more than 1000000 values",
		deep:                                                                      "no JSON",
	} {
		if _, err := elsastate.Read([]byte(src)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: %v", src, err)
		}
	}
	for src, is := range map[string]bool{`{"WorkflowState": {}}`: true, `{"workflowState": {"id": 1}}`: true, `{"activityExecutionContexts": []}`: true, `{"root": {}}`: false, `[]`: false, ``: false, `{"WorkflowState": null}`: false} {
		if elsastate.Looks([]byte(src)) != is {
			t.Errorf("%s", src)
		}
	}
}
