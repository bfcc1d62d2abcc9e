package limited

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

const bodyPort = "body"

// WithLimit runs its body while it has a place of a limit.
func WithLimit() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     limit.Type,
		NoEffect: true,
		Description: "Waits for a place of a limit, runs its body while it has the place, and gives it back when the body has completed, failed or been cancelled. " +
			"In the whole cluster at most as many have a place of one key at once as the limit says. If the body fails, this activity fails: a retry waits for a place again, and runs the body from its beginning.",
		Inputs: []workflow.InputDescriptor{
			{Name: "name", Type: "String", Required: true, Description: "The limit, as weft limits set names it. Where there is none of this name, the activity waits until there is."},
			{Name: "key", Type: "String", Description: "By what the limit counts, such as a customer or a host: each key has its own places. Up to 200 bytes; none is a key like any other."},
			{Name: "amount", Type: "Int64", Description: "How many units of a limit per time, or of one in all, are reserved before the body runs; 1, if it is not given. Whole ones, from 1. Of a limit of so many at once each takes one place."},
			{Name: "used", Type: "Int64", Raw: true, Description: "How many units the body has used, known when it has completed: less than amount gives back the rest, more is taken as well, and may leave a debt. As many as amount, if it is not given or null."},
			{Name: "priority", Type: "Int64", Description: "From 0 to 9, which goes first; 5, if it is not given. Of one priority who came first goes first."},
		},
		MainPort:   bodyPort,
		Ports:      []string{bodyPort},
		AnyOutcome: true,
		Resume:     []string{},
	}, withLimit{}
}

type withLimit struct{}

// What its bookmarks, and what it tells itself, call back with.
const (
	placeGiven = "given"
	placeHeld  = "held"
	afterFault = "failed"
)

// State is how far it is.
type State struct {
	Given  bool     `json:"given,omitempty"`  // it has its place
	At     int64    `json:"at,omitempty"`     // under which time its units stand; 0: they are not counted by time
	Failed *Failure `json:"failed,omitempty"` // why the body failed, from when the place was given back on
}

// Failure is what a retry around the activity has to know of a body that failed.
type Failure struct {
	Error string `json:"error"`
	retry.Kept
}

func (withLimit) Prepare(p *engine.Preparation) {
	var line limit.Line
	name, named := p.Constant("name")
	if line.Limit, _ = name.(string); !named || line.Limit == "" {
		line.Limit = "?" // known at run time, or reported as missing
	}
	if err := line.Check(); err != nil {
		p.Problem("bad-literal", p.Place("name"), "%v", err)
	}
	key, _ := p.Constant("key")
	if line = (limit.Line{Limit: "?"}); key != nil {
		line.Key = engine.Text(key)
	}
	if err := line.Check(); err != nil {
		p.Problem("bad-literal", p.Place("key"), "%v", err)
	}
	for name, check := range map[string]func(any) error{"priority": checkPriority, "amount": checkAmount, "used": checkUsed} {
		if v, ok := p.Constant(name); ok && v != nil {
			if err := check(v); err != nil {
				p.Problem("bad-literal", p.Place(name), "%v", err)
			}
		}
	}
}

func checkAmount(v any) error {
	if n, ok := v.(int64); !ok || n < 1 || n > limit.MaxUnits {
		return fmt.Errorf("amount is %v; it is a whole number of units from 1 to %d", v, int64(limit.MaxUnits))
	}
	return nil
}

func checkUsed(v any) error {
	if n, ok := v.(int64); !ok || n < 0 || n > limit.MaxUnits {
		return fmt.Errorf("used is %v; it is a whole number of units from 0 to %d", v, int64(limit.MaxUnits))
	}
	return nil
}

func checkPriority(v any) error {
	if n, ok := v.(int64); !ok || n < 0 || n > limit.MostPriority {
		return fmt.Errorf("priority is %v; it is a whole number from 0 to %d", v, limit.MostPriority)
	}
	return nil
}

