package api

import (
	"context"

	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// mostMarked is how many commits, the newest, are read for what an instance did with its activities.
const mostMarked = 5_000

// marksOf says what an instance did with each activity of its definition, as the newest
// 5,000 commits of its journal tell it.
func marksOf(ctx context.Context, i *inspect.Inspector, in *workflow.Instance) (map[string]graph.Mark, error) {
	did := executions{}
	q := inspect.JournalQuery{Back: true, Limit: 500}
	for read := 0; read < mostMarked; read += q.Limit {
		page, err := i.JournalPart(ctx, in.ID, q)
		if err != nil {
			return nil, err
		}
		for e := range page.Entries {
			for k := range page.Entries[e].Items {
				did.add(&page.Entries[e].Items[k])
			}
		}
		if page.Older == "" {
			break
		}
		q.Cursor = page.Older
	}
	return did.marks(in), nil
}

// execution is what became of one run of an activity.
type execution struct {
	number, last int64 // its own, and that of the last item about it
	mark         graph.Mark
}

// executions are the runs of each activity, by its id.
type executions map[string]map[int64]*execution

var statuses = map[string]graph.Status{
	engine.EventStarted: graph.Running, engine.EventResumed: graph.Running, engine.EventSuspended: graph.Waiting,
	engine.EventCompleted: graph.Done, engine.EventFaulted: graph.Faulted, engine.EventCanceled: graph.Cancelled,
}

// add takes in an item, in any order.
func (x executions) add(it *workflow.JournalItem) {
	if it.Event == workflow.EventUndone && (it.ActivityType == workflow.ScopeType || it.ActivityType == workflow.CompensateType) {
		data, _ := it.Data.(map[string]any)
		activity, _ := data["activity"].(string)
		number, _ := data["execution"].(int64)
		x.note(activity, number, it.Sequence, graph.Mark{Status: graph.Undone, Since: it.Time})
		return
	}
	status, known := statuses[it.Event]
	if !known || it.ActivityID == "" {
		return
	}
	x.note(it.ActivityID, it.Execution, it.Sequence, graph.Mark{Status: status, Since: it.Time, Outcomes: outcomes(it)})
}

// note takes what an item says of a run.
func (x executions) note(activity string, number, sequence int64, mark graph.Mark) {
	runs := x[activity]
	if runs == nil {
		runs = map[int64]*execution{}
		x[activity] = runs
	}
	run := runs[number]
	if run == nil {
		run = &execution{number: number}
		runs[number] = run
	}
	if sequence > run.last {
		run.last, run.mark = sequence, mark
	}
}

// outcomes are those that a completed activity ended with.
func outcomes(it *workflow.JournalItem) []string {
	if it.Event != engine.EventCompleted {
		return nil
	}
	data, _ := it.Data.(map[string]any)
	list, ok := data["outcomes"].([]any)
	if !ok {
		return []string{engine.DoneOutcome}
	}
	var out []string
	for _, o := range list {
		if text, ok := o.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// marks are those of the last run of each activity; one that still runs or waits goes
// before one that has ended, as several may run at once.
func (x executions) marks(in *workflow.Instance) map[string]graph.Mark {
	out := make(map[string]graph.Mark, len(x))
	for id, runs := range x {
		var shown *execution
		for _, run := range runs {
			if in.Status == workflow.StatusFinished && in.SubStatus != workflow.Faulted && run.open() {
				run.mark.Status = graph.Cancelled // it ended with the instance
			}
			if shown == nil || run.open() && !shown.open() || run.open() == shown.open() && run.number > shown.number {
				shown = run
			}
		}
		shown.mark.Count = len(runs)
		out[id] = shown.mark
	}
	return out
}

func (e *execution) open() bool {
	return e.mark.Status == graph.Running || e.mark.Status == graph.Waiting
}
