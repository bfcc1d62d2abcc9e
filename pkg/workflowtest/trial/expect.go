package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
)

// Expect is what a test wants to see at one moment. Zero fields are not looked
// at; an empty list that is not nil wants none.
type Expect struct {
	Status        workflow.SubStatus // of the instance under test
	CorrelationID string
	Name          string
	Lines         []string                    // all, in order
	Output        map[string]any              // those that are named
	Outcomes      map[string][]string         // among those of the last execution, by the activity's id or name; none: it did not complete
	Incidents     []string                    // a part of each message, in order
	Undone        []string                    // ids or names of activities that were undone, in order
	Waits         []string                    // the names of bookmarks, or the ids of their activities; in any order
	Calls         map[string][]map[string]any // inputs of each execution, by id, name or type; those that are named
	Events        []Published                 // what was published, in order
	Children      []Started                   // mocked children, in order
	Response      *Response
}

// Published is an expected event. Zero fields are not looked at.
type Published struct {
	Name, CorrelationID string
	Payload             any
}

// Started is an expected start of a mocked child. Inputs that are not named are
// not looked at.
type Started struct {
	DefinitionID, CorrelationID string
	Input                       map[string]any
}

// Response is the expected answer of an HTTP endpoint. Zero fields are not
// looked at.
type Response struct {
	Status      int
	ContentType string
	Body        any // a text, or a value that the body has as JSON
	Headers     map[string]string
}

// Check compares the run, as it is now, with what is expected.
func (r *Run) Check(e Expect) []compare.Mismatch {
	c := &checker{run: r, in: r.Instance()}
	if !r.started() {
		c.in.SubStatus = "not started"
	}
	c.header(e)
	if e.Lines != nil {
		want := slices.Clone(e.Lines)
		for i := range want {
			want[i] = r.cfg.bounds.line(want[i])
		}
		c.lines("lines", r.lines, want)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Output)) {
		c.field("output."+name, c.in.Output, name, e.Output[name])
	}
	c.outcomes(e.Outcomes)
	c.incidents(e.Incidents)
	c.undone(e.Undone)
	c.waits(e.Waits)
	c.calls(e.Calls)
	c.events(e.Events)
	c.children(e.Children)
	c.response(e.Response)
	return c.found
}

type checker struct {
	run   *Run
	in    workflow.Instance
	found []compare.Mismatch
}

