package elsastate

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// wait gives an execution what it waits for.
func (m *mover) wait(p *place) {
	for i, b := range p.marks {
		w, err := m.waited(p, b)
		if err != nil {
			m.refuse("unknown-wait", b.at, "%s (%s): %v", p.node.LocalID(), p.node.Type(), err)
			continue
		}
		m.mark(p, b, i, w)
	}
}

// wanted is what a bookmark is here.
type wanted struct {
	name     string
	payload  any
	metadata any
	due      *time.Time // a timer's
	child    string
}

func (m *mover) mark(p *place, b mark, number int, w wanted) {
	id := workflow.BookmarkID(m.in.ID, workflow.DeriveID(m.in.ID, "elsa", p.id, "bookmark", fmt.Sprint(number)))
	hashed := w.payload
	if w.due != nil {
		hashed = workflow.LocalPayload(id, w.payload)
	}
	hash, err := workflow.Hash(p.node.Type(), hashed)
	created, ok := moment(b.raw, "createdAt")
	if !ok {
		created = m.header.UpdatedAt
	}
	if err != nil {
		m.refuse("unknown-wait", b.at+"/payload", "%v", err)
		return
	}
	m.marks = append(m.marks, bookmark{On: p.index, Child: w.child, Bookmark: &workflow.Bookmark{
		ID: id, ActivityID: p.node.ID(), ActivityType: p.node.Type(), Name: workflow.ValidText(w.name), Hash: hash, Payload: w.payload,
		ContextID: m.executionID(p.id), DueAt: w.due, CreatedAt: created, Metadata: w.metadata,
	}})
	if w.child != "" {
		m.waits[w.child] = id
	}
}

// waited reads a bookmark by the activity that made it.
func (m *mover) waited(p *place, b mark) (wanted, error) {
	payload := get(b.raw, "payload")
	switch kind := p.node.Type(); kind {
	case workflow.EventType:
		name := text(payload, "eventName")
		return wanted{name: name, payload: workflow.EventPayload(name)}, workflow.CheckSendable("event name", name)
	case "Elsa.Delay", "Elsa.Timer":
		return until(p, payload, "resumeAt")
	case "Elsa.StartAt", "Elsa.Cron":
		return until(p, payload, "executeAt")
	case workflow.TaskType:
		id, name := text(payload, "taskId"), text(payload, "taskName")
		if id == "" {
			return wanted{}, fmt.Errorf("its bookmark has no taskId")
		}
		given, _ := m.input(p, "payload")
		return wanted{name: name, payload: map[string]any{"taskId": id}, metadata: given}, workflow.CheckSendable("task name", name)
	case "Elsa.ExecuteWorkflow", "Elsa.DispatchWorkflow":
		id := text(payload, "childInstanceId")
		name, _ := m.input(p, "workflowDefinitionId")
		return wanted{name: engine.Text(name), payload: map[string]any{"childInstanceId": id}, child: id}, workflow.CheckID("the id of the child", id)
	case workflow.EndpointType:
		return m.endpoint(p, payload)
	case "Elsa.BulkDispatchWorkflows":
		return wanted{}, fmt.Errorf("it waits for a number of children, and Elsa does not say which: let them end in Elsa")
	}
	return wanted{}, fmt.Errorf("how it waits (bookmark %s) is not known here: let Elsa run it to another place", workflow.Shorten(text(b.raw, "name")))
}

// until waits for a time.
func until(p *place, payload any, name string) (wanted, error) {
	due, ok := moment(payload, name)
	if !ok {
		return wanted{}, fmt.Errorf("its bookmark has no time that can be read (%s)", name)
	}
	return wanted{name: p.node.Descriptor().ShortName(), payload: map[string]any{"dueAt": due.Format(time.RFC3339Nano)}, due: &due}, nil
}

// endpoint waits for a request, by the rules that its bookmark has, and for files by those of its inputs.
func (m *mover) endpoint(p *place, payload any) (wanted, error) {
	e := workflow.Endpoint{Method: strings.ToUpper(text(payload, "method")), Template: strings.Trim(text(payload, "path"), "/")}
	if e.Method == "" || e.Template == "" {
		return wanted{}, fmt.Errorf("its bookmark has no method or no path")
	}
	if written, ok := m.input(p, "path"); ok { // Elsa's bookmark has it in small letters, and so the names of its parameters
		if s := strings.Trim(engine.Text(written), "/ "); strings.EqualFold(s, e.Template) {
			e.Template = s
		}
	}
	e.MaxBody, _ = number(payload, "requestSizeLimit")
	if span := text(payload, "requestTimeout"); span != "" {
		d, err := engine.Convert(span, "TimeSpan")
		if err != nil {
			return wanted{}, fmt.Errorf("requestTimeout: %w", err)
		}
		e.Timeout, _ = d.(time.Duration)
	}
	rules := &files.Rules{}
	var missing string
	read := func(name, alias string) any {
		v, ok := m.input(p, name)
		if !ok {
			missing = name
			return nil
		}
		v, err := engine.Convert(v, alias)
		if err != nil {
			missing = name
		}
		return v
	}
	texts := func(name string) (out []string) {
		items, _ := read(name, "String[]").([]any)
		for _, e := range items {
			out = append(out, engine.Text(e))
		}
		return out
	}
	authorize, _ := read("authorize", "Boolean").(bool)
	policy := engine.Text(read("policy", "String"))
	e.Authorize, e.Policy = authorize || flag(payload, "authorize"), cmp.Or(text(payload, "policy"), policy)
	if size, given := read("fileSizeLimit", "Int64").(int64); given {
		rules.MaxSize = cmp.Or(max(size, 0), -1) // none may have any content
	}
	rules.Allowed, rules.Blocked, rules.Types = texts("allowedFileExtensions"), texts("blockedFileExtensions"), texts("allowedMimeTypes")
	e.TooLarge, _ = read("exposeRequestTooLargeOutcome", "Boolean").(bool)
	rules.SizeGoesOn, _ = read("exposeFileTooLargeOutcome", "Boolean").(bool)
	rules.ExtensionGoesOn, _ = read("exposeInvalidFileExtensionOutcome", "Boolean").(bool)
	rules.TypeGoesOn, _ = read("exposeInvalidFileMimeTypeOutcome", "Boolean").(bool)
	if missing != "" {
		return wanted{}, errNotKept(workflow.UpperFirst(missing))
	}
	for _, err := range []error{files.CheckExtensions(rules.Allowed), files.CheckExtensions(rules.Blocked), files.CheckTypes(rules.Types)} {
		if err != nil {
			return wanted{}, err
		}
	}
	e.Files = rules
	return wanted{name: e.Method + " /" + e.Template, payload: e.Payload(), metadata: e.Metadata()}, nil
}
