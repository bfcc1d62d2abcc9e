package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/repair"
	"github.com/weft-run/weft/pkg/workflow"
)

// letterRoutes show what waits in the queue and what could not be done, and mend it.
func letterRoutes() []serve.Route {
	sent := map[int]any{200: shape.Sent{}, 202: schema.OneOf{shape.Sent{}, shape.Queued{}}}
	noLetter := []workflow.Code{workflow.CodeDeadLetterNotFound, workflow.CodeKeyReused, workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished}
	noItem := []workflow.Code{workflow.CodeQueueItemNotFound, workflow.CodeKeyReused, workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished}
	tried := map[int]any{200: schema.OneOf{shape.Sent{}, shape.Effect{}}, 202: sent[202]}
	dry := []serve.Param{{Name: "dryRun", Type: "boolean", Doc: "Tell what it would do, and send nothing."}}
	drySeveral := []serve.Param{{Name: "dryRun", Type: "boolean", Doc: "Tell for which it would be done, and which would be refused, and do nothing."}}
	return []serve.Route{
		{Method: "GET", Path: "/queue", Name: "listQueue", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "Stimuli that nothing waits for yet",
			Query: append(stimulusParams("Those that came into the queue before this time."), serve.PageParams...), Answers: map[int]any{200: shape.List[shape.QueueItem]{}}, Serve: listQueue},
		{Method: "GET", Path: "/queue/{id}", Name: "getQueueItem", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Costly: true,
			Summary: "A stimulus of the queue, with what it brings and what it would do",
			Answers: map[int]any{200: queuedItemView{}}, Problems: noItem[:1], Serve: queueItem},
		{Method: "POST", Path: "/queue/{id}/send", Name: "sendQueueItem", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Costly: true, Idempotent: true,
			Query: dry, Summary: "Take a stimulus out of the queue and send it again, edited or to an instance", Body: editBody{},
			Answers: tried, Problems: noItem, Serve: sendQueueItem},
		{Method: "DELETE", Path: "/queue/{id}", Name: "deleteQueueItem", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Costly: true, Summary: "Forget a stimulus of the queue",
			Answers: map[int]any{204: nil}, Problems: noItem[:1], Serve: deleteQueueItem},
		{Method: "POST", Path: "/queue/send", Name: "sendQueueItems", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Costly: true, Once: true, Target: "queue",
			Query: drySeveral, Summary: "Take the stimuli of a filter out of the queue and send them again, edited or to an instance, a page at a time", Body: sendItemsBody{},
			Answers: map[int]any{200: severalView{}}, Serve: sendQueueItems},
		{Method: "POST", Path: "/queue/delete", Name: "deleteQueueItems", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Costly: true, Target: "queue",
			Query: drySeveral, Summary: "Forget the stimuli of a filter that are in the queue, a page at a time", Body: itemsBody{},
			Answers: map[int]any{200: severalView{}}, Serve: deleteQueueItems},
		{Method: "GET", Path: "/dead-letters", Name: "listDeadLetters", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "Work that could not be done, with the reason",
			Query: append(letterParams, serve.PageParams...), Answers: map[int]any{200: shape.List[shape.DeadLetter]{}}, Serve: listDeadLetters},
		{Method: "GET", Path: "/dead-letters/{id}", Name: "getDeadLetter", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads,
			Summary: "A dead letter, with what it brought and what it would do now",
			Answers: map[int]any{200: letterView{}}, Problems: noLetter[:1], Serve: deadLetter},
		{Method: "POST", Path: "/dead-letters/{id}/replay", Name: "replayDeadLetter", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Idempotent: true,
			Query: dry, Summary: "Send a dead letter again, as it was, edited or to an instance", Body: editBody{},
			Answers: tried, Problems: noLetter, Serve: replayDeadLetter},
		{Method: "DELETE", Path: "/dead-letters/{id}", Name: "deleteDeadLetter", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Summary: "Forget a dead letter",
			Answers: map[int]any{204: nil}, Problems: noLetter[:1], Serve: deleteDeadLetter},
		{Method: "POST", Path: "/dead-letters/replay", Name: "replayDeadLetters", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Once: true, Target: "dead letters",
			Query: drySeveral, Summary: "Send the dead letters of a filter again, as they were, edited or to an instance, a page at a time", Body: replayLettersBody{},
			Answers: map[int]any{200: severalView{}}, Serve: replayDeadLetters},
		{Method: "POST", Path: "/dead-letters/delete", Name: "deleteDeadLetters", Role: auth.Operator, Tag: "cluster", Kind: serve.Changes, Target: "dead letters",
			Query: drySeveral, Summary: "Forget the dead letters of a filter, a page at a time", Body: lettersBody{},
			Answers: map[int]any{200: severalView{}}, Serve: deleteDeadLetters},
	}
}