// Execute waits for a place: the commit that puts the bookmark puts it in line, or takes the place.
func (withLimit) Execute(_ context.Context, x *engine.Execution) error {
	w := limit.Wait{Line: limit.Line{Limit: x.Text("name"), Key: x.Text("key")}, Priority: limit.UsualPriority}
	if err := w.Check(); err != nil {
		return err
	}
	if v := x.Value("priority"); v != nil {
		if err := checkPriority(v); err != nil {
			return err
		}
		w.Priority = x.Int("priority")
	}
	if v := x.Value("amount"); v != nil {
		if err := checkAmount(v); err != nil {
			return err
		}
		w.Units = x.Int("amount")
	}
	_, err := x.Wait(engine.Wait{Name: w.Limit, Payload: w.Payload(), Local: true, Keep: true, Callback: placeGiven})
	return err
}

// Resume runs the body when the place is given, and fails when that has failed. That a place was given is told
// once; a second time it means nothing.
func (withLimit) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	s := engine.Scratch[State](x)
	switch {
	case r.Callback == placeGiven && !s.Given && s.Failed == nil:
		grant := limit.GrantIn(r.Input)
		if grant.Refused != "" {
			x.Unwait(func(workflow.Bookmark) bool { return true })
			return engine.BeginAgain(errors.New(grant.Refused))
		}
		s.At = grant.At
		if _, err := x.Wait(engine.Wait{Name: r.Bookmark.Name, Payload: limit.Given(r.Bookmark.ID), Local: true, Keep: true, Callback: placeHeld}); err != nil {
			x.Unwait(func(workflow.Bookmark) bool { return true }) // who does not run has no place
			return engine.BeginAgain(err)
		}
		s.Given = true
		x.Schedule(x.Node().Port(bodyPort), engine.Child{})
	case r.Callback == afterFault:
		return engine.BeginAgain(s.Failed.err())
	}
	return nil
}

func (withLimit) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	if err := settle(x); err != nil {
		return err // a repeat asks again what was used, and runs nothing of the body
	}
	x.Complete(done.Outcomes...) // with what it waited for, and the place goes with that
	return nil
}

// settle says what the body has used, where the definition does.
func settle(x *engine.Execution) error {
	if !x.Given("used") {
		return nil
	}
	v, err := x.Evaluate("used")
	if err != nil || v == nil {
		return err
	}
	if err := checkUsed(v); err != nil {
		return err
	}
	for _, b := range x.Waiting() {
		if w, ok := limit.Of(&b); ok {
			x.Journal(limit.Settled(w.Line, limit.Settlement{At: engine.Scratch[State](x).At, Units: w.Amount(), Used: v.(int64)}))
		}
	}
	return nil
}

// Signal gives the place back when the body fails, and fails then: nobody has it who does not run.
func (withLimit) Signal(_ context.Context, x *engine.Execution, sig engine.Signal) (bool, error) {
	s := engine.Scratch[State](x)
	if sig.Name != engine.SignalFault || !s.Given {
		return false, nil
	}
	s.Given, s.At, s.Failed = false, 0, failureOf(x, sig)
	x.Unwait(func(workflow.Bookmark) bool { return true })
	x.CancelChildren(func(*engine.Execution) bool { return true })
	x.Yield(afterFault, false)
	return true, nil
}

// Rewind refuses what would run a part of the body without a place.
func (withLimit) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	if !engine.Scratch[State](x).Given {
		return fmt.Errorf("%s has no place of its limit, and its body runs with one only: run %s again", x.Node().ID(), x.Node().ID())
	}
	return branch.OneBranch{}.Rewind(context.Background(), x, child)
}

func failureOf(x *engine.Execution, sig engine.Signal) *Failure {
	short := func(text string) string { return workflow.CutBytes(x.Redact(text), 1024) }
	return &Failure{short(fmt.Sprintf("%s: %v", sig.Sender.Node().ID(), sig.Err)), retry.Keep(sig.Err, short)}
}

// err is the failure as an error.
func (f *Failure) err() error {
	if f == nil {
		return errors.New("its body failed")
	}
	return f.As(f.Error)
}
