package elsastate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Record is what an instance did in Elsa, as its exported logs tell it.
type Record struct {
	SubStatus workflow.SubStatus
	Output    map[string]any
	Incidents int
	Lines     []Line         // of WriteLine, in order
	Completed map[string]int // how often each activity completed, by its id within its definition
}

// Line is a text that was written.
type Line struct {
	Activity string
	Text     string
	Kept     bool   // Elsa kept the text; log persistence may leave it out
	At       string // in the file, as a JSON pointer
}

// ReadRecord reads an exported instance with its logs: WorkflowExecutionLogRecords, or ActivityExecutionRecords, or both.
func ReadRecord(src []byte) (*Record, error) {
	in, err := Read(src)
	if err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	_ = json.Unmarshal(bytes.TrimPrefix(src, []byte("\ufeff")), &top) // it was read already
	logs, err := records(top, "WorkflowExecutionLogRecords")
	if err != nil {
		return nil, err
	}
	ran, err := records(top, "ActivityExecutionRecords")
	if err != nil {
		return nil, err
	}
	r := &Record{SubStatus: workflow.SubStatus(in.SubStatus), Incidents: len(list(in.state, "incidents")), Completed: map[string]int{}}
	out, err := engine.Normalize(object(in.state, "output"))
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	r.Output, _ = out.(map[string]any)
	inputs := map[string]any{} // by the execution
	for _, e := range ran {
		inputs[text(e.raw, "id")] = get(e.raw, "activityState")
	}
	switch {
	case len(logs) > 0:
		slices.SortStableFunc(logs, func(a, b entry) int { return cmp.Compare(a.order, b.order) })
		for _, e := range logs {
			id := text(e.raw, "activityInstanceId")
			if state := get(e.raw, "activityState"); state != nil && inputs[id] == nil {
				inputs[id] = state
			}
		}
		for _, e := range logs {
			if strings.EqualFold(text(e.raw, "eventName"), "Completed") {
				r.completed(e, inputs[text(e.raw, "activityInstanceId")])
			}
		}
	case len(ran) > 0:
		slices.SortStableFunc(ran, func(a, b entry) int { return strings.Compare(a.since, b.since) })
		for _, e := range ran {
			if strings.EqualFold(named(get(e.raw, "status"), "Pending", "Running", "Completed", "Canceled", "Faulted"), "Completed") {
				r.completed(e, get(e.raw, "activityState"))
			}
		}
	default:
		return nil, errors.New("it has no log to compare with: export the instance with its execution log (includeWorkflowExecutionLog, includeActivityExecutionLog)")
	}
	return r, nil
}

// entry is a record of a log.
type entry struct {
	raw   any
	at    string
	order int64
	since string // when it began, in UTC
}

// records are those of one log.
func records(top map[string]json.RawMessage, name string) ([]entry, error) {
	part := top[name]
	if part == nil {
		part = top[workflow.LowerFirst(name)]
	}
	if len(part) == 0 || string(part) == "null" {
		return nil, nil
	}
	all, err := plain(part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l, ok := all.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is no list", name)
	}
	out := make([]entry, len(l))
	for i, raw := range l {
		n, _ := number(raw, "sequence")
		since, _ := moment(raw, "startedAt")
		out[i] = entry{raw, fmt.Sprintf("/%s/%d", name, i), n, since.Format("2006-01-02T15:04:05.000000000")}
	}
	return out, nil
}

func (r *Record) completed(e entry, inputs any) {
	kind, id := text(e.raw, "activityType"), text(e.raw, "activityId")
	if kind == "Elsa.Workflow" {
		return
	}
	r.Completed[id]++
	if kind == "Elsa.WriteLine" {
		v := get(inputs, "text")
		_, kept := inputs.(map[string]any)
		if n, err := engine.Normalize(v); err == nil {
			v = n
		}
		r.Lines = append(r.Lines, Line{Activity: id, Text: engine.Text(v), Kept: kept && v != nil, At: e.at})
	}
}
