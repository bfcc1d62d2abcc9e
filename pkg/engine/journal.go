package engine

import (
	"cmp"
	"encoding/json"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// The events of the journal.
const (
	EventStarted   = "Started"
	EventCompleted = "Completed"
	EventSuspended = "Suspended"
	EventResumed   = "Resumed"
	EventFaulted   = "Faulted"
	EventCanceled  = "Canceled"
	// EventInterrupted is of a call that was ended as the instance is to be cancelled.
	EventInterrupted = "Interrupted"
	EventWriteLine   = "WriteLine"
)

const (
	hiddenText     = "(hidden)"
	maxJournalText = 4096
	maxJournalData = 2048
	// maxCommitBytes is how much one commit should carry of the journal and of what
	// goes to others, about.
	maxCommitBytes = 384 << 10
)

// journal adds a line about x. The workflow itself has none.
func (b *Burst) journal(x *Execution, event, text string, data any) {
	if x.node.parent == nil {
		return
	}
	if b.items == nil {
		b.items = make([]workflow.JournalItem, 0, 16)
	}
	b.items = append(b.items, b.item(x, event, text, data))
}

func (b *Burst) item(x *Execution, event, text string, data any) workflow.JournalItem {
	n := x.node
	b.seq++
	if n.parent != nil {
		x.number = cmp.Or(x.number, b.seq)
	}
	text, data = b.env.hideText(text), b.env.hide(data)
	line := 160 + len(n.id)
	if len(b.marks) > b.limits.Wide { // each commit encodes all of the instance: fewer, with more in each
		line /= 4
	}
	b.weight += line + len(text)
	if data != nil {
		b.weight += Weigh(data)
	}
	var parent int64
	if x.parent != nil {
		parent = x.parent.number
	}
	b.doing.last = b.env.Now()
	return workflow.JournalItem{
		Sequence: b.seq, Time: b.doing.last, Burst: b.cmd.ID,
		Execution: x.number, Parent: parent, ActivityID: n.id, ActivityType: n.desc.Type,
		Event: event, Text: workflow.CutBytes(text, maxJournalText), Data: data,
	}
}

// journalStarted records the inputs that may be seen.
func (b *Burst) journalStarted(x *Execution) {
	if x.node.parent == nil {
		return
	}
	data := x.node.logs.started
	if data == nil && x.node.logs.inputs {
		data, _ = x.node.shownInputs(b.env.hide, func(i int) any {
			if x.masked != nil && x.masked[i] {
				return hiddenText
			}
			if x.values != nil {
				return x.values[i]
			}
			return nil
		})
	}
	b.journal(x, EventStarted, "", data)
}

// shownInputs lays out the inputs that the journal may show; nil if there are
// none. dynamic gives the values of those that are not constant, and hide what may be kept of
// a value that is cut, which cut says of any.
func (n *Node) shownInputs(hide func(any) any, dynamic func(i int) any) (shown any, cut bool) {
	var inputs map[string]any
	for i := range n.inputs {
		in := &n.inputs[i]
		if !in.given || in.desc.Raw || in.hidden || in.desc.Type == goType {
			continue
		}
		v := in.value
		if !in.constant {
			v = dynamic(i)
		}
		if v == nil {
			continue
		}
		if inputs == nil {
			inputs = make(map[string]any, len(n.inputs))
		}
		kept, short := clip(v, hide)
		inputs[in.desc.Name], cut = kept, cut || short
	}
	if inputs == nil {
		return nil, cut
	}
	return map[string]any{"inputs": inputs}, cut
}

// journalCompleted records outcomes and the outputs that may be seen.
func (b *Burst) journalCompleted(x *Execution, outcomes []string) {
	if x.node.parent == nil {
		return
	}
	var data map[string]any
	if len(outcomes) != 1 || outcomes[0] != DoneOutcome {
		list := make([]any, len(outcomes))
		for i, o := range outcomes {
			list[i] = o
		}
		data = map[string]any{"outcomes": list}
	}
	if x.node.logs.outputs && len(x.results) > 0 && !x.secretUsed() {
		outs := make(map[string]any, len(x.results))
		for k, v := range x.results {
			if !x.node.logs.hiddenOutputs[k] {
				outs[k], _ = clip(v, b.env.hide)
			}
		}
		if data == nil {
			data = map[string]any{}
		}
		data["outputs"] = outs
	}
	if data == nil {
		b.journal(x, EventCompleted, "", nil)
		return
	}
	b.journal(x, EventCompleted, "", data)
}

func (b *Burst) journalFaulted(x *Execution, err error) {
	b.journal(x, EventFaulted, err.Error(), nil)
}

// hide gives a value without those of secrets and without resume links.
func (e *Env) hide(v any) any {
	v, _ = e.Secrets.RedactValue(v)
	return resumelink.HideIn(v)
}

// hideText is hide for a text.
func (e *Env) hideText(text string) string { return resumelink.Hide(e.Secrets.Redact(text)) }

// clip keeps values of the journal small: a large one becomes the beginning of
// its text, which cut says. Then what hide hides goes before: half of a secret is not found
// any more.
func clip(v any, hide func(any) any) (kept any, cut bool) {
	switch v := v.(type) {
	case nil, bool, int64, float64, json.Number:
		return v, false
	case string:
		if len(v) <= maxJournalData {
			return v, false
		}
		return workflow.CutBytes(Text(hide(v)), maxJournalData), true
	}
	if n, err := normalize(v, 0); err == nil {
		v = n
	}
	if budget := maxJournalData; weigh(v, &budget) {
		return v, false
	}
	return workflow.CutBytes(Text(hide(v)), maxJournalData), true
}

// Heavy reports whether the burst has as much for its commit, without the state, as
// a commit should carry: it should take no further command.
func (b *Burst) Heavy() bool { return b.weight > maxCommitBytes }

// Weigh tells about how many bytes a value takes in a commit. It stops at more
// than one commit should carry.
func Weigh(v any) int {
	left := maxCommitBytes
	weigh(v, &left)
	return maxCommitBytes - left
}

// weigh reports whether v is smaller than the budget.
func weigh(v any, budget *int) bool {
	switch v := v.(type) {
	case string:
		*budget -= len(v) + 2
	case json.Number:
		*budget -= len(v)
	case map[string]any:
		for k, e := range v {
			*budget -= len(k) + 4
			if *budget < 0 || !weigh(e, budget) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			*budget -= 2
			if *budget < 0 || !weigh(e, budget) {
				return false
			}
		}
	default:
		*budget -= 8
	}
	return *budget >= 0
}
