package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// stepKinds are the keys of which a step has exactly one.
var stepKinds = []string{"advance", "cancel", "child", "event", "expect", "resume", "retry", "start", "task", "trigger"}

// stepFields is everything that a step may say.
type stepFields struct {
	kind          string
	name          string
	advance       time.Duration
	payload       any
	input, output map[string]any
	data          map[string]any // of a user task
	result        any
	failure       string
	failed        bool
	outcome, by   string // of a user task
	correlation   string
	early         bool
	status        workflow.SubStatus
	given         []string // the keys beside the kind
	at            bool     // it says when it happens
}

// beside are the keys that a kind of step takes.
var beside = map[string][]string{
	"event":   {"payload", "correlationId", "early"},
	"task":    {"result", "error", "outcome", "data", "by"},
	"resume":  {"input"},
	"trigger": {"input"},
	"child":   {"status", "output"},
}

func (r *fileReader) step(n *yaml.Node) step {
	s := step{line: n.Line}
	var f stepFields
	kind := func(key, v *yaml.Node) {
		if f.kind != "" {
			r.problem(key, "a step does one thing, and this one has %s and %s; make two of it", f.kind, key.Value)
		}
		f.kind = key.Value
		switch f.kind {
		case "advance":
			f.advance = r.duration(v, "advance")
		case "expect":
			s.expect = r.expectation(key, v)
		case "cancel", "retry", "start":
			if !isNull(v) && v.Value != "true" {
				r.problem(v, "%s stands alone, as in - %s:", f.kind, f.kind)
			}
		default:
			f.name = r.text(v, f.kind)
		}
	}
	known := reading{}
	for _, k := range stepKinds {
		known[k] = kind
	}
	field := func(key string, read func(v *yaml.Node)) {
		known[key] = func(_, v *yaml.Node) { f.given = append(f.given, key); read(v) }
	}
	field("payload", func(v *yaml.Node) { f.payload = r.value(v) })
	field("input", func(v *yaml.Node) { f.input = r.object(v, "input") })
	field("output", func(v *yaml.Node) { f.output = r.object(v, "output") })
	field("result", func(v *yaml.Node) { f.result = r.value(v) })
	field("outcome", func(v *yaml.Node) { f.outcome = r.text(v, "outcome") })
	field("data", func(v *yaml.Node) { f.data = r.object(v, "data") })
	field("by", func(v *yaml.Node) { f.by = r.text(v, "by") })
	field("error", func(v *yaml.Node) { f.failure, f.failed = r.text(v, "error"), true })
	field("correlationId", func(v *yaml.Node) { f.correlation = r.text(v, "correlationId") })
	field("early", func(v *yaml.Node) { f.early = r.flag(v, "early") })
	known["at"] = func(_, v *yaml.Node) { s.at, f.at = r.time(v), true }
	field("status", func(v *yaml.Node) { f.status = r.status(v, ends) })
	bare := n.Kind == yaml.ScalarNode && slices.Contains([]string{"cancel", "retry", "start"}, n.Value)
	if bare {
		f.kind = n.Value
	} else {
		r.fields(n, "a step", known)
	}
	if f.kind == "" && !f.at {
		r.problem(n, "a step has one of the keys %s", strings.Join(stepKinds, ", "))
	}
	for _, g := range f.given {
		if f.kind != "" && !slices.Contains(beside[f.kind], g) {
			r.problem(n, "the step %s takes no %s", f.kind, g)
		}
	}
	s.do = f.do
	return s
}

// until moves the clock to the time at which a step happens.
func (s *step) until(run *trial.Run) error {
	if s.at.IsZero() {
		return nil
	}
	d := s.at.Sub(run.Now())
	if d < 0 {
		return fmt.Errorf("it happens at %s, and the clock shows %s by then", s.at.Format(time.RFC3339Nano), run.Now().Format(time.RFC3339Nano))
	}
	return run.Advance(d)
}

func (f *stepFields) do(run *trial.Run) error {
	switch f.kind {
	case "": // only the time passes
		return nil
	case "start":
		return run.Start()
	case "event":
		st := workflow.EventStimulus(f.name, f.payload)
		st.CorrelationID = f.correlation
		if f.early {
			return run.SendEarly(st)
		}
		return run.Send(st)
	case "task":
		if f.failed {
			return run.FailTask(f.name, f.failure)
		}
		if f.outcome != "" {
			return run.CompleteTask(f.name, trial.Decision{By: cmp.Or(f.by, "key:somebody"), Outcome: f.outcome, Data: f.data})
		}
		return run.CompleteTask(f.name, f.result)
	case "advance":
		return run.Advance(f.advance)
	case "resume":
		return run.Resume(f.name, f.input)
	case "trigger":
		return run.Trigger(f.name, f.input)
	case "child":
		return run.EndChild(f.name, f.status, f.output)
	case "retry":
		return run.Retry()
	case "cancel":
		return run.Cancel()
	}
	return fmt.Errorf("there is no step %s", f.kind)
}
