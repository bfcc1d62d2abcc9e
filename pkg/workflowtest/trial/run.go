package trial

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/cron"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// Run is one test of one definition: the instance under test, the children that
// it starts, and the clock. Its methods run everything there is to run before
// they return. Make it with [New].
type Run struct {
	cfg      Config
	stage    *stage
	registry *engine.Registry
	mainID   string
	main     *engine.Program
	defs     map[string]*workflow.Definition
	sources  map[string][]byte // of those that were read from files
	programs map[string]*engine.Program
	warnings workflow.Problems // of the definitions

	now       time.Time
	instances []*instance // the one under test first
	children  []*mocked
	todo      []func() error // what commits sent on
	queue     []queued
	commands  int
	secrets   *secrets.Set
	nodes     *nodes // nil: they do not fail

	lines     []string
	published []workflow.Stimulus
	response  *workflow.Response
	files     map[files.Ref][]byte // of all instances, by instance and hash
}

// instance is one instance as a store would have it.
type instance struct {
	id      string
	prog    *engine.Program
	header  workflow.Instance
	state   []byte
	journal []workflow.JournalItem

	variables   map[string]any // of the workflow, as commits told them
	headerBytes int            // of the header as JSON, in a test that was sent
}

// Limits of one call, so that a workflow without an end ends the test.
const (
	maxRounds  = 10_000 // commands
	maxCommits = 10_000 // of one command

	maxActivities = 100_000 // that one command runs without a wait; a node would go on
)

func (r *Run) env(instance string) engine.Env {
	env := engine.Env{
		Now:     func() time.Time { return r.now },
		Lines:   r.line,
		Head:    r.head,
		Secrets: r.secrets,
		Files:   kept{r, instance},
		Until:   r.stage.until,
		Link: func(l resumelink.Link) (string, error) {
			return "https://weft.test/links/" + l.Bookmark + "?outcome=" + url.QueryEscape(l.Outcome), nil
		},
	}
	if r.cfg.HTTP != nil {
		env.HTTP = &http.Client{Transport: r.cfg.HTTP}
	}
	r.nodes.world(&env)
	return env
}

// line keeps what WriteLine wrote. The journal has it too, and that is counted here: a burst
// keeps it from now on.
func (r *Run) line(text string) {
	if r.nodes.silent() {
		return
	}
	line := r.cfg.bounds.line(text)
	if r.cfg.bounds.keep(len(line)+len(text)) == nil {
		r.lines = append(r.lines, line)
	}
}

// head is the published version of a definition that may be started.
func (r *Run) head(id string) (int, bool) {
	if def := r.defs[id]; def != nil {
		return max(def.Version, 1), true
	}
	_, ok := r.cfg.Children[id]
	return 1, ok
}

// Start starts the instance under test.
func (r *Run) Start() error {
	return r.begin(&workflow.Start{Input: r.cfg.Input})
}

// Trigger starts the instance under test at an activity that is a trigger, by
// its id, as if its stimulus had come with this input: for an event
// {"payload": …}, for an HTTP endpoint {"method", "path", "routeData", "query",
// "headers", "parsedBody", "files", …}, of which files are {"fileName", "contentType", "content"} with the content as text; a timer brings none. As on a node the instance gets
// nothing of [Config.Input]: a trigger has none to give, and an input that is
// required faults it.
func (r *Run) Trigger(activityID string, input map[string]any) error {
	var has []string
	for _, t := range r.main.Triggers() {
		if t.ActivityID == activityID {
			input, err := kept{r, r.cfg.InstanceID}.take(input)
			if err != nil {
				return err
			}
			return r.begin(&workflow.Start{Trigger: activityID, TriggerInput: input})
		}
		has = append(has, t.ActivityID)
	}
	return fmt.Errorf("activity %s is no trigger of %s; triggers are: %s", activityID, r.mainID, listOr(has, "none"))
}

func (r *Run) begin(start *workflow.Start) error {
	if r.started() {
		return fmt.Errorf("the instance was started before")
	}
	start.DefinitionID, start.Properties = r.mainID, r.cfg.Properties
	start.Name = r.cfg.Name
	if start.CorrelationID == "" {
		start.CorrelationID = r.cfg.CorrelationID
	}
	if problems := r.main.CheckInput(start.Input); start.Trigger == "" && len(problems) > 0 {
		return fmt.Errorf("the input is not what the definition takes: %w", problems)
	}
	if err := r.create(r.cfg.InstanceID, r.main, start); err != nil {
		return err
	}
	return r.drain()
}

