package activities_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/task"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// approval is a user task whose outputs go to variables.
func approval(in inputs) *workflow.Definition {
	all := inputs{"title": lit("Approve"), "outcomes": lit([]any{"Approve", map[string]any{"key": "Reject", "label": "Turn it down"}}), "candidateUsers": lit([]any{"anna"})}
	for name, v := range in {
		all[name] = v
	}
	a := named("approve", act("UserTask", all))
	a.Outputs = map[string]string{"result": "answer", "masked": "card"}
	def := root(a)
	def.Variables = []workflow.Variable{{Name: "answer", Type: "Object"}, {Name: "card", Type: "Object"}}
	return def
}

// asked is the user task at which an instance waits.
func (b *bench) asked() *usertask.Task {
	b.t.Helper()
	for i := range b.header.Bookmarks {
		if m := &b.header.Bookmarks[i]; usertask.Is(m) {
			is, err := usertask.Of(m)
			if err != nil {
				b.t.Fatal(err)
			}
			return is
		}
	}
	b.t.Fatalf("it waits for nobody: %v", b.bookmarks())
	return nil
}

// decided is what resumes a task as the runtime does it for a person.
func decided(who, outcome string, data map[string]any) map[string]any {
	return map[string]any{"result": map[string]any{"outcome": outcome, "data": data}, task.Worker: who, task.Attempt: int64(1), task.Since: "2026-12-01T10:00:00Z"}
}

// A person's decision is the output and the outcome, and the journal says who made it. What is masked is in the output of
// that name only, and in no line of the journal.
func TestAPersonDecides(t *testing.T) {
	t.Parallel()
	form := map[string]any{"properties": map[string]any{"reason": map[string]any{"type": "string"}, "pin": map[string]any{"type": "string", "masked": true}}}
	b := start(t, approval(inputs{"form": lit(form), "priority": lit(90), "instructions": lit("Look twice"), "taskData": computed(map[string]any{"amount": 12})}))
	is := b.asked()
	if got := fmt.Sprint(is.Title, is.Users, is.Outcomes, is.Priority, string(is.Data)); got != `Approve[anna] [{Approve Approve} {Reject Turn it down}] 90{"amount":12}` {
		t.Errorf("the task says %s", got)
	}
	if got := b.terms(); got != (task.Terms{Above: 4}) {
		t.Errorf("%+v", got)
	}
	b.resume("approve", decided("key:anna", "Reject", map[string]any{"reason": "too much", "pin": "98765"}))
	b.wantStatus(workflow.Finished)
	if got := strings.Join(b.outcomes("approve"), " "); got != "Done Reject" {
		t.Errorf("outcomes %s", got)
	}
	journal, err := json.Marshal(b.journal)
	if err != nil {
		t.Fatal(err)
	}
	for text, in := range map[string]bool{"98765": false, "too much": true, "key:anna: Reject": true, `"completedBy":"key:anna"`: true, `"actionKey":"Reject"`: true} {
		if strings.Contains(string(journal), text) != in {
			t.Errorf("%q in the journal: %t\n%s", text, !in, journal)
		}
	}
}

// What meets the bookmark otherwise, such as a stimulus that somebody made up, is no decision: the task waits on.
func TestOnlyAPersonDecides(t *testing.T) {
	t.Parallel()
	b := start(t, approval(nil))
	first := b.header.Bookmarks[0].ID
	b.resume("approve", map[string]any{"result": map[string]any{"outcome": "Approve"}})
	if b.wantStatus(workflow.Suspended); b.asked().Title != "Approve" || len(b.header.Bookmarks) != 1 || b.header.Bookmarks[0].ID != first {
		t.Errorf("%+v", b.header.Bookmarks)
	}
	b.resume("approve", decided("key:anna", "Perhaps", nil)) // which no node takes
	if b.wantStatus(workflow.Faulted); !strings.Contains(b.header.Incidents[0].Message, `the outcome is "Perhaps"; it is one of Approve, Reject`) {
		t.Errorf("%+v", b.header.Incidents)
	}
}

// A task that ends when it is due has the outcome Timeout then; another one is only shown as overdue.
func TestAUserTaskIsDue(t *testing.T) {
	t.Parallel()
	b := start(t, approval(inputs{"dueIn": lit("1h"), "enableTimeoutOutcome": lit(true)}))
	due := b.asked().DueAt
	if due == nil || !b.header.Bookmarks[0].DueAt.Equal(*due) || !due.Equal(b.now.Add(time.Hour).Truncate(time.Millisecond)) {
		t.Fatalf("%v %v", due, b.header.Bookmarks[0].DueAt)
	}
	b.now = due.Add(-2 * time.Second) // by this node, which is behind that of the timer
	b.resume("approve", nil)
	if got := strings.Join(b.outcomes("approve"), " "); got != "Done Timeout" {
		t.Errorf("outcomes %s", got)
	}
	if got := b.texts(workflow.TaskTimedOut); len(got) != 1 {
		t.Errorf("the journal has %v", got)
	}
	b = start(t, approval(inputs{"dueAt": lit("2030-01-01T00:00:00Z")}))
	if m := b.header.Bookmarks[0]; m.DueAt != nil || b.asked().DueAt.Year() != 2030 {
		t.Errorf("%+v", m)
	}
}

