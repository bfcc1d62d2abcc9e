package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// letterRoutes show what waits in the queue and what could not be done, and mend it.
func (a *API) letterRoutes() []route {
	sent := map[int]any{200: sentView{}, 202: oneOf{sentView{}, queuedView{}}}
	noLetter := []workflow.Code{workflow.CodeDeadLetterNotFound, workflow.CodeKeyReused, workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished}
	noItem := []workflow.Code{workflow.CodeQueueItemNotFound, workflow.CodeKeyReused, workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished}
	return []route{
		{method: "GET", path: "/queue", name: "listQueue", role: auth.Viewer, tag: "cluster", kind: reads, summary: "Stimuli that nothing waits for yet",
			query: append(stimulusParams("Those that came into the queue before this time."), pageParams...), answers: map[int]any{200: listView[queueItemView]{}}, serve: listQueue},
		{method: "GET", path: "/queue/{id}", name: "getQueueItem", role: auth.Viewer, tag: "cluster", kind: reads, costly: true,
			summary: "A stimulus of the queue, with what it brings and what it would do",
			answers: map[int]any{200: queuedItemView{}}, problems: noItem[:1], serve: queueItem},
		{method: "POST", path: "/queue/{id}/send", name: "sendQueueItem", role: auth.Operator, tag: "cluster", kind: changes, costly: true, idempotent: true,
			summary: "Take a stimulus out of the queue and send it again, edited or to an instance", body: editBody{},
			answers: sent, problems: noItem, serve: sendQueueItem},
		{method: "DELETE", path: "/queue/{id}", name: "deleteQueueItem", role: auth.Operator, tag: "cluster", kind: changes, costly: true, summary: "Forget a stimulus of the queue",
			answers: map[int]any{204: nil}, problems: noItem[:1], serve: deleteQueueItem},
		{method: "POST", path: "/queue/send", name: "sendQueueItems", role: auth.Operator, tag: "cluster", kind: changes, costly: true, target: "queue",
			summary: "Take the stimuli of a filter out of the queue and send them again, edited or to an instance, a page at a time", body: sendItemsBody{},
			answers: map[int]any{200: severalView{}}, serve: sendQueueItems},
		{method: "POST", path: "/queue/delete", name: "deleteQueueItems", role: auth.Operator, tag: "cluster", kind: changes, costly: true, target: "queue",
			summary: "Forget the stimuli of a filter that are in the queue, a page at a time", body: itemsBody{},
			answers: map[int]any{200: severalView{}}, serve: deleteQueueItems},
		{method: "GET", path: "/dead-letters", name: "listDeadLetters", role: auth.Viewer, tag: "cluster", kind: reads, summary: "Work that could not be done, with the reason",
			query: append(letterParams, pageParams...), answers: map[int]any{200: listView[deadLetterView]{}}, serve: listDeadLetters},
		{method: "GET", path: "/dead-letters/{id}", name: "getDeadLetter", role: auth.Viewer, tag: "cluster", kind: reads,
			summary: "A dead letter, with what it brought and what it would do now",
			answers: map[int]any{200: letterView{}}, problems: noLetter[:1], serve: deadLetter},
		{method: "POST", path: "/dead-letters/{id}/replay", name: "replayDeadLetter", role: auth.Operator, tag: "cluster", kind: changes, idempotent: true,
			summary: "Send a dead letter again, as it was, edited or to an instance", body: editBody{},
			answers: sent, problems: noLetter, serve: replayDeadLetter},
		{method: "DELETE", path: "/dead-letters/{id}", name: "deleteDeadLetter", role: auth.Operator, tag: "cluster", kind: changes, summary: "Forget a dead letter",
			answers: map[int]any{204: nil}, problems: noLetter[:1], serve: deleteDeadLetter},
		{method: "POST", path: "/dead-letters/replay", name: "replayDeadLetters", role: auth.Operator, tag: "cluster", kind: changes, target: "dead letters",
			summary: "Send the dead letters of a filter again, as they were, edited or to an instance, a page at a time", body: replayLettersBody{},
			answers: map[int]any{200: severalView{}}, serve: replayDeadLetters},
		{method: "POST", path: "/dead-letters/delete", name: "deleteDeadLetters", role: auth.Operator, tag: "cluster", kind: changes, target: "dead letters",
			summary: "Forget the dead letters of a filter, a page at a time", body: lettersBody{},
			answers: map[int]any{200: severalView{}}, serve: deleteDeadLetters},
	}
}

