package asking

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// UserTask waits for a person.
func UserTask() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     "Elsa.UserTask",
		NoEffect: true,
		Description: "Waits for a person, who sees what is to be decided in the console, claims it, fills in its form and chooses an outcome. " +
			"Only candidates, and operators, may; see user-tasks.md.",
		Main: "title",
		Inputs: []workflow.InputDescriptor{
			{Name: "title", Type: "String", Required: true, Description: "What is to be done, in a few words. Up to 1 KiB."},
			{Name: "instructions", Type: "String", Description: "More of it, for who does it. Up to 16 KiB."},
			{Name: "summary", Type: "String", Description: "One sentence below the title."},
			{Name: "reference", Type: "String", Description: "What people call it, such as an order number."},
			{Name: "taskData", Type: "Object", Description: "What it is about: an object, whose members are shown. Up to 64 KiB."},
			{Name: "candidateUsers", Type: "Object", Description: "Who may complete it: names of API keys and subjects of tokens, up to 100. anna is either; key:anna and oidc:anna are one of them."},
			{Name: "candidateGroups", Type: "Object", Description: "Groups that may: those of the keys file, and values of the token's role claim. Without users and groups only operators may."},
			{Name: "excludedUsers", Type: "Object", Description: "Who may not, such as the author: also not as a candidate or an operator."},
			{Name: "priority", Type: "Int64", Description: "From 0 to 100, the most urgent; 50, if it is not given. Ten count as much as an hour of waiting."},
			{Name: "dueAt", Type: "DateTimeOffset", Description: "When it is due."},
			{Name: "dueIn", Type: "TimeSpan", Positive: true, Description: "In place of dueAt: how long after it is made."},
			{Name: "enableCancellationOutcome", Type: "Boolean", Description: "Whether operators may end it by itself, with the outcome Cancelled."},
			{Name: "remind", Type: "Object", Description: "{before, every, times}: when those who may complete it are reminded, by an event for webhooks and a line of the journal. before is how long before it is due, every how long between two; of neither it is refused. 1 to 20 times."},
			{Name: "escalate", Type: "Object", Description: "{before or after, users, groups, priority}: to whom it goes too, so long before or after it is due (after it is made, if it is never due), and how urgent it is then. It ends the claim."},
			{Name: "enableTimeoutOutcome", Type: "Boolean", Description: "Whether it ends when it is due, with the outcome Timeout. Else it is shown as overdue, and goes on."},
			{Name: "form", Type: "Object", Description: "A JSON Schema of one object, with fields that are a string, number, integer or boolean."},
			{Name: "outcomes", Type: "Object", Description: "The buttons: names, or {key, label}, up to 20; Complete, if none is given."},
			{Name: "actionDefinitions", Type: "Object", Description: "outcomes, as Elsa calls them."},
		},
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Description: "What came of it; actionKey is the outcome again, as Elsa calls it, and data has the fields that are not masked.", Fields: []string{"outcome", "actionKey", "data", "completedBy", "completedAt"}},
			{Name: "outcome", Type: "String", Description: "The outcome that was chosen, or Timeout."},
			{Name: "masked", Type: "Object", Description: "The masked fields of the form. The journal has them not, and hides a variable that takes them.", Sensitive: true},
			{Name: "taskId", Type: "String", Description: "The task's id, from when it waits."},
		},
		AnyOutcome: true,
	}, userTaskActivity{}
}

type userTaskActivity struct{}

// Prepare checks what is constant, each input by itself.
func (userTaskActivity) Prepare(p *engine.Preparation) {
	check := func(name string, of func(v any) error) {
		v, ok := p.Constant(name)
		if !ok || v == nil {
			return
		}
		if err := of(v); err != nil {
			p.Problem("bad-literal", p.Place(name), "%v", err)
		}
	}
	part := func(fill func(t *usertask.Task, v any) error) func(v any) error {
		return func(v any) error {
			t := usertask.Task{Title: "t", Outcomes: []usertask.Outcome{{Key: "k", Label: "l"}}}
			if err := fill(&t, v); err != nil {
				return err
			}
			return t.Check()
		}
	}
	check("title", part(func(t *usertask.Task, v any) error { t.Title = engine.Text(v); return nil }))
	check("priority", part(func(t *usertask.Task, v any) (err error) { t.Priority, _ = v.(int64); return nil }))
	check("form", part(func(t *usertask.Task, v any) error { return takeForm(t, v) }))
	for _, name := range []string{"outcomes", "actionDefinitions"} {
		check(name, part(func(t *usertask.Task, v any) (err error) { t.Outcomes, err = outcomesOf(v); return err }))
	}
	for _, name := range []string{"candidateUsers", "candidateGroups", "excludedUsers"} {
		check(name, func(v any) error { _, err := namesOf(name, v); return err })
	}
	check("remind", func(v any) error { _, err := remindOf(v); return err })
	check("escalate", func(v any) error { _, err := escalateOf(v); return err })
}