// What a task may not say is an incident that names it, and a problem where it is constant.
func TestAUserTaskIsBounded(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]inputs{
		"title is empty": {"title": computed(" ")},
		"title has 2000 bytes: it may have up to 1024":            {"title": computed(strings.Repeat("x", 2000))},
		"priority is 101; it is a whole number from 0 to 100":     {"priority": computed(101)},
		"no outcome may be called timeout":                        {"outcomes": computed([]any{"timeout"})},
		"the outcome approve is there twice":                      {"outcomes": computed([]any{"Approve", "approve"})},
		"there are 0 outcomes; a task has 1 to 20":                {"outcomes": computed([]any{})},
		"outcomes is no list":                                     {"outcomes": computed("Approve")},
		"candidateUsers has something that is no name":            {"candidateUsers": computed([]any{7})},
		"candidateUsers has 101 names":                            {"candidateUsers": computed(slicesOf(101, "x"))},
		"candidateUsers has finance, of the type Group: people":   {"candidateUsers": computed([]any{map[string]any{"type": "Group", "id": "finance"}})},
		"excludedUsers has finance, of the type group: people":    {"excludedUsers": computed([]any{map[string]any{"type": "group", "id": "finance"}})},
		"candidateGroups has anna, of the type User: people":      {"candidateGroups": computed([]any{map[string]any{"type": "User", "id": "anna"}})},
		"form is a text, and no JSON Schema":                      {"form": computed("nonsense")},
		"form is no object":                                       {"form": computed("[1]")},
		"dueAt and dueIn are both given":                          {"dueAt": computed("2030-01-01T00:00:00Z"), "dueIn": computed("1h")},
		"enableTimeoutOutcome is given, and no dueAt or dueIn":    {"enableTimeoutOutcome": lit(true)},
		"form names a form of a provider":                         {"form": computed(map[string]any{"providerName": "forms"})},
		"outcomes and actionDefinitions are both given":           {"actionDefinitions": computed([]any{"A"})},
		"the task name Elsa.UserTask is that of tasks for people": nil,
	} {
		def := approval(in)
		if in == nil {
			def = root(act("RunTask", inputs{"taskName": lit(task.UserName)}))
		}
		b := start(t, def)
		if b.wantStatus(workflow.Faulted); len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, want) {
			t.Errorf("%s: %+v", want, b.header.Incidents)
		}
	}
}

func slicesOf(n int, v any) (all []any) {
	for range n {
		all = append(all, v)
	}
	return all
}

// Elsa's JSON is read as Elsa writes it: participants, actions with a label that is an input, and a result with an actionKey.
func TestElsasUserTaskRuns(t *testing.T) {
	t.Parallel()
	const source = `{"definitionId": "purchase", "root": {"type": "Elsa.UserTask", "version": 1, "id": "approve",
		"title": {"typeName": "String", "expression": {"type": "Literal", "value": "Approve it"}},
		"candidateUsers": {"typeName": "Object[]", "expression": {"type": "Object", "value": "[{\"tenantId\":\"\",\"provider\":\"default\",\"type\":\"User\",\"id\":\"anna\"}]"}},
		"candidateGroups": {"typeName": "Object[]", "expression": {"type": "Object", "value": "[{\"provider\":\"oidc\",\"type\":\"Group\",\"id\":\"finance\"}]"}},
		"priority": {"typeName": "Int32", "expression": {"type": "Literal", "value": 50}},
		"form": {"typeName": "Object", "expression": {"type": "Object", "value": "{\"properties\": {\"why\": {\"type\": \"string\", \"maxLength\": 5}}}"}},
		"actionDefinitions": {"typeName": "Object[]", "expression": {"type": "Literal", "value": [
			{"key": "Approve", "label": {"typeName": "String", "expression": {"type": "Literal", "value": "Approve it"}}, "metadata": {"color": "green"}}, {"key": "Reject"}]}}}}`
	def, problems := elsajson.Read([]byte(source), "purchase.json", activities.Default())
	if problems != nil {
		t.Fatal(problems)
	}
	b := start(t, def, func(_ *bench, o *engine.Options, _ *workflow.Start) { o.Evaluators = expression.All() })
	is := b.asked()
	if got := fmt.Sprint(is.Title, is.Users, is.Groups, is.Outcomes); got != "Approve it[anna] [finance] [{Approve Approve it} {Reject Reject}]" {
		t.Errorf("%s", got)
	}
	if fields, err := is.Fields(); err != nil || len(fields) != 1 || fields[0].Name != "why" {
		t.Errorf("%v %v", err, fields)
	}
	b.resume("approve", decided("key:anna", "Approve", nil))
	b.wantStatus(workflow.Finished)
	if got := b.outcomes("approve"); len(got) != 2 || got[0] != engine.DoneOutcome {
		t.Errorf("outcomes %v", got)
	}
}