// deadReasons are why letters are dead, for filters.
var deadReasons = each(workflow.DeadReasons(), func(r workflow.DeadReason) string { return string(r) })

var letterParams = append([]param{{name: "reason", typ: "string", values: deadReasons}}, stimulusParams("Those that came to be before this time.")...)

func stimulusParams(before string) []param {
	return []param{
		{name: "name", typ: "string", doc: "Of the event."}, {name: "activityType", typ: "string"},
		{name: "correlationId", typ: "string"}, {name: "instanceId", typ: "string"}, {name: "before", typ: "string", doc: before},
	}
}

// editBody is what is changed of a stimulus before it is sent again.
type editBody struct {
	CorrelationID *string        `json:"correlationId" doc:"Another one; \"\": none."`
	InstanceID    *string        `json:"instanceId" doc:"Send it to this instance only; \"\": to all who wait for it."`
	Name          *string        `json:"name" doc:"Another name of the event."`
	Payload       any            `json:"payload" doc:"Another payload of the event."`
	Input         map[string]any `json:"input" doc:"In the place of what the stimulus brings, of any type."`
}

// lettersBody says which dead letters.
type lettersBody struct {
	Reason        string     `json:"reason"`
	Name          string     `json:"name" doc:"Of the event."`
	ActivityType  string     `json:"activityType"`
	CorrelationID string     `json:"correlationId"`
	InstanceID    string     `json:"instanceId"`
	Before        *time.Time `json:"before" doc:"Those that came to be before this time."`
	All           bool       `json:"all" doc:"Needed where nothing else restricts."`
	Limit         int        `json:"limit" doc:"How many are looked at, 1 to 500, 50 if absent."`
	Cursor        string     `json:"cursor" doc:"nextCursor of the answer before."`
}

// replayLettersBody says which dead letters, and what is changed of them.
type replayLettersBody struct {
	Reason        string     `json:"reason"`
	Name          string     `json:"name" doc:"Of the event."`
	ActivityType  string     `json:"activityType"`
	CorrelationID string     `json:"correlationId"`
	InstanceID    string     `json:"instanceId"`
	Before        *time.Time `json:"before" doc:"Those that came to be before this time."`
	All           bool       `json:"all" doc:"Needed where nothing else restricts."`
	Edit          editBody   `json:"edit" doc:"What is changed of each."`
	Limit         int        `json:"limit" doc:"How many are looked at, 1 to 500, 50 if absent."`
	Cursor        string     `json:"cursor" doc:"nextCursor of the answer before."`
}

// itemsBody says which stimuli of the queue.
type itemsBody struct {
	Name          string     `json:"name" doc:"Of the event."`
	ActivityType  string     `json:"activityType"`
	CorrelationID string     `json:"correlationId"`
	InstanceID    string     `json:"instanceId"`
	Before        *time.Time `json:"before" doc:"Those that came into the queue before this time."`
	All           bool       `json:"all" doc:"Needed where nothing else restricts."`
	Limit         int        `json:"limit" doc:"How many are looked at, 1 to 500, 50 if absent."`
	Cursor        string     `json:"cursor" doc:"nextCursor of the answer before."`
}