// userTaskOf is the task that the inputs say.
func userTaskOf(x *engine.Execution) (t *usertask.Task, err error) {
	t = &usertask.Task{
		Title: x.Text("title"), Summary: x.Text("summary"), Reference: x.Text("reference"), Instructions: x.Text("instructions"),
		Priority: usertask.UsualPriority, Ends: x.Bool("enableTimeoutOutcome"), Cancels: x.Bool("enableCancellationOutcome"),
	}
	if x.Value("priority") != nil {
		t.Priority = x.Int("priority")
	}
	for name, to := range map[string]*[]string{"candidateUsers": &t.Users, "candidateGroups": &t.Groups, "excludedUsers": &t.Excluded} {
		if *to, err = namesOf(name, x.Value(name)); err != nil {
			return nil, err
		}
	}
	given, other := x.Value("outcomes"), x.Value("actionDefinitions")
	if given != nil && other != nil {
		return nil, errors.New("outcomes and actionDefinitions are both given: they are the same")
	}
	if given == nil {
		given = other
	}
	if t.Outcomes, err = outcomesOf(given); err != nil {
		return nil, err
	}
	if at := x.Time("dueAt"); !at.IsZero() {
		t.DueAt = &at
	}
	if in := x.Duration("dueIn"); in > 0 {
		if t.DueAt != nil {
			return nil, errors.New("dueAt and dueIn are both given: say it once")
		}
		at := x.Clock().Add(in).UTC().Truncate(time.Millisecond)
		t.DueAt = &at
	}
	if v := x.Value("taskData"); v != nil {
		if t.Data, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("taskData: %w", err)
		}
	}
	if err := takeForm(t, x.Value("form")); err != nil {
		return nil, err
	}
	if t.Remind, err = remindOf(x.Value("remind")); err != nil {
		return nil, err
	}
	if t.Escalate, err = escalateOf(x.Value("escalate")); err != nil {
		return nil, err
	}
	return t, t.Check()
}

func takeForm(t *usertask.Task, v any) (err error) {
	if v == nil {
		return nil
	}
	if text, ok := v.(string); ok { // Elsa writes an object as text
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var is any
		if err := d.Decode(&is); err != nil {
			return errors.New("form is a text, and no JSON Schema")
		}
		if v, err = engine.Normalize(is); err != nil {
			return fmt.Errorf("form: %w", err)
		}
	}
	if t.Form, err = json.Marshal(v); err != nil {
		return fmt.Errorf("form: %w", err)
	}
	return usertask.CheckForm(t.Form)
}

// namesOf reads people or groups: texts, or participants as Elsa writes them. A group among the people is no person of its
// name: who is excluded would not be, and a stranger who is called so would be a candidate.
func namesOf(input string, v any) (names []string, err error) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, one := range list {
		name, isText := one.(string)
		if m, isObject := one.(map[string]any); isObject {
			name, isText = m["id"].(string)
			if is, _ := m["type"].(string); is != "" && strings.EqualFold(is, "Group") != (input == "candidateGroups") {
				return nil, fmt.Errorf("%s has %s, of the type %s: people stand in candidateUsers and excludedUsers, groups in candidateGroups", input, workflow.Shorten(name), workflow.Shorten(is))
			}
			if by, _ := m["provider"].(string); input != "candidateGroups" && (by == "key" || by == "oidc") {
				name = by + ":" + name
			}
		}
		if !isText || name == "" {
			return nil, fmt.Errorf("%s has something that is no name: write names, or {id: …}", input)
		}
		names = append(names, name)
	}
	return names, nil
}

// outcomesOf reads outcomes: names, or {key, label}, where Elsa writes the label as an input.
func outcomesOf(v any) (all []usertask.Outcome, err error) {
	if v == nil {
		return []usertask.Outcome{{Key: usertask.UsualOutcome, Label: usertask.UsualOutcome}}, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("outcomes is no list: write names, or {key, label}")
	}
	for _, one := range list {
		o := usertask.Outcome{}
		switch one := one.(type) {
		case string:
			o = usertask.Outcome{Key: one, Label: one}
		case map[string]any:
			o.Key, _ = one["key"].(string)
			if o.Label, ok = labelOf(one["label"], o.Key); !ok {
				return nil, fmt.Errorf("the label of outcome %s is no text", workflow.Shorten(o.Key))
			}
		default:
			return nil, errors.New("outcomes has something that is no name and no {key, label}")
		}
		all = append(all, o)
	}
	return all, nil
}

func labelOf(v any, key string) (string, bool) {
	switch v := v.(type) {
	case nil:
		return key, true
	case string:
		return v, true
	case map[string]any:
		e, _ := v["expression"].(map[string]any)
		kind, _ := e["type"].(string)
		label, isText := e["value"].(string)
		return label, isText && kind == "Literal"
	}
	return "", false
}