func (r *Run) started() bool { return len(r.instances) > 0 }

// create makes an instance and runs its first burst.
func (r *Run) create(id string, p *engine.Program, start *workflow.Start) error {
	burst, err := engine.New(p, id, start, r.now, r.env(id))
	if err != nil {
		return err
	}
	in := &instance{id: id, prog: p}
	r.instances = append(r.instances, in)
	if err := r.keep(in, burst); err != nil {
		return err
	}
	_, err = r.do(in, workflow.Command{Kind: workflow.CommandStart, Start: start})
	return err
}

// do runs one command of an instance to its end.
func (r *Run) do(in *instance, cmd workflow.Command) (engine.Outcome, error) {
	if r.commands++; cmd.ID == "" {
		cmd.ID = fmt.Sprintf("%s-%d", cmd.Kind, r.commands)
	}
	cmd.CreatedAt = r.now
	return r.obey(in, cmd, false)
}

// obey runs a command from what is saved of its instance. again: a node that is gone had begun it.
func (r *Run) obey(in *instance, cmd workflow.Command, again bool) (engine.Outcome, error) {
	for range maxCommits {
		if err := r.cfg.bounds.Check(r); err != nil {
			return "", err
		}
		n := r.nodes.begin(in, cmd, again)
		burst, err := r.load(in)
		if err != nil {
			return "", err
		}
		out, err := burst.Run(pace.WithoutPauses(r.cfg.bounds.context()), cmd)
		if r.nodes.end(n) {
			if n.gone == Pause {
				return n.out, n.err
			}
			again = true
			continue
		}
		again = false
		if err != nil {
			return "", fmt.Errorf("run instance %s: %w", in.id, err)
		}
		if err := r.keep(in, burst); err != nil {
			return out, err
		}
		for _, id := range n.retries() {
			r.todo = append(r.todo, func() error {
				// It is none of those that are counted: the commands behind it keep their ids, and so the calls their keys.
				_, err := r.obey(in, workflow.Command{ID: "retry-" + id, Kind: workflow.CommandResume, Bookmark: id, Timer: true, CreatedAt: r.now}, false)
				return err
			})
		}
		if out != engine.CommitFirst {
			return out, nil
		}
		if ran, _, _ := engine.GivesWay(burst); ran >= maxActivities {
			return "", fmt.Errorf("instance %s has run %d activities without a wait; a test ends there, and a node would go on: has a loop no end?", in.id, ran)
		}
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
	return "", fmt.Errorf("instance %s commits without an end", in.id)
}

// load takes up an instance from what a store would have.
func (r *Run) load(in *instance) (*engine.Burst, error) {
	raw, err := json.Marshal(in.header)
	if err != nil {
		return nil, fmt.Errorf("encode instance %s: %w", in.id, err)
	}
	var h workflow.Instance
	if err := workflow.Unmarshal(raw, &h); err != nil {
		return nil, fmt.Errorf("decode instance %s: %w", in.id, err)
	}
	return engine.Load(in.prog, h, in.state, r.env(in.id))
}

// keep commits what a burst gave.
func (r *Run) keep(in *instance, burst *engine.Burst) error {
	res, err := burst.Result()
	if err != nil {
		return err
	}
	if r.cfg.bounds != nil {
		raw, err := json.Marshal(res.Instance)
		if err != nil {
			return fmt.Errorf("encode instance %s: %w", in.id, err)
		}
		in.headerBytes = len(raw)
		if err := r.cfg.bounds.keep(keeps(&res)); err != nil {
			return err
		}
	}
	ended := res.Instance.Status == workflow.StatusFinished && in.header.Status == workflow.StatusRunning
	in.header, in.state = res.Instance, res.State
	in.journal = append(in.journal, res.Journal...)
	for _, c := range res.Variables.Set {
		if c.Execution != 0 || c.Hidden {
			continue
		}
		if in.variables == nil {
			in.variables = map[string]any{}
		}
		in.variables[c.Name] = c.Value
	}
	if res.Response != nil {
		r.response = res.Response
	}
	for _, c := range res.Children {
		r.todo = append(r.todo, func() error { return r.startChild(c) })
	}
	for _, id := range res.Cancel {
		r.todo = append(r.todo, func() error { return r.cancelChild(id) })
	}
	for _, e := range res.Events {
		r.published = append(r.published, e.Stimulus)
		r.todo = append(r.todo, func() error { return r.route(e.Stimulus) })
	}
	if p := in.header.Parent; ended && p != nil && p.BookmarkID != "" {
		r.todo = append(r.todo, func() error { return r.childEnd(in.id, p, in.header.SubStatus, in.header.Output) })
	}
	return nil
}

// drain works off what commits sent on, until nothing is left.
func (r *Run) drain() error {
	for range maxRounds {
		if len(r.todo) == 0 {
			claimed, err := r.claim()
			if err != nil || !claimed {
				return err
			}
			continue
		}
		next := r.todo[0]
		r.todo = r.todo[1:]
		if err := next(); err != nil {
			return err
		}
	}
	return fmt.Errorf("instances send each other events or children without an end")
}

// Now is the time of the test's clock.
func (r *Run) Now() time.Time { return r.now }

// Advance moves the clock. Timers that come due fire in the order of their
// times, each at its own time, also those that begin on the way. If the instance is not
// started, the first timer or cron expression that is a trigger starts it.
func (r *Run) Advance(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("the clock cannot go back by %v", -d)
	}
	until := r.now.Add(d)
	if !workflow.KeepsTime(until) {
		return fmt.Errorf("the clock would show the year %d; a node keeps times up to the year %d", until.Year(), workflow.LastYear)
	}
	for range maxRounds {
		if id, at, ok := r.nextTrigger(); ok && !r.started() && !at.After(until) {
			r.now = at
			if err := r.Trigger(id, nil); err != nil {
				return err
			}
			continue
		}
		in, bm, due := r.nextTimer()
		if bm == nil || due.After(until) {
			r.now = until
			return r.drain()
		}
		if due.After(r.now) {
			r.now = due
		}
		cmd := workflow.Command{Kind: workflow.CommandResume, Bookmark: bm.ID, Timer: true}
		if bm.DueAt == nil {
			cmd.Input = task.Unclaimed(bm)
		}
		if _, err := r.do(in, cmd); err != nil {
			return err
		}
		if err := r.drain(); err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d timers fire within %v", maxRounds, d)
}

// nextTrigger is the first of the definition's timers and cron expressions that comes due,
// as if it had been published when the test began.
func (r *Run) nextTrigger() (id string, first time.Time, ok bool) {
	for _, t := range r.main.Triggers() {
		at, more := r.due(t)
		if more && (!ok || at.Before(first)) {
			id, first, ok = t.ActivityID, at, true
		}
	}
	return id, first, ok
}

// due is when a trigger that is a time comes next; false if it is none, or is over.
func (r *Run) due(t engine.Trigger) (time.Time, bool) {
	switch {
	case t.Cron != "":
		s, err := cron.Parse(t.Cron)
		if err != nil {
			return time.Time{}, false
		}
		return s.Next(r.now)
	case t.Every > 0:
		past := r.now.Sub(r.cfg.Now)
		return r.cfg.Now.UTC().Add(past - past%t.Every + t.Every), true
	case t.At != nil:
		return t.At.UTC(), t.At.After(r.now)
	}
	return time.Time{}, false
}

// nextTimer is the first place that time resumes: a timer, or a task that is to be claimed by then, which no worker does.
func (r *Run) nextTimer() (of *instance, first *workflow.Bookmark, due time.Time) {
	for _, in := range r.instances {
		for i := range in.header.Bookmarks {
			bm := &in.header.Bookmarks[i]
			at := task.ClaimBy(bm)
			if bm.DueAt != nil {
				at = *bm.DueAt
			}
			if !at.IsZero() && (first == nil || at.Before(due)) {
				of, first, due = in, bm, at
			}
		}
	}
	return of, first, due
}

// Retry runs the instance, which is faulted, again from its faulted activity.
func (r *Run) Retry() error { return r.command(workflow.CommandRetry) }

// Cancel cancels the instance.
func (r *Run) Cancel() error { return r.command(workflow.CommandCancel) }

func (r *Run) command(kind workflow.CommandKind) error {
	if !r.started() {
		return errNotStarted
	}
	out, err := r.do(r.instances[0], workflow.Command{Kind: kind})
	if err != nil {
		return err
	}
	if out != engine.Applied {
		return fmt.Errorf("cannot %s: the instance is %s", kind, r.instances[0].header.SubStatus)
	}
	return r.drain()
}

var errNotStarted = fmt.Errorf("the instance is not started")

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(list))
	return strings.Join(slices.Compact(sorted), ", ")
}