// sendItemsBody says which stimuli of the queue, and what is changed of them.
type sendItemsBody struct {
	Name          string     `json:"name" doc:"Of the event."`
	ActivityType  string     `json:"activityType"`
	CorrelationID string     `json:"correlationId"`
	InstanceID    string     `json:"instanceId"`
	Before        *time.Time `json:"before" doc:"Those that came into the queue before this time; before the first page was asked for, if absent."`
	All           bool       `json:"all" doc:"Needed where nothing else restricts."`
	Edit          editBody   `json:"edit" doc:"What is changed of each."`
	Limit         int        `json:"limit" doc:"How many are looked at, 1 to 500, 50 if absent."`
	Cursor        string     `json:"cursor" doc:"nextCursor of the answer before."`
}

// broughtView is what a stimulus brings, and what it would do if it were sent now.
type broughtView struct {
	Input       any         `json:"input" doc:"What it brings; null for a viewer."`
	InputHidden bool        `json:"inputHidden" doc:"The caller's role may not see it."`
	Effect      *effectView `json:"effect" doc:"What it would do if it were sent now: with others, who wait for the same with another correlation. Null if it is no stimulus."`
}

type letterView struct {
	Letter  deadLetterView `json:"letter"`
	Brought broughtView    `json:"brought"`
}

type queuedItemView struct {
	Item    queueItemView `json:"item"`
	Brought broughtView   `json:"brought"`
}

type severalView struct {
	Done       []string         `json:"done" doc:"Ids of those for which it was done."`
	Refused    []severalRefused `json:"refused"`
	NextCursor *string          `json:"nextCursor" doc:"Pass it as cursor for the next ones; null at the end."`
}

type severalRefused struct {
	ID     string        `json:"id"`
	Code   workflow.Code `json:"code"`
	Detail string        `json:"detail"`
}

// brought shows what a stimulus brings to those who may send one.
func brought(c *call, st *workflow.Stimulus) (broughtView, error) {
	var v broughtView
	if st == nil {
		return v, nil
	}
	if v.InputHidden = c.api.onlyLooks(c.r); !v.InputHidden {
		v.Input = object(st.Input)
	}
	e, err := c.api.cfg.Explainer.Event(c.r.Context(), *st, peersOf(c))
	if err != nil {
		return v, err
	}
	effect := viewEffect(e)
	v.Effect = &effect
	return v, nil
}

func queueItem(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeQueueItemNotFound)
	if err != nil {
		return reply{}, err
	}
	q, err := c.api.cfg.Runtime.OneQueueItem(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	v := queuedItemView{Item: viewQueueItem(q)}
	if !q.Damaged {
		v.Brought, err = brought(c, &q.Stimulus)
	}
	return reply{body: v}, err
}

func deadLetter(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeDeadLetterNotFound)
	if err != nil {
		return reply{}, err
	}
	d, err := c.api.cfg.Runtime.OneDeadLetter(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	v := letterView{Letter: viewDeadLetter(d)}
	v.Brought, err = brought(c, d.Stimulus)
	return reply{body: v}, err
}

// edit reads what is to be changed of one.
func edit(c *call) (runtime.Edit, *runtime.Key, error) {
	var b editBody
	if err := c.decode(&b); err != nil {
		return runtime.Edit{}, nil, err
	}
	e, problems := b.edit("")
	if err := invalidFields(problems); err != nil {
		return e, nil, err
	}
	key, err := c.key()
	return e, key, err
}

// edit is what the body says, which stands at a place of the request's.
func (b *editBody) edit(at string) (runtime.Edit, workflow.Problems) {
	var problems workflow.Problems
	e := runtime.Edit{CorrelationID: b.CorrelationID, InstanceID: b.InstanceID, Name: b.Name, Input: b.Input}
	bad := func(field string, err error) {
		if err != nil {
			problems = append(problems, workflow.Problem{Code: "bad-" + field, Detail: err.Error(), Place: workflow.Place{Pointer: at + "/" + field}})
		}
	}
	if b.Payload != nil && b.Input != nil {
		problems = append(problems, workflow.Problem{Code: "two-inputs", Detail: "give payload, which is the input of an event, or input", Place: workflow.Place{Pointer: at + "/payload"}})
	} else if b.Payload != nil {
		e.Input = map[string]any{workflow.EventInput: b.Payload}
	}
	switch {
	case e.Name == nil:
	case *e.Name == "":
		bad("name", errors.New("an event has a name"))
	default:
		bad("name", workflow.CheckName("the event's name", *e.Name))
	}
	if e.CorrelationID != nil {
		bad("correlationId", workflow.CheckName("correlationId", *e.CorrelationID))
	}
	if e.InstanceID != nil && *e.InstanceID != "" {
		bad("instanceId", workflow.CheckID("instanceId", *e.InstanceID))
	}
	return e, problems
}