func (c *checker) differ(field, format string, args ...any) {
	if c.run.cfg.bounds.Enough(len(c.found)) {
		return
	}
	c.found = append(c.found, compare.Mismatch{Field: field, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) header(e Expect) {
	if e.Status != "" && e.Status != c.in.SubStatus {
		detail := fmt.Sprintf("got %s, want %s", c.in.SubStatus, e.Status)
		for _, i := range c.in.Incidents {
			detail += fmt.Sprintf("\nincident at %s: %s", i.ActivityID, i.Message)
		}
		if c.in.SubStatus == workflow.Suspended || !c.run.started() {
			detail += "\nit waits for: " + c.run.waiting()
		}
		c.differ("status", "%s", detail)
	}
	if e.CorrelationID != "" && e.CorrelationID != c.in.CorrelationID {
		c.differ("correlationId", "got %q, want %q", c.in.CorrelationID, e.CorrelationID)
	}
	if e.Name != "" && e.Name != c.in.Name {
		c.differ("name", "got %q, want %q", c.in.Name, e.Name)
	}
}

func (c *checker) lines(field string, got, want []string) {
	if !slices.Equal(got, want) {
		c.differ(field, "- wanted, + got\n%s", compare.Lines(want, got))
	}
}

// field compares one value of an object.
func (c *checker) field(field string, got map[string]any, name string, want any) {
	v, ok := got[name]
	switch {
	case c.run.cfg.bounds.Enough(len(c.found)):
	case !ok:
		c.differ(field, "it has no value, want %s%s", compare.Show(want), workflow.DidYouMean(name, slices.Collect(maps.Keys(got))))
	case !compare.Equal(v, want):
		c.differ(field, "got %s, want %s", compare.Show(v), compare.Show(want))
	}
}

func (c *checker) outcomes(want map[string][]string) {
	for _, activity := range slices.Sorted(maps.Keys(want)) {
		field := "outcomes." + activity
		if c.run.activityID(activity) == "" {
			var words []string
			for _, n := range c.run.main.Nodes() {
				words = append(words, n.ID(), n.Name())
			}
			c.differ(field, "the definition has no activity of this id or name%s", workflow.DidYouMean(activity, words))
			continue
		}
		got := c.run.Outcomes(activity)
		missing := func(o string) bool { return !slices.Contains(got, o) }
		switch {
		case len(want[activity]) == 0 && got != nil:
			c.differ(field, "got %s, want that it does not complete", strings.Join(got, ", "))
		case got == nil && len(want[activity]) > 0:
			c.differ(field, "it did not complete, want %s", strings.Join(want[activity], ", "))
		case slices.ContainsFunc(want[activity], missing):
			c.differ(field, "got %s, want %s", strings.Join(got, ", "), strings.Join(want[activity], ", "))
		}
	}
}

func (c *checker) incidents(want []string) {
	if want == nil {
		return
	}
	var got []string
	for _, i := range c.in.Incidents {
		got = append(got, fmt.Sprintf("%s: %s", i.ActivityID, i.Message))
	}
	matches := len(got) == len(want)
	for i := 0; matches && i < len(got); i++ {
		matches = strings.Contains(got[i], want[i])
	}
	if !matches {
		c.differ("incidents", "- wanted, + got\n%s", compare.Lines(want, got))
	}
}

func (c *checker) undone(want []string) {
	if want == nil {
		return
	}
	got, ids := []string{}, []string{}
	for _, it := range c.run.Journal() {
		if it.Event == workflow.EventUndone && (it.ActivityType == workflow.ScopeType || it.ActivityType == workflow.CompensateType) {
			got = append(got, it.Text)
		}
	}
	for _, w := range want {
		if id := c.run.activityID(w); id != "" {
			w = id
		}
		ids = append(ids, w)
	}
	c.lines("undone", got, ids)
}

func (c *checker) waits(want []string) {
	if want == nil {
		return
	}
	left := slices.Clone(c.in.Bookmarks)
	var missing []string
	for _, w := range want {
		i := slices.IndexFunc(left, func(b workflow.Bookmark) bool { return b.Name == w || b.ActivityID == w })
		if i < 0 {
			missing = append(missing, w)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(missing) > 0 || len(left) > 0 {
		c.differ("waits", "want %s; what waits: %s", listOr(slices.Clone(want), "nothing"), c.run.waiting())
	}
}

func (c *checker) calls(want map[string][]map[string]any) {
	for _, activity := range slices.Sorted(maps.Keys(want)) {
		got := c.run.Calls(activity)
		field := "calls." + activity
		if len(got) != len(want[activity]) {
			c.differ(field, "it ran %d times, want %d", len(got), len(want[activity]))
			continue
		}
		for i, inputs := range want[activity] {
			for _, name := range slices.Sorted(maps.Keys(inputs)) {
				c.field(fmt.Sprintf("%s.%d.%s", field, i, name), got[i].Inputs, name, inputs[name])
			}
		}
	}
}

func (c *checker) events(want []Published) {
	if want == nil {
		return
	}
	var names []string
	for _, st := range c.run.published {
		names = append(names, eventName(st))
	}
	if len(want) != len(names) {
		c.differ("events", "%d were published (%s), want %d", len(names), strings.Join(names, ", "), len(want))
		return
	}
	for i, w := range want {
		field := fmt.Sprintf("events.%d", i)
		st := c.run.published[i]
		if w.Name != "" && w.Name != names[i] {
			c.differ(field+".name", "got %q, want %q", names[i], w.Name)
		}
		if w.CorrelationID != "" && w.CorrelationID != st.CorrelationID {
			c.differ(field+".correlationId", "got %q, want %q", st.CorrelationID, w.CorrelationID)
		}
		if payload := st.Input[workflow.EventInput]; w.Payload != nil && !compare.Equal(payload, w.Payload) {
			c.differ(field+".payload", "got %s, want %s", compare.Show(payload), compare.Show(w.Payload))
		}
	}
}

func eventName(st workflow.Stimulus) string {
	p, _ := st.Payload.(map[string]any)
	name, _ := p["eventName"].(string)
	return name
}