// deadReasons are why letters are dead, for filters.
var deadReasons = shape.Each(workflow.DeadReasons(), func(r workflow.DeadReason) string { return string(r) })

var letterParams = append([]serve.Param{{Name: "reason", Type: "string", Values: deadReasons}}, stimulusParams("Those that came to be before this time.")...)

func stimulusParams(before string) []serve.Param {
	return []serve.Param{
		{Name: "name", Type: "string", Doc: "Of the event."}, {Name: "activityType", Type: "string"},
		{Name: "correlationId", Type: "string"}, {Name: "instanceId", Type: "string"}, {Name: "before", Type: "string", Doc: before},
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
	Input       any           `json:"input" doc:"What it brings; null for a viewer."`
	InputHidden bool          `json:"inputHidden" doc:"The caller's role may not see it."`
	Effect      *shape.Effect `json:"effect" doc:"What it would do if it were sent now: with others, who wait for the same with another correlation. Null if it is no stimulus."`
}

type letterView struct {
	Letter  shape.DeadLetter `json:"letter"`
	Brought broughtView      `json:"brought"`
}

type queuedItemView struct {
	Item    shape.QueueItem `json:"item"`
	Brought broughtView     `json:"brought"`
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
func brought(c *serve.Call, st *workflow.Stimulus) (broughtView, error) {
	var v broughtView
	if st == nil {
		return v, nil
	}
	if v.InputHidden = c.API.OnlyLooks(c.Request); !v.InputHidden {
		v.Input = shape.Object(st.Input)
	}
	e, err := c.API.Config.Explainer.Event(c.Request.Context(), *st, peers.Of(c))
	if err != nil {
		return v, err
	}
	effect := shape.ViewEffect(e)
	v.Effect = &effect
	return v, nil
}

func queueItem(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeQueueItemNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	q, err := c.API.Config.Runtime.Letters.OneQueueItem(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	v := queuedItemView{Item: shape.ViewQueueItem(q)}
	if !q.Damaged {
		v.Brought, err = brought(c, &q.Stimulus)
	}
	return serve.Reply{Body: v}, err
}

func deadLetter(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeDeadLetterNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	d, err := c.API.Config.Runtime.Letters.OneDeadLetter(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	v := letterView{Letter: shape.ViewDeadLetter(d)}
	v.Brought, err = brought(c, d.Stimulus)
	return serve.Reply{Body: v}, err
}

// edit reads what is to be changed of one.
func edit(c *serve.Call) (repair.Edit, *runtime.Key, error) {
	var b editBody
	if err := c.Decode(&b); err != nil {
		return repair.Edit{}, nil, err
	}
	e, problems := b.edit("")
	if err := serve.InvalidFields(problems); err != nil {
		return e, nil, err
	}
	key, err := c.Key()
	return e, key, err
}

// edit is what the body says, which stands at a place of the request's.
func (b *editBody) edit(at string) (repair.Edit, workflow.Problems) {
	var problems workflow.Problems
	e := repair.Edit{CorrelationID: b.CorrelationID, InstanceID: b.InstanceID, Name: b.Name, Input: b.Input}
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

func replayDeadLetter(c *serve.Call) (serve.Reply, error) {
	l := c.API.Config.Runtime.Letters
	return sendEdited(c, workflow.CodeDeadLetterNotFound, l.TryReplay, l.ReplayDeadLetter)
}

func sendQueueItem(c *serve.Call) (serve.Reply, error) {
	l := c.API.Config.Runtime.Letters
	return sendEdited(c, workflow.CodeQueueItemNotFound, l.TrySend, l.SendQueueItem)
}

// sendEdited sends what the item in the path brings, with the edit in the body; a dry run tries it only.
func sendEdited(c *serve.Call, missing workflow.Code, try func(context.Context, string, repair.Edit) (repair.Sendable, error),
	send func(context.Context, string, repair.Edit, *runtime.Key) (runtime.SendResult, error)) (serve.Reply, error) {
	id, err := c.MadeID(missing)
	if err != nil {
		return serve.Reply{}, err
	}
	e, key, err := edit(c)
	if err != nil {
		return serve.Reply{}, err
	}
	dry, err := c.DryRun()
	if err != nil {
		return serve.Reply{}, err
	}
	if dry {
		s, err := try(c.Request.Context(), id, e)
		return would(c, s, err)
	}
	return shape.AnswerSent(send(c.Request.Context(), id, e, key))
}

func deleteDeadLetter(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeDeadLetterNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 204}, c.API.Config.Runtime.Letters.DeleteDeadLetter(c.Request.Context(), id)
}

func deleteQueueItem(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeQueueItemNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 204}, c.API.Config.Runtime.Letters.DeleteQueueItem(c.Request.Context(), id)
}

// beforeOf reads the parameter of a time.
func beforeOf(c *serve.Call) (t time.Time, err error) {
	if text := c.Query.Get("before"); text != "" {
		if t, err = time.Parse(time.RFC3339, text); err != nil {
			return t, serve.Invalid("bad-parameter", "/before", "before must be a time such as 2026-11-22T10:00:00Z")
		}
	}
	return t, nil
}

func listDeadLetters(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	f := runtime.DeadLetterFilter{
		Reason: workflow.DeadReason(c.Query.Get("reason")), Name: c.Query.Get("name"), ActivityType: c.Query.Get("activityType"),
		CorrelationID: c.Query.Get("correlationId"), InstanceID: c.Query.Get("instanceId"),
	}
	if f.Before, err = beforeOf(c); err != nil {
		return serve.Reply{}, err
	}
	page, err := c.API.Config.Runtime.Inspector.DeadLetters(c.Request.Context(), f, cursor, limit)
	return serve.Reply{Body: shape.ListOf(page, shape.ViewDeadLetter)}, err
}

func listQueue(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	f := runtime.QueueFilter{Name: c.Query.Get("name"), ActivityType: c.Query.Get("activityType"), CorrelationID: c.Query.Get("correlationId"), InstanceID: c.Query.Get("instanceId")}
	if f.Before, err = beforeOf(c); err != nil {
		return serve.Reply{}, err
	}
	page, err := c.API.Config.Runtime.Inspector.Queue(c.Request.Context(), f, cursor, limit)
	return serve.Reply{Body: shape.ListOf(page, shape.ViewQueueItem)}, err
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
		bad("unknown-reason", "/reason", fmt.Sprintf("%q is no reason%s; there are %s", serve.Shorten(b.Reason), workflow.DidYouMean(b.Reason, deadReasons), strings.Join(deadReasons, ", ")))
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
func (b *lettersBody) meant(c *serve.Call) {
	c.About("reason", b.Reason, "name", b.Name, "type", b.ActivityType, "correlation", b.CorrelationID, "instance", b.InstanceID, "after", b.Cursor)
}

func replayDeadLetters(c *serve.Call) (serve.Reply, error) {
	var b replayLettersBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	which := lettersBody{b.Reason, b.Name, b.ActivityType, b.CorrelationID, b.InstanceID, b.Before, b.All, b.Limit, b.Cursor}
	e, problems := b.Edit.edit("/edit")
	return several(c, &which, problems, func(ctx context.Context, dry bool) (repair.Several, error) {
		if dry {
			return c.API.Config.Runtime.Letters.TryReplays(ctx, which.filter(), e, b.Cursor, b.Limit, refusal(c))
		}
		return c.API.Config.Runtime.Letters.ReplayDeadLetters(ctx, which.filter(), e, b.Cursor, b.Limit)
	})
}

func deleteDeadLetters(c *serve.Call) (serve.Reply, error) {
	var b lettersBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	return several(c, &b, nil, func(ctx context.Context, dry bool) (repair.Several, error) {
		if dry {
			return c.API.Config.Runtime.Letters.TryReplays(ctx, b.filter(), repair.Edit{}, b.Cursor, b.Limit, nil)
		}
		return c.API.Config.Runtime.Letters.DeleteDeadLetters(ctx, b.filter(), b.Cursor, b.Limit)
	})
}

func sendQueueItems(c *serve.Call) (serve.Reply, error) {
	var b sendItemsBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	which := lettersBody{"", b.Name, b.ActivityType, b.CorrelationID, b.InstanceID, b.Before, b.All, b.Limit, b.Cursor}
	e, problems := b.Edit.edit("/edit")
	return several(c, &which, problems, func(ctx context.Context, dry bool) (repair.Several, error) {
		if dry {
			return c.API.Config.Runtime.Letters.TrySends(ctx, which.queueFilter(), e, b.Cursor, b.Limit, refusal(c))
		}
		return c.API.Config.Runtime.Letters.SendQueueItems(ctx, which.queueFilter(), e, b.Cursor, b.Limit)
	})
}

func deleteQueueItems(c *serve.Call) (serve.Reply, error) {
	var b itemsBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	which := lettersBody{"", b.Name, b.ActivityType, b.CorrelationID, b.InstanceID, b.Before, b.All, b.Limit, b.Cursor}
	return several(c, &which, nil, func(ctx context.Context, dry bool) (repair.Several, error) {
		if dry {
			return c.API.Config.Runtime.Letters.TrySends(ctx, which.queueFilter(), repair.Edit{}, b.Cursor, b.Limit, nil)
		}
		return c.API.Config.Runtime.Letters.DeleteQueueItems(ctx, which.queueFilter(), b.Cursor, b.Limit)
	})
}

// several does something with each of a page that a filter takes, if nothing is wrong with
// what was asked.
func several(c *serve.Call, which *lettersBody, problems workflow.Problems, do func(ctx context.Context, dry bool) (repair.Several, error)) (serve.Reply, error) {
	which.meant(c)
	dry, err := c.DryRun()
	if err != nil {
		return serve.Reply{}, err
	}
	if err := serve.InvalidFields(slices.Concat(c.EmptyFilters("reason", "name", "activityType", "correlationId", "instanceId"), which.check(), problems)); err != nil {
		return serve.Reply{}, err
	}
	res, err := do(c.Request.Context(), dry)
	if err != nil {
		return serve.Reply{}, err
	}
	refused := shape.Each(res.Refused, func(r repair.Refusal) severalRefused { return severalRefused(r) })
	return serve.Reply{Body: severalView{Done: res.Done, Refused: refused, NextCursor: shape.Some(res.Next)}}, nil
}

// would tells what something would do if it were sent now. A command would be in its instance's mailbox again.
func would(c *serve.Call, s repair.Sendable, err error) (serve.Reply, error) {
	if err != nil {
		return serve.Reply{}, err
	}
	if s.Stimulus == nil {
		return serve.Reply{Body: shape.Effect{Resumes: []shape.Place{{InstanceID: s.Instance}}, Resumed: 1, Starts: []shape.Trigger{}, Others: []shape.Place{}, Recent: []shape.SentEvent{}}}, nil
	}
	e, err := c.API.Config.Explainer.Event(c.Request.Context(), *s.Stimulus, peers.Of(c))
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: shape.ViewEffect(e)}, nil
}

// refusal says why something would be refused if it were sent now. What nothing waits for is not refused: it
// would wait in the queue.
func refusal(c *serve.Call) func(context.Context, repair.Sendable) error {
	return func(ctx context.Context, s repair.Sendable) error {
		if s.Stimulus == nil {
			return nil
		}
		e, err := c.API.Config.Explainer.Event(ctx, *s.Stimulus, peers.Of(c))
		if err == nil && e.Refused != nil {
			err = e.Refused
		}
		return err
	}
}