func invalidFields(problems workflow.Problems) error {
	if problems == nil {
		return nil
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
}

func replayDeadLetter(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeDeadLetterNotFound)
	if err != nil {
		return reply{}, err
	}
	e, key, err := edit(c)
	if err != nil {
		return reply{}, err
	}
	return c.sent(c.api.cfg.Runtime.ReplayDeadLetter(c.r.Context(), id, e, key))
}

func sendQueueItem(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeQueueItemNotFound)
	if err != nil {
		return reply{}, err
	}
	e, key, err := edit(c)
	if err != nil {
		return reply{}, err
	}
	return c.sent(c.api.cfg.Runtime.SendQueueItem(c.r.Context(), id, e, key))
}

func deleteDeadLetter(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeDeadLetterNotFound)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 204}, c.api.cfg.Runtime.DeleteDeadLetter(c.r.Context(), id)
}

func deleteQueueItem(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeQueueItemNotFound)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 204}, c.api.cfg.Runtime.DeleteQueueItem(c.r.Context(), id)
}

// before reads the parameter of a time.
func (c *request) before() (t time.Time, err error) {
	if text := c.query.Get("before"); text != "" {
		if t, err = time.Parse(time.RFC3339, text); err != nil {
			return t, invalid("bad-parameter", "/before", "before must be a time such as 2026-11-22T10:00:00Z")
		}
	}
	return t, nil
}

func listDeadLetters(c *call) (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	f := runtime.DeadLetterFilter{
		Reason: workflow.DeadReason(c.query.Get("reason")), Name: c.query.Get("name"), ActivityType: c.query.Get("activityType"),
		CorrelationID: c.query.Get("correlationId"), InstanceID: c.query.Get("instanceId"),
	}
	if f.Before, err = c.before(); err != nil {
		return reply{}, err
	}
	page, err := c.api.cfg.Runtime.DeadLetters(c.r.Context(), f, cursor, limit)
	return reply{body: list(page, viewDeadLetter)}, err
}

func listQueue(c *call) (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	f := runtime.QueueFilter{Name: c.query.Get("name"), ActivityType: c.query.Get("activityType"), CorrelationID: c.query.Get("correlationId"), InstanceID: c.query.Get("instanceId")}
	if f.Before, err = c.before(); err != nil {
		return reply{}, err
	}
	page, err := c.api.cfg.Runtime.Queue(c.r.Context(), f, cursor, limit)
	return reply{body: list(page, viewQueueItem)}, err
}

// check says what is wrong with which ones are meant: every place at once.
func (b *lettersBody) check() (problems workflow.Problems) {
	bad := func(code, pointer, detail string) {
		problems = append(problems, workflow.Problem{Code: code, Detail: detail, Place: workflow.Place{Pointer: pointer}})
	}
	restricts := b.Reason != "" || b.Name != "" || b.ActivityType != "" || b.CorrelationID != "" || b.InstanceID != "" || b.Before != nil
	if !restricts && !b.All {
		bad("missing-filter", "", `say which: by reason, name, activityType, correlationId, instanceId or before; or "all": true`)
	}
	if b.Reason != "" && !slices.Contains(deadReasons, b.Reason) {
		bad("unknown-reason", "/reason", fmt.Sprintf("%q is no reason%s; there are %s", shorten(b.Reason), workflow.DidYouMean(b.Reason, deadReasons), strings.Join(deadReasons, ", ")))
	}
	if b.InstanceID != "" {
		if err := workflow.CheckID("instanceId", b.InstanceID); err != nil {
			bad("bad-id", "/instanceId", err.Error())
		}
	}
	if b.Limit < 0 || b.Limit > 500 {
		bad("bad-limit", "/limit", "limit must be from 1 to 500")
	}
	return problems
}

