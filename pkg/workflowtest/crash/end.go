package crash

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// end is how a run stands: what the outside can see of it, and what is saved.
type end struct {
	status string            // of the instance under test
	seen   map[string]string // the rest, by the names of test files; texts, so that they may be compared
}

// endOf is how the run stands now.
func endOf(r *trial.Run) end {
	in := r.Instance()
	e := end{status: string(in.SubStatus), seen: map[string]string{}}
	put := func(name string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			raw = fmt.Appendf(nil, "%v", v)
		}
		e.seen[name] = string(raw)
	}
	incidents, waits, events, children := []string{}, []string{}, []string{}, []string{}
	for _, i := range in.Incidents {
		incidents = append(incidents, i.ActivityID+": "+i.Message)
	}
	for _, b := range in.Bookmarks {
		waits = append(waits, b.ActivityID)
	}
	slices.Sort(waits)
	for _, st := range r.Published() {
		events = append(events, fmt.Sprint(eventName(st), " ", st.CorrelationID, " ", compare.Show(st.Input)))
	}
	for _, c := range r.MockedChildren() {
		children = append(children, c.DefinitionID+" "+compare.Show(c.Input))
	}
	for _, c := range r.Children() {
		children = append(children, fmt.Sprint(c.DefinitionID, " ", c.SubStatus, " ", compare.Show(c.Output)))
	}
	put("incidents", incidents)
	put("waits", waits)
	put("events", events)
	put("children", children)
	put("output", in.Output)
	put("lines", r.Lines())
	put("correlationId", in.CorrelationID)
	put("name", in.Name)
	put("response", r.Response())
	return e
}

func eventName(st workflow.Stimulus) any {
	p, _ := st.Payload.(map[string]any)
	return p["eventName"]
}