func (b *lettersBody) before() time.Time {
	if b.Before == nil {
		return time.Time{}
	}
	return *b.Before
}

func (b *lettersBody) filter() runtime.DeadLetterFilter {
	return runtime.DeadLetterFilter{Reason: workflow.DeadReason(b.Reason), Name: b.Name, ActivityType: b.ActivityType, CorrelationID: b.CorrelationID, InstanceID: b.InstanceID, Before: b.before()}
}

func (b *lettersBody) queueFilter() runtime.QueueFilter {
	return runtime.QueueFilter{Name: b.Name, ActivityType: b.ActivityType, CorrelationID: b.CorrelationID, InstanceID: b.InstanceID, Before: b.before()}
}

// meant notes for the audit log which ones are meant.
func (b *lettersBody) meant(c *call) {
	c.about("reason", b.Reason, "name", b.Name, "type", b.ActivityType, "correlation", b.CorrelationID, "instance", b.InstanceID, "after", b.Cursor)
}

func replayDeadLetters(c *call) (reply, error) {
	var b replayLettersBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	which := lettersBody{b.Reason, b.Name, b.ActivityType, b.CorrelationID, b.InstanceID, b.Before, b.All, b.Limit, b.Cursor}
	e, problems := b.Edit.edit("/edit")
	return several(c, &which, problems, func(ctx context.Context) (runtime.Several, error) {
		return c.api.cfg.Runtime.ReplayDeadLetters(ctx, which.filter(), e, b.Cursor, b.Limit)
	})
}

func deleteDeadLetters(c *call) (reply, error) {
	var b lettersBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	return several(c, &b, nil, func(ctx context.Context) (runtime.Several, error) {
		return c.api.cfg.Runtime.DeleteDeadLetters(ctx, b.filter(), b.Cursor, b.Limit)
	})
}

func sendQueueItems(c *call) (reply, error) {
	var b sendItemsBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	which := lettersBody{"", b.Name, b.ActivityType, b.CorrelationID, b.InstanceID, b.Before, b.All, b.Limit, b.Cursor}
	e, problems := b.Edit.edit("/edit")
	return several(c, &which, problems, func(ctx context.Context) (runtime.Several, error) {
		return c.api.cfg.Runtime.SendQueueItems(ctx, which.queueFilter(), e, b.Cursor, b.Limit)
	})
}

func deleteQueueItems(c *call) (reply, error) {
	var b itemsBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	which := lettersBody{"", b.Name, b.ActivityType, b.CorrelationID, b.InstanceID, b.Before, b.All, b.Limit, b.Cursor}
	return several(c, &which, nil, func(ctx context.Context) (runtime.Several, error) {
		return c.api.cfg.Runtime.DeleteQueueItems(ctx, which.queueFilter(), b.Cursor, b.Limit)
	})
}

// several does something with each of a page that a filter takes, if nothing is wrong with
// what was asked.
func several(c *call, which *lettersBody, problems workflow.Problems, do func(context.Context) (runtime.Several, error)) (reply, error) {
	which.meant(c)
	if err := invalidFields(append(which.check(), problems...)); err != nil {
		return reply{}, err
	}
	res, err := do(c.r.Context())
	if err != nil {
		return reply{}, err
	}
	refused := each(res.Refused, func(r runtime.Refusal) severalRefused { return severalRefused(r) })
	return reply{body: severalView{Done: res.Done, Refused: refused, NextCursor: some(res.Next)}}, nil
}
